"""What a strict reader found wrong in the last nine chapters, as numbers."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_rows
from scripts.website.pages.taught import statements_box
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK


def _step(context: float) -> float:
    served = {"model": "llama-3-8b", "chip": "h100-sxm", "batch": 128, "seq": context}
    return float(calculate("serving", **served)["likely_seconds"])


def _after(chapter: str, words: str, pattern: str) -> float:
    """The first number of a pattern behind words of a chapter, as readers see it."""
    text = re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).replace(",", "")
    found = re.search(pattern, text[text.index(words) :])
    assert found, (chapter, words)
    return float(found[1])


def test_a_decoding_step_reads_the_prompt_too() -> None:
    """Answers of 1,060 tokens behind prompts of 132: 662 on average, 12 ms and not 11."""
    chapter = "reinforcement-learning"
    written = 1060
    whole = _step(132 + written / 2)
    assert whole == pytest.approx(12.2e-3, rel=0.01)
    assert _after(chapter, "**Generate.**", r"([\d.]+)\sms a step") == round(1e3 * whole)
    assert _after(chapter, "of the mean length take", r"([\d.]+)\ss") == round(written * whole)


def test_a_faster_memory_moves_the_border_to_arithmetic() -> None:
    """From 295 sequences on an H100 to 206 on an H200, which computes as fast."""
    old, new = chip("h100-sxm"), chip("h200-sxm")
    assert old.peak("bf16") == pytest.approx(new.peak("bf16"), rel=1e-3)
    words = "only the one to arithmetic moves"
    shown = [
        _after("inference", words, pattern) for pattern in (r"batch of (\d+)", r" to (\d+) on")
    ]
    ridges = [old.peak("bf16") / one.memory_bandwidth() for one in (old, new)]
    assert shown == [round(ridge) for ridge in ridges] == [295, 206]


def test_a_model_that_thinks_is_priced_as_expected() -> None:
    """A thousand answers of 10,512 tokens at 16 USD per hour: 17 USD, and 9.5 at the bounds."""
    shape = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    read = calculate("prefill", **shape, seq=4096)
    step = calculate("serving", **shape, seq=4096 + 5256, batch=64)

    def price(kind: str) -> float:
        return float(1000 * 16 / 3600 * (read[kind] + 10512 * step[kind] / 64))

    shown = _after("serving", "The same batch still fits", r"requests cost\s+([\d.]+)")
    assert shown == pytest.approx(price("likely_seconds"), abs=0.05)
    assert price("likely_seconds") > 1.7 * price("seconds")


def test_a_box_says_how_many_of_its_statements_are_corrected() -> None:
    """Of the sixteen on inference three have a value of ours, and they come first."""
    box = statements_box("# A chapter\n", "handbook/inference.md")
    rows = [row for row in ledger_rows() if row.chapter == "inference" and row.to_teach]
    corrected = sum(bool(row.corrected) for row in rows)
    title, *lines = [line for line in box.splitlines() if line]
    assert f"{len(rows)} statements" in title and f"{corrected} of them corrected" in title
    ours = ["Correct: " in line for line in lines[1:]]
    assert ours == sorted(ours, reverse=True) and sum(ours) == corrected
    assert "codemonkeys" not in box


def test_only_the_first_blackwell_waits_for_exponentials() -> None:
    """Blackwell Ultra has twice as many, so no word of all newer chips."""
    told = text_of("kernels")
    assert "On newer chips, whose tensor cores grew" not in told
    assert "nvidia2026softmax" in told


def test_the_node_that_the_chapter_on_racks_makes_up_is_named() -> None:
    """A GB200 has a tenth more than the B200 of nodes of eight."""
    told = _after("racks", "That node is made up", r"(\d+) percent lower")
    lower = 1 - chip("nvidia/b200").peak("bf16") / chip("nvidia/gb200-gpu").peak("bf16")
    assert told == round(100 * lower) == 10
