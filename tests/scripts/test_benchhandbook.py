"""The counts of the handbook add up."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import benchhandbook  # noqa: E402


def test_parts_add_up_to_the_whole() -> None:
    """Levels to exercises, verdicts to claims; words are those that a reader sees."""
    said = dict(benchhandbook.counts())
    for name in ("exercises", "claims"):
        whole, *parts = (int(n) for n in re.findall(r"\d+", said[name]))
        assert whole == sum(parts) > 0
    assert int(said["chapters"]) >= 16 and int(said["words as shown"].replace(",", "")) > 40_000


def test_pictures_code_and_the_head_are_no_words() -> None:
    page = "---\ntitle: One two\n---\n# Three\n\n<svg>four</svg>\n\n```py\nfive six\n```\nseven <b>eight</b>\n"
    assert benchhandbook.words(page) == len(["#", "Three", "seven", "eight"])
