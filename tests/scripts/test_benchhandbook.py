"""The counts of the handbook add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.bench import handbook as benchhandbook
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK

ROOT = Path(__file__).resolve().parents[2]


def test_parts_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels to exercises, verdicts to claims; words are those that a reader sees."""
    monkeypatch.setattr(benchhandbook, "render", lambda _text, page, *_: rendered(page))
    counts = dict(benchhandbook.counts())
    for name in ("exercises", "claims"):
        total, *terms = (int(n) for n in re.findall(r"\d+", counts[name]))
        assert total == sum(terms) > 0
    assert int(counts["chapters"]) >= 16 and int(counts["words as shown"].replace(",", "")) > 40_000


def test_pictures_code_and_the_head_are_no_words() -> None:
    page = (
        "---\ntitle: One two\n---\n# Three\n\n<svg>four</svg>\n\n"
        "```py\nfive six\n```\nseven <b>eight</b>\n"
    )
    assert benchhandbook.words(page) == len(["#", "Three", "seven", "eight"])
