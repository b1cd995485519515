"""Links of the book: inside it, to the published site, to elsewhere, and never to nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.book.links import dangling, resolved
from scripts.website.book.parts import BookPart, parsed, words
from tests.support.binding import bound

SITE = "https://books.example/flopbook/"


def hrefs(part: BookPart) -> dict[str, str]:
    """Words of each link -> where it leads."""
    return {words(link): str(link["href"]) for link in part.body.select("a")}


@pytest.fixture
def parts(small: Path) -> dict[str, BookPart]:
    return {part.slug: part for part in bound(small)}


def test_links_between_chapters_stay_inside_the_book(parts: dict[str, BookPart]) -> None:
    found = hrefs(parts["one"])
    assert found["the next"] == "#two"
    assert found["its end"] == "#two-ends"
    assert found["below"] == "#one-exercises"
    assert hrefs(parts["two"])["asked"] == "#one-exercise-2"
    assert hrefs(parts["two"])["bit"] == "#glossary-bit"
    assert hrefs(parts["about"])["the first"] == "#one"


def test_the_glossary_names_the_chapter_instead_of_here(
    small: Path, page: Callable[[str, str], None]
) -> None:
    links = (
        '<a href="../handbook/two/#ends">introduced here</a> <a href="../data/">introduced here</a>'
    )
    page("glossary/", f'<h1 id="glossary">Glossary</h1><p id="bit" class="fb-note">{links}</p>')
    part = next(part for part in bound(small, SITE) if part.slug == "glossary")
    assert hrefs(part) == {
        "introduced in chapter 2": "#two-ends",
        "introduced on the site": f"{SITE}data/",
    }


def test_links_to_the_outside_are_as_they_were(parts: dict[str, BookPart]) -> None:
    assert hrefs(parts["one"])["out"] == "https://x.example/?a=1&b=2"
    assert hrefs(parts["two"])["mail"] == "mailto:a@x.example"


def test_without_an_address_of_the_site_words_stay_and_links_go(parts: dict[str, BookPart]) -> None:
    assert "3 TB/s" in words(parts["one"].body)
    assert "3 TB/s" not in hrefs(parts["one"])
    assert "a claim" not in hrefs(parts["two"])
    assert "the calculator on the site" in words(parts["one"].body)


@pytest.mark.parametrize("site_url", [SITE, SITE.rstrip("/")])
def test_with_an_address_they_lead_to_the_site(small: Path, site_url: str) -> None:
    parts = {part.slug: part for part in bound(small, site_url)}
    found = hrefs(parts["one"]) | hrefs(parts["two"]) | hrefs(parts["glossary"])
    assert found["3 TB/s"] == f"{SITE}accelerators/a/b/"
    assert found["the calculator on the site"] == f"{SITE}calculators/min-batch/"
    assert found["a claim"] == f"{SITE}claims/#x"
    assert found["byte"] == f"{SITE}data/"


@pytest.mark.parametrize("site_url", ["", SITE])
def test_no_link_is_relative_or_leads_nowhere(small: Path, site_url: str) -> None:
    parts = bound(small, site_url)
    assert dangling(parts) == []
    for part in parts:
        assert all(href.startswith(("#", "https://", "mailto:")) for href in hrefs(part).values())


def test_the_bibliography_has_every_cited_work_once_by_its_key(parts: dict[str, BookPart]) -> None:
    works = parts["bibliography"].body.select(".work")
    assert [work["id"] for work in works] == ["work-alpha2019first", "work-zeta2020last"]
    assert "Never cited" not in words(parts["bibliography"].body)
    assert (
        hrefs(parts["one"])["Zeta 2020"] == hrefs(parts["two"])["Zeta 2020"] == "#work-zeta2020last"
    )
    assert hrefs(parts["one"])["a work"] == "#work-alpha2019first"


def test_a_work_says_how_it_is_cited_and_where(parts: dict[str, BookPart]) -> None:
    first, last = parts["bibliography"].body.select(".work")
    assert [words(label) for label in last.select(".label")] == ["Zeta 2020"]
    assert first.select(".label") == []
    assert [words(line) for line in last.select(".cited")] == ["Cited in chapters 1, 2."]
    assert [words(line) for line in first.select(".cited")] == ["Cited in chapter 1."]
    assert [link["href"] for link in last.select(".cited a")] == ["#one", "#two"]


def test_a_work_keeps_its_address_and_note_and_loses_what_is_for_the_screen(
    parts: dict[str, BookPart],
) -> None:
    text = words(parts["bibliography"].body)
    assert hrefs(parts["bibliography"])["The last"] == "https://doi.example/zeta2020last"
    assert "What it shows." in text
    assert "BibTeX" not in text
    assert "paper" not in text


def test_a_citation_of_a_work_that_the_site_does_not_show_is_a_link_like_others(
    small: Path, page: Callable[[str, str], None]
) -> None:
    page(
        "handbook/two/",
        '<h1 id="two">Two</h1>'
        '<p><a href="../../references/topic/#gone" class="fb-cite">Gone</a></p>',
    )
    page(
        "handbook/one/",
        '<h1 id="one">One</h1><p><a href="../../references/none/#x" class="fb-cite">None</a></p>',
    )
    parts = {part.slug: part for part in bound(small, SITE)}
    assert hrefs(parts["two"])["Gone"] == f"{SITE}references/topic/#gone"
    assert hrefs(parts["one"])["None"] == f"{SITE}references/none/#x"
    assert parts["bibliography"].body.select(".work") == []


def test_ids_of_two_chapters_do_not_meet(parts: dict[str, BookPart]) -> None:
    assert parts["one"].body.select("#one-exercises")
    assert parts["two"].body.select("#two-exercises")
    picture = parts["one"].body.select_one("svg")
    assert picture is not None
    assert picture["aria-labelledby"] == "one-fig-x-t"
    assert parts["one"].body.select("title#one-fig-x-t")


def test_references_inside_a_picture_follow_its_ids(
    small: Path, page: Callable[[str, str], None]
) -> None:
    svg = '<svg><marker id="m"></marker><path marker-end="url(#m)" class="a b"/></svg>'
    page("handbook/two/", f'<h1 id="two">Two</h1>{svg}')
    two = bound(small)[2]
    assert two.body.select('marker[id="two-m"]')
    assert two.body.select('path[marker-end="url(#two-m)"]')


def test_dangling_names_what_is_lost_and_what_stands_twice() -> None:
    body = parsed('<a href="#x">x</a><a href="#y">y</a><p id="x"></p><p id="z"></p><p id="z"></p>')
    assert dangling([BookPart("p", "", "P", body)]) == [
        "no element with the id y",
        "the id z stands twice",
    ]


def test_a_link_to_what_the_book_leaves_out_leads_to_the_part(
    small: Path, page: Callable[[str, str], None]
) -> None:
    page(
        "handbook/two/",
        '<h1 id="two">Two</h1><p><a href="../#chapters">list</a></p><h2 id="ends">E</h2>',
    )
    parts = bound(small)
    assert dangling(parts) == []
    assert hrefs(parts[2])["list"] == "#about"


@pytest.mark.parametrize(
    ("href", "page", "target"),
    [
        ("../two/", "handbook/one/", ("handbook/two/", "")),
        ("#x", "handbook/one/", ("handbook/one/", "x")),
        ("./", "handbook/one/", ("handbook/one/", "")),
        ("./#x", "references/a/", ("references/a/", "x")),
        ("../../", "handbook/one/", ("", "")),
        ("..", "handbook/one/", ("handbook/", "")),
        ("../../data/?v=1#x", "handbook/one/", ("data/", "x")),
        ("one/", "handbook/", ("handbook/one/", "")),
        ("/calculators/x/", "handbook/one/", ("calculators/x/", "")),
        ("../../api/v1/models.json", "handbook/one/", ("api/v1/models.json", "")),
    ],
)
def test_links_are_resolved(href: str, page: str, target: tuple[str, str]) -> None:
    assert resolved(href, page) == target


@given(
    st.lists(st.sampled_from(["..", "a", "b.json", "c"]), max_size=4),
    st.booleans(),
    st.sampled_from(["", "#x", "?q=1"]),
)
def test_resolving_agrees_with_what_a_browser_does(
    steps: list[str], folder: bool, rest: str
) -> None:
    href = "/".join(steps) + ("/" if folder and steps else "") + rest
    page = "handbook/one/"
    path, anchor = resolved(href, page)
    asked = urlsplit(urljoin(f"https://books.example/{page}", href))
    assert f"/{path}".rstrip("/") == asked.path.rstrip("/")
    assert anchor == asked.fragment
