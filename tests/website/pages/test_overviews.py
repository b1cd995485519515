"""The overviews of chapters and of references are in parts, each with a sentence."""

from __future__ import annotations

import pytest

from flopbook.data.library import topics
from flopbook.errors import FlopbookError
from scripts.website.build.handbook import DOCS, chapters
from scripts.website.pages import references
from scripts.website.pages.chapter import Chapter, ChapterGroup, listing, parts_of

INDEX = "handbook/index.md"
TWO = [
    Chapter("handbook/a.md", "A", "Says a.", 10),
    Chapter("handbook/b.md", "B", "Says b.", 20),
    Chapter("handbook/c.md", "C", "Says c.", 30),
]


def test_chapters_stand_under_their_part_and_are_numbered_through() -> None:
    text = listing(
        TWO, [ChapterGroup(10, "First", "One."), ChapterGroup(20, "Second", "Two.")], INDEX
    )
    assert text == (
        "\n### First\n\nOne.\n\n1. [A](a.md). Says a.\n"
        "\n### Second\n\nTwo.\n\n2. [B](b.md). Says b.\n3. [C](c.md). Says c."
    )


def test_a_chapter_before_all_parts_stands_alone() -> None:
    text = listing(TWO, [ChapterGroup(20, "Second", "Two.")], INDEX)
    assert text.startswith("1. [A](a.md). Says a.\n\n### Second")


@pytest.mark.parametrize("row", ["{from: 1, title: A}", "text", "{from: x, title: A, about: B}"])
def test_a_part_without_its_fields_is_refused_with_the_page(row: str) -> None:
    with pytest.raises(FlopbookError, match=r"index\.md: each of `parts` has"):
        parts_of(f"---\nparts: [{row}]\n---\n# A\n", INDEX)


def test_every_chapter_is_in_a_part_of_few() -> None:
    text = (DOCS / INDEX).read_text(encoding="utf-8")
    parts = parts_of(text, INDEX)
    ends = [part.start for part in parts[1:]] + [10**6]
    sizes = [
        sum(part.start <= one.order < end for one in chapters())
        for part, end in zip(parts, ends, strict=True)
    ]
    assert sum(sizes) == len(chapters()) and all(2 <= size <= 9 for size in sizes), sizes


def test_every_topic_at_the_top_says_what_it_is_about() -> None:
    page = references.index_page()
    for topic in topics():
        assert topic.about.endswith("."), topic.id
        assert f"### [{topic.title}]({topic.id}.md) (" in page
