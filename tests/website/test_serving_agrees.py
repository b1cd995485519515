"""The serving chapter and its calculator expect the same of a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas.inference_parts import LAYER_OVERHEAD, PROMPT_REACHED

CHAPTER = Path(__file__).resolve().parents[2] / "docs" / "handbook" / "serving.md"
SERVER = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}


def test_the_chapter_takes_the_prompt_that_both_calculators_expect() -> None:
    """195 ms, and no 123 at a share of the peak of its own."""
    text = CHAPTER.read_text(encoding="utf-8")
    assert '{% set prefilled = read["likely_seconds"] %}' in text
    assert text.count('["seconds"] / 0.6') == 1  # what an engine with hidden messages would need
    prompt = calculate("prefill", seq=4096, **SERVER)["likely_seconds"]
    asked = {"seq": 4352, "batch": 64, "price": "2USD/h", "answer_tokens": 513}
    priced = calculate("serving", prompt_tokens=4096, **SERVER, **asked)
    step = priced["likely_seconds"]
    by_hand = 8 * 2 / 3600 * (prompt + 512 * step / 64)
    assert prompt == pytest.approx(0.1951, abs=1e-4)
    assert priced["likely_usd_per_request"] == pytest.approx(by_hand)


def test_the_parts_of_the_prompt_add_up_as_the_chapter_says() -> None:
    """Half of the peak, the all-reduces, and the launches of 80 layers."""
    read = calculate("prefill", seq=4096, **SERVER)
    assert PROMPT_REACHED == 0.5
    parts = read["seconds"] / 0.5 + read["message_seconds"] + 80 * LAYER_OVERHEAD
    assert read["likely_seconds"] == pytest.approx(parts)
    assert read["message_seconds"] > 5 * 80 * LAYER_OVERHEAD


@pytest.mark.parametrize(
    ("chip", "prompt", "answer", "measured", "share"),
    [
        ("h100-sxm", 8192, 1024, 398 * 2, 0.98),
        ("h200-sxm", 8192, 1024, 537 * 2, 1.01),
    ],
)
def test_long_prompts_cost_what_was_measured_within_two_percent(
    chip: str, prompt: int, answer: int, measured: float, share: float
) -> None:
    usual = {"model": "llama-3-70b", "chip": chip, "tp": 2, "dtype": "fp8"}
    read = calculate("prefill", seq=prompt, **usual)["likely_seconds"]
    served = calculate("serving", seq=prompt + answer / 2, **usual)
    steps = answer * served["likely_seconds"] / served["batch_fits"]
    assert measured / (answer / (read + steps)) == pytest.approx(share, abs=0.01)
