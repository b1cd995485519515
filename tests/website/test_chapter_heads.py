"""Heads of chapters: an order that is no number makes no chapter, and no traceback."""

from __future__ import annotations

import pytest

from scripts.website.build.heads import head_and_body
from scripts.website.pages.chapter import chapter_of


@pytest.mark.parametrize("order", ["\u00b2", "\u0664", "9" * 5_000, "-1", "1.5", "[1]", ""])
def test_an_order_that_is_no_plain_number_makes_no_chapter(order: str) -> None:
    assert chapter_of(f"---\ntitle: A\norder: {order}\n---\n", "a.md") is None


def test_a_plain_number_does() -> None:
    chapter = chapter_of("---\ntitle: A\norder: 30\n---\n", "a.md")
    assert chapter is not None and chapter.order == 30


@pytest.mark.parametrize("mark", ["---", "..."])
def test_a_head_ends_at_its_first_mark(mark: str) -> None:
    """A reader that went on to the next would read what no check has read."""
    text = f"---\ntitle: A\n{mark}\nx: &a [*a]\n---\nText.\n"
    head, body = head_and_body(text)
    assert head == {"title": "A"} and body.lstrip().startswith("x: &a")


def test_a_page_without_a_head_is_all_body() -> None:
    assert head_and_body("# A\n\n---\n") == ({}, "# A\n\n---\n")
