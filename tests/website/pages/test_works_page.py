"""The plain lists of works and of sources of values, and what the script of the page gets."""

from __future__ import annotations

import html
import itertools
import json
import posixpath
import re
from pathlib import Path

import pytest

from flopbook.data.library import reference, references, vendor_ids
from scripts.website.build.maths import replace_maths
from scripts.website.markup import front_matter
from scripts.website.pages import works
from scripts.website.pages.sources import all_topics, newest_first, topic_page
from tests.support.samples import World, bib

FIRST, SOURCES = works.works_page(), works.sources_page()
WORKS = FIRST + "".join(works.earlier_pages().values())
ROW = re.compile(r'<li id="([\w-]+)"((?: data-\w="[^"]*")*)>(.*)</li>')
SCRIPTS = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "works"


def rows(page: str) -> dict[str, tuple[dict[str, str], str]]:
    """Key -> the data of its row and what the row shows."""
    return {
        key: (dict(re.findall(r'data-(\w)="([^"]*)"', data)), text)
        for key, data, text in ROW.findall(page)
    }


@pytest.mark.parametrize(("page", "work"), [(WORKS, True), (SOURCES, False)])
def test_every_reference_is_a_row_of_one_list_newest_first(page: str, work: bool) -> None:
    keys = list(rows(page))
    assert keys == [
        source.key for source in newest_first(references().values()) if source.is_work == work
    ]
    years = [int(year) for year in re.findall(r'<h2 id="y(\d{4})">', page)]
    assert years == sorted(set(years), reverse=True)


@pytest.mark.parametrize("page", [WORKS, SOURCES])
def test_a_row_has_what_the_filters_ask_for(page: str) -> None:
    for key, (data, text) in rows(page).items():
        source = reference(key)
        assert (
            data["d"] == f"{source.year:04d}-{source.month or 0:02d}"
            and data.get("k", works.USUAL) == source.kind
        )
        assert data.get("t", "").split() == list(source.topics[1:]), (
            "the first is in the permanent address"
        )
        assert set(data.get("v", "").split()) == works.vendors_of(source) <= set(vendor_ids())
        assert ("fb-code" in text) == bool(source.code)
        title = re.search(r'<span class="fb-title">(?:<a[^>]*>)?([^<]*)', text)
        assert title and html.unescape(title[1]) == source.title
        home = re.findall(r'href="([^"#]*)#([\w-]+)"', text)[-1]
        built = posixpath.normpath(posixpath.join("references/works", home[0]))
        assert home[1] == key and f"{built}.md" == topic_page(source.topics[0])


def test_a_work_leads_to_itself_and_a_source_to_its_permanent_address() -> None:
    found = rows(WORKS) | rows(SOURCES)
    assert "https://doi.org/10.1145/1498765.1498785" in found["williams2009roofline"][1]
    assert "http" not in found["aiwiki2026h200"][1]


def test_vendors_come_from_topics_values_and_reading_lists() -> None:
    assert works.vendors_of(reference("nvidia2022hopper")) == {"nvidia"}
    assert "amd" in works.vendors_of(reference("amd2025rocm")), "by the vendor of a topic"
    shared = [source for source in references().values() if len(works.vendors_of(source)) > 1]
    assert shared, "a page with values of several vendors is about all of them"
    assert works.vendors_of(reference("williams2009roofline")) == set()


def test_notes_are_those_of_the_list_and_name_everybody() -> None:
    files, listed = works.files(), rows(WORKS) | rows(SOURCES)
    for page, name in works.NOTES.items():
        record = json.loads(files[name])
        assert list(record) == [source.key for source in works.listed(page)]
        for key, (note, *people) in record.items():
            source = reference(key)
            shown = " ".join(people) + html.unescape(listed[key][1])
            assert note == source.annote and all(
                person.full in shown for person in source.people
            ), key


def test_each_work_is_on_the_page_of_its_year() -> None:
    """Pages of earlier years begin where the one before ends, and each is worth a page."""
    pages = [works.PAGE, *works.EARLIER.values()]
    years = [[work.year or 0 for work in works.works_on(page)] for page in pages]
    assert sum(map(len, years)) == len(works.listed(works.PAGE))
    for (_, after), newer, older in zip(works.EARLIER.items(), years, years[1:], strict=False):
        assert min(newer) > max(older), after
    assert all(len(found) > 100 for found in years)


def test_a_line_is_short(world: World) -> None:
    """Family names, the short name of a venue, and a mark only for what is not a paper.

    A line weighs 80 bytes.
    """
    venue = "Proceedings of the 51st Symposium on Computing (ISCA), Volume 2"
    world.write(
        "bibliography/more.bib",
        bib("doe2026b", "inproceedings", type=None, booktitle=venue, month="feb")
        + bib("doe2026c", "inproceedings", type="blog", booktitle="Workshop (online)"),
    )
    found = rows(works.works_page())
    assert "<br>Doe and Roe. ISCA, February 2026. <a" in found["doe2026b"][1]
    assert "fb-badge" not in found["doe2026b"][1] and "k" not in found["doe2026b"][0]
    assert (
        '<span class="fb-badge">blog</span>' in found["doe2026c"][1]
        and "Workshop &#40;online&#41;, 2026" in found["doe2026c"][1]
    )
    assert (
        json.loads(works.files()[works.NOTES[works.PAGE]])["doe2026b"][1] == "Jane Doe, Richard Roe"
    )


def test_the_choices_are_those_of_the_data() -> None:
    found = re.search(r'class="fb-facets">(.*?)</script>', FIRST)
    assert found
    record = json.loads(found[1])
    assert [one[0] for one in record["topics"]] == [topic.id for topic in all_topics()]
    depths = [depth for _, _, depth in record["topics"]]
    assert (
        depths[0] == 0
        and all(b - a <= 1 for a, b in itertools.pairwise(depths))
        and max(depths) <= 2
    )
    assert set(record["kinds"]) == {
        source.kind for source in references().values() if source.is_work
    }
    assert set(record["vendors"]) <= set(vendor_ids()) and "nvidia" in record["vendors"]


def test_nothing_that_people_write_becomes_markup(world: World) -> None:
    """Neither in a row nor in the script element that holds the choices."""
    world.write(
        "bibliography/more.bib",
        bib("b2020c", type="blog", title='Tiles \\& "\\$x\\$" *stars* 1 > 0', month="feb"),
    )
    topics = "topics:\n  - id: chips\n    title: 'A < script> & $5'\n    intro: I.\n"
    world.write("bibliography/topics.yaml", topics)
    page = works.works_page()
    assert "Tiles &amp; &quot;&#36;x&#36;&quot; &#42;stars&#42; 1 &gt; 0" in page
    assert "< script>" not in page and '"A \\u003c script\\u003e \\u0026 \\u00245"' in page
    assert "1 work with notes" in page and "February 2026" in page


def test_works_without_month_venue_or_many_authors(world: World) -> None:
    world.write(
        "bibliography/more.bib", bib("b2020c", type="talk", author="{Acme Inc.}", month=None)
    )
    text = rows(works.works_page())["b2020c"][1]
    assert "<br>Acme Inc. 2026. <a" in text


def test_the_scripts_name_no_data_and_write_no_markup() -> None:
    for path in SCRIPTS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"nvidia|arxiv|roofline|innerHTML", text, re.IGNORECASE), path.name
        assert len(text.splitlines()) <= 400, path.name


def test_no_mathematics_is_set_in_the_head_of_a_page() -> None:
    """A formula in the introduction of a topic stays text there, as it was written."""
    head = front_matter('A "title"', r"An $m \times n$ matrix")
    assert head == ('---\ntitle: "A \\"title\\""\ndescription: "An $m \\\\times n$ matrix"\n---\n')
    assert replace_maths(head) == head
