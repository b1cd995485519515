"""Which pages of the site become parts of the book, in which order, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.website.book.parts import BookError, parsed, read, words
from scripts.website.build.handbook import chapters
from tests.support.binding import CHAPTERS


def test_chapters_stand_in_their_order_between_front_and_back(small: Path) -> None:
    parts = read(small, CHAPTERS)
    assert [(part.slug, part.number) for part in parts] == [
        ("about", 0),
        ("one", 1),
        ("two", 2),
        ("glossary", 0),
    ]
    assert [part.slug for part in read(small, CHAPTERS[::-1])] == [
        "about",
        "two",
        "one",
        "glossary",
    ]


def test_titles_and_sections_come_from_the_page_without_its_marks(small: Path) -> None:
    two = read(small, CHAPTERS)[2]
    assert two.name == '2 Two & "three"'
    assert two.sections() == [("exercises", "Exercises"), ("ends", "Where it ends")]


def test_nothing_of_the_theme_comes_along(small: Path) -> None:
    text = " ".join(words(part.body) for part in read(small, CHAPTERS))
    assert "menu" not in text
    assert "foot" not in text
    assert "#" not in text


def test_the_page_that_opens_the_handbook_loses_its_list_of_chapters(small: Path) -> None:
    about = read(small, CHAPTERS)[0]
    assert about.name == "About this book"
    assert (
        words(about.body) == "About this book For readers. How to read it In order, from the first."
    )


def test_without_a_glossary_there_is_none(small: Path) -> None:
    (small / "glossary" / "index.html").unlink()
    assert [part.slug for part in read(small, CHAPTERS)] == ["about", "one", "two"]


def test_a_missing_chapter_is_named_with_what_to_do(small: Path) -> None:
    with pytest.raises(BookError, match=r"three/index\.html: .*run make site"):
        read(small, [*CHAPTERS, "handbook/three/"])


@pytest.mark.parametrize("article", ["", "<p>No title.</p>", "<h2>Too small</h2>"])
def test_a_page_without_a_title_is_refused(
    small: Path, page: Callable[[str, str], None], article: str
) -> None:
    page("handbook/one/", article)
    with pytest.raises(BookError, match="found no article with a title"):
        read(small, CHAPTERS)


def test_two_parts_of_one_name_are_refused(small: Path, page: Callable[[str, str], None]) -> None:
    page("handbook/glossary/", "<h1>Another</h1>")
    with pytest.raises(BookError, match="two parts of the book are called glossary"):
        read(small, (*CHAPTERS, "handbook/glossary/"))


def test_the_real_chapters_have_names_of_their_own() -> None:
    names = [one.page.removesuffix(".md").rpartition("/")[2] for one in chapters()]
    taken = {"about", "bibliography", "title", "nav", "toc", "cover", "contents"}
    assert len(set(names)) == len(names)
    assert not taken & set(names)


@pytest.mark.parametrize(
    ("html", "text"),
    [("<p>a\n  b</p>", "a b"), ("<p>x <b>y</b>&amp;</p>", "x y&"), ("<p></p>", "")],
)
def test_words_of_an_element_stand_on_one_line(html: str, text: str) -> None:
    element = parsed(html).p
    assert element is not None
    assert words(element) == text
