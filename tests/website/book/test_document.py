"""The joined document.

Title page, contents, running heads, and texts that could break out of their place.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import flopbook
from flopbook.data.library import references
from scripts.website.book.document import contents, facts, printed, title_page
from scripts.website.book.parts import BookPart, parsed
from scripts.website.build.generator import CONFIG
from tests.support.binding import KNOWN, bound


def test_facts_come_from_the_configuration_the_package_and_the_references() -> None:
    known = facts(CONFIG, "https://books.example/")
    said = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert known.title == f"{said['site_name']}: the handbook"
    assert (known.subtitle, known.author, known.rights) == (
        said["site_description"],
        said["site_author"],
        said["copyright"],
    )
    assert known.version == flopbook.__version__
    assert known.read == date.fromisoformat(max(item.urldate for item in references().values()))
    assert known.site_url == "https://books.example/"


def test_the_title_page_says_what_is_known() -> None:
    made = title_page(KNOWN)
    ElementTree.fromstring(f"<section>{made}</section>")
    assert "Version 1.2.3, sources read up to 21 November 2026" in made
    assert "A reference &amp; more" in made
    assert "<a " not in made
    made = title_page(
        KNOWN._replace(site_url="https://books.example/?a&b", repository="https://code.example/x")
    )
    assert 'Site: <a href="https://books.example/?a&amp;b">' in made
    assert 'Source: <a href="https://code.example/x">' in made


def test_contents_list_parts_and_the_sections_of_chapters(small: Path) -> None:
    soup = parsed(contents(bound(small)))
    lines = [(str(link["href"]), link.select_one(".words").get_text()) for link in soup.select("a")]  # type: ignore[union-attr]
    assert lines == [
        ("#about", "About this book"),
        ("#one", "1 One"),
        ("#one-exercises", "Exercises"),
        ("#one-key-points", "Key points"),
        ("#one-answers", "Answers"),
        ("#two", '2 Two & "three"'),
        ("#two-exercises", "Exercises"),
        ("#two-ends", "Where it ends"),
        ("#glossary", "Glossary"),
        ("#bibliography", "Bibliography"),
    ]
    assert all(place.get_text() == "" for place in soup.select(".page"))


def test_the_whole_book_is_one_document_in_which_all_links_lead_somewhere(small: Path) -> None:
    soup = parsed(printed(KNOWN, bound(small)))
    ids = [str(one["id"]) for one in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert {str(link["href"])[1:] for link in soup.select('a[href^="#"]')} <= set(ids)
    assert [part["id"] for part in soup.select("section.part")] == [
        "about",
        "one",
        "two",
        "glossary",
        "bibliography",
    ]
    assert [head.get_text() for head in soup.select("h1")][:3] == [
        "Contents",
        "About this book",
        "1 One",
    ]


def test_it_asks_for_nothing_from_elsewhere(small: Path) -> None:
    made = printed(KNOWN, bound(small))
    assert not parsed(made).select("link, script, img, iframe")
    assert "url(" not in made
    assert "@import" not in made
    assert "var(--" not in made


@pytest.mark.parametrize(
    "title", ['He said "x"', "a </style><b> b", "back\\slash", "*/ }", "naïve – ünïcode"]
)
def test_a_title_cannot_break_out_of_the_style_sheet(title: str) -> None:
    body = parsed("<h1>x</h1>")
    soup = parsed(printed(KNOWN._replace(title=title), [BookPart("p", "", title, body)]))
    assert len(soup.select("style")) == 1
    assert len(soup.select("section.part#p")) == 1
    assert not soup.select("head b, body > b")
