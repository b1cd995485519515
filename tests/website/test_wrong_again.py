"""Words of the handbook that a reader found wrong stay out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.wrong_statements_again import WRONG

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"


@pytest.mark.parametrize(("chapter", "words"), WRONG)
def test_what_was_wrong_is_gone(chapter: str, words: str) -> None:
    text = " ".join((HANDBOOK / f"{chapter}.md").read_text(encoding="utf-8").split())
    assert words not in text
