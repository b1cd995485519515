"""Statements of the chapters from why-compute to fsdp that were wrong once, with what is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.wrong_foundations import WRONG

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"


def text_of(chapter: str) -> str:
    return " ".join((HANDBOOK / f"{chapter}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("chapter", "words"), WRONG)
def test_what_was_wrong_is_gone(chapter: str, words: str) -> None:
    assert words not in text_of(chapter)
