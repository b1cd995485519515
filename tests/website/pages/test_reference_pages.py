"""Topic pages: introductions that compute, works by year, one permanent address; what is new.

feeds; dead links.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache
from xml.etree import ElementTree

import pytest

from flopbook.data.library import reference, references
from flopbook.data.topics import Topic
from flopbook.export.atom import NAMESPACE
from scripts.website.pages import feeds, news
from scripts.website.pages import references as pages
from scripts.website.pages.prose import ProseError
from scripts.website.pages.sources import (
    all_topics,
    cite,
    full_reference,
    home_topic,
    newest_first,
    topic_page,
)
from tests.support.cases import every
from tests.support.samples import SOURCE, World, bib

ATOM = {"a": NAMESPACE}
TOPICS = {topic.id: topic for topic in all_topics()}


@cache
def written() -> dict[str, str]:
    """All pages of topics, written once."""
    return pages.pages()


def write_topics(world: World, *topics: str) -> None:
    world.write(
        "bibliography/topics.yaml", "topics:\n" + "".join(f"  - {{{one}}}\n" for one in topics)
    )


def test_every_reference_has_one_permanent_address_and_stands_on_each_of_its_topics() -> None:
    homes: dict[str, list[str]] = {}
    linked: dict[str, set[str]] = {}
    for name, text in written().items():
        for key in re.findall(r'<article class="fb-ref" id="([^"]*)">', text):
            homes.setdefault(key, []).append(name)
        linked[name] = set(re.findall(r'aria-label="Permanent link to ([^"]*)"', text))
    for key, source in references().items():
        assert homes[key] == [topic_page(home_topic(source))], key
        for name in source.topics:
            assert key in linked[topic_page(name)], (key, name)


def test_the_permanent_link_leads_home_from_every_page() -> None:
    source = reference("austin2025scaling")
    assert source.topics[0] == "scaling" and "roofline" in source.topics
    assert 'href="../scaling/#austin2025scaling"' in full_reference(
        source, "references/roofline.md"
    )
    home = full_reference(source, "references/scaling.md")
    assert 'href="./#austin2025scaling"' in home and "fb-bibtex" in home
    assert "fb-bibtex" not in full_reference(source, "references/roofline.md"), (
        "BibTeX stands at home only"
    )
    assert "scaling/#austin2025scaling" in cite("austin2025scaling", "handbook/roofline.md")


@every("name", TOPICS)
def test_works_come_by_year_newest_first_and_sources_after_them(name: str) -> None:
    text = written()[topic_page(name)]
    years = [int(year) for year in re.findall(r"^### (\d{4})$", text, re.MULTILINE)]
    assert years == sorted(set(years), reverse=True)
    works, _, sources = text.partition("## Sources of values\n")
    keys = [re.findall(r'Permanent link to ([\w-]+)"', part) for part in (works, sources)]
    assert all(reference(key).is_work for key in keys[0]) and not any(
        reference(key).is_work for key in keys[1]
    )
    assert len(keys[0]) + len(keys[1]) == len(pages.on_topic(TOPICS[name]))
    assert keys[0] == [source.key for source in newest_first(map(reference, keys[0]))]
    assert ("feed of this topic" in text) == bool(keys[0])


def test_a_topic_leads_up_and_down_and_to_what_computes_it(world: World) -> None:
    write_topics(
        world,
        "id: chips, title: Chips, intro: What chips do., "
        "calculators: [min-batch], chips: [acme/one], "
        f"start_here: [{SOURCE}], children: [{{id: links, title: Links, intro: Wires.}}]",
    )
    found = pages.pages()
    text = found["references/chips.md"]
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == [
        "Parts of this topic",
        "Start here",
        "Compute it",
        "Accelerators to look at",
        "Sources of values",
    ]
    for link in (
        "[Links](links.md) (0)",
        "(../calculators/min-batch.md)",
        "[Acme One](../accelerators/acme/one.md)",
    ):
        assert link in text
    assert "# Links\n\nPart of [Chips](chips.md).\n" in found["references/links.md"]
    assert "Part of" not in text
    assert "No work of this topic is recorded yet." in found["references/links.md"]


def test_an_introduction_computes_its_numbers(world: World) -> None:
    intro = (
        "It holds {{ chip('acme/one').memory() }}, {{ cite('acme2026one') }} says; "
        "$10^{12}$ and C&A, for $5 or $6."
    )
    write_topics(world, f'id: chips, title: Chips, intro: "{intro}"')
    text = pages.topic_markdown(all_topics()[0])
    assert (
        ">80 GB</a>" in text
        and "$10^{12}$" in text
        and 'href="../../accelerators/acme/one/"' in text
    )
    assert (
        'description: "It holds 80 GB, Doe and Roe 2026 says; 10^{12} and C&A, for $5 or $6."'
        in text
    )


def test_an_introduction_keeps_its_paragraphs(world: World) -> None:
    intro = "|-\n      First line,\n      - the same.\n\n      Second 6 $x$.\n"
    world.write(
        "bibliography/topics.yaml", f"topics:\n  - id: chips\n    title: Chips\n    intro: {intro}"
    )
    assert "First line, - the same.\n\nSecond 6 $x$.\n" in pages.topic_markdown(all_topics()[0])


def test_an_unknown_name_in_an_introduction_has_its_place(world: World) -> None:
    text = (
        "topics:\n  - id: chips\n    title: Chips\n    intro: >-\n"
        "      It has {{ chip('nope').memory() }}.\n"
    )
    world.write("bibliography/topics.yaml", text)
    with pytest.raises(ProseError, match=r"topics\.yaml:4:1: prose: found .*nope") as caught:
        pages.pages()
    assert caught.value.problem.file == "bibliography/topics.yaml"


def test_the_overview_counts_works_only(world: World) -> None:
    world.write(
        "bibliography/more.bib",
        bib("b2020c", type="blog", title="B") + bib("d2021e", type="paper", title="D"),
    )
    text = pages.index_page()
    assert (
        "2 works by topic" in text
        and "1 source of values" in text
        and "[Chips](chips.md) (2)" in text
    )


def test_the_overview_counts_a_work_of_several_parts_once(world: World) -> None:
    parts = (
        "children: [{id: links, title: Links, intro: I.}, {id: caches, title: Caches, intro: I.}]"
    )
    write_topics(world, f"id: chips, title: Chips, intro: I., {parts}")
    both = bib("b2020c", type="blog", keywords="links, caches") + bib(
        "d2021e", type="paper", keywords="caches"
    )
    world.write("bibliography/more.bib", both)
    text = pages.index_page()
    assert "### [Chips](chips.md) (2)\n" in text
    assert "\n[Links](links.md) (1) · [Caches](caches.md) (2)\n{: .fb-fine }\n" in text


@every("topic", TOPICS.values())
def test_every_topic_explains_itself_and_says_where_to_start(topic: Topic) -> None:
    """100 to 300 words as they are read, with numbers from the data, and three to five works."""
    words = pages.plain(pages.introduction(topic)).split()
    assert 100 <= len(words) <= 300, len(words)
    assert 3 <= len(topic.start_here) == len(set(topic.start_here)) <= 5
    assert all(reference(key).is_work for key in topic.start_here)


@pytest.mark.parametrize(
    ("row", "said", "unsaid"),
    [
        (
            {"status": "404", "archive": "https://web.archive.org/web/x"},
            'href="https://web.archive.org/web/x"',
            "dead since",
        ),
        ({"status": "410", "archive": ""}, "dead since 2026-11-21", "archived copy"),
        (
            {"status": "403", "archive": "https://web.archive.org/web/x"},
            "The work",
            "archived copy",
        ),
        (None, "The work", "archived copy"),
    ],
)
def test_a_dead_link_leads_to_its_archived_copy(
    world: World, row: dict | None, said: str, unsaid: str
) -> None:
    """The weekly check writes what fails; a page that only refuses programs is not called dead."""
    address = reference(SOURCE).link
    rows = {address: row | {"checked": "2026-11-21"}} if row else {}
    world.write("bibliography/link-status.json", json.dumps(rows))
    text = pages.topic_markdown(all_topics()[0])
    assert said in text and unsaid not in text and f'href="{address}"' in text


# What is new.


def test_works_by_month_are_told_newest_first() -> None:
    text = written()[news.PAGE]
    months = re.findall(r"^## (.*\d{4})$", text, re.MULTILINE)
    assert len(months) == len(set(months)) and months
    keys = re.findall(r'href="[^"#]*#([\w-]+)"', text.partition("## Added last")[0])
    assert (
        keys
        == [source.key for source in newest_first(references().values()) if source.is_work][
            : len(keys)
        ]
    )
    assert 0 < len(keys) <= news.MOST + 50


def test_months_are_whole_and_older_works_are_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "MOST", 2)
    monkeypatch.setattr(news, "additions", lambda: {"b2020a": "2026-11-20T01:00:00+00:00"})
    works = {
        "b2020a": ("2024", "feb"),
        "b2020b": ("2024", "jan"),
        "b2020c": ("2024", None),
        "b2020d": ("2023", "may"),
    }
    texts = [
        bib(k, type="blog", title=f"T {k}", year=year, month=month)
        for k, (year, month) in works.items()
    ]
    world.write("bibliography/more.bib", "".join(texts))
    text = news.new_page()
    heads = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    assert heads == ["February 2024", "January 2024", "Added last", "2026-11-20"]
    assert "2 older ones are listed under" in text


# Feeds.


def test_every_topic_has_a_feed_and_each_is_atom() -> None:
    files = feeds.files()
    assert set(files) == {feeds.feed_file(), *(feeds.feed_file(name) for name in TOPICS)}
    for name, text in files.items():
        root = ElementTree.fromstring(text.encode())
        ids = [one.text for one in root.findall("a:entry/a:id", ATOM)]
        assert len(ids) == len(set(ids)) <= feeds.MOST
        times = [
            datetime.fromisoformat(str(one.text)) for one in root.findall("a:entry/a:updated", ATOM)
        ]
        assert all(time.tzinfo for time in times)
        assert [time.date() for time in times] == sorted(
            (time.date() for time in times), reverse=True
        ), name
        for entry in root.findall("a:entry", ATOM):
            link = entry.find("a:link", ATOM)
            assert link is not None
            topic, _, key = link.attrib["href"].removeprefix("../").partition("/#")
            assert f'id="{key}"' in written()[f"references/{topic}.md"]
            assert reference(key).annote in "".join(entry.itertext()) and reference(key).is_work


def test_a_topic_feed_has_the_works_of_its_parts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "additions", lambda: {"b2020c": "2026-11-20T01:00:00+02:00"})
    write_topics(
        world,
        "id: chips, title: Chips, intro: I., children: [{id: links, title: Links, intro: W.}]",
    )
    texts = [
        bib(
            "b2020c",
            type="blog",
            title="Wires & <ends>".replace("<ends>", "ends"),
            keywords="links",
            year="2020",
        ),
        bib("d2021e", type="paper", title="D", keywords="chips", year="2021", month="mar"),
    ]
    world.write("bibliography/more.bib", "".join(texts))
    files = feeds.files()
    root = ElementTree.fromstring(files["references/feeds/chips.atom"].encode())
    titles = [one.text for one in root.findall("a:entry/a:title", ATOM)]
    assert titles == ["Wires & ends", "D"], "what was added last comes first; sources are left out"
    assert [one.text for one in root.findall("a:entry/a:updated", ATOM)] == [
        "2026-11-20T01:00:00+02:00",
        "2021-03-01T00:00:00+00:00",
    ]
    assert (
        len(
            ElementTree.fromstring(files["references/feeds/links.atom"].encode()).findall(
                "a:entry", ATOM
            )
        )
        == 1
    )


def test_the_pages_name_their_feeds() -> None:
    assert "feed: references/feeds/roofline.atom\n" in written()["references/roofline.md"]
    assert "feed: references/feeds/works.atom\n" in written()["references/index.md"]


def test_a_preprint_says_when_its_venue_was_looked_for() -> None:
    """What appeared names where; what did not says so, with the day."""
    works = [work for work in references().values() if work.is_work and work.eprint]
    for work in works:
        assert bool(work.venue) != bool(work.preprint), work.key
    preprint = next(work for work in works if work.preprint)
    shown = full_reference(preprint, topic_page(home_topic(preprint)))
    assert f"(no venue found by {preprint.preprint})." in shown and " Preprint, " in shown
    appeared = next(work for work in works if work.venue)
    assert "Preprint" not in full_reference(appeared, topic_page(home_topic(appeared)))
