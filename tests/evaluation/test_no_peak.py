"""A chip without a published peak rate is answered from its bandwidth, which says what that omits.

M3 Ultra: 819 GB/s and no rate of matrix operations. Jetson AGX Thor: 273 GB/s, narrow peaks alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook import calculate
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.lookups import NO_PEAK, OTHER_PEAKS
from flopbook.evaluation.sweeping import sweep
from flopbook.formulas.inference_outputs import NO_ARITHMETIC

ASKED = {"model": "llama-3-8b", "seq": 4096}
# Weights of Llama 3 8B that a token meets: 8.03B less the input embedding of 128,256 x 4,096.
MET = 8.03e9 - 128256 * 4096
CACHE = 4096 * 32 * 2 * 8 * 128 * 2  # bytes of keys and values
SCORES = 4 * 4096 * 32 * 32 * 128  # operations of 32 heads in 32 layers, for both products


def decode(**options: Any) -> Any:
    return calculate("decode", **ASKED, **options)


def told(result: Any) -> str:
    """The note of an answer without arithmetic."""
    return next(note for note in result.notes if note.startswith(NO_ARITHMETIC[:40]))


@pytest.mark.parametrize(("chip", "rate"), [("m3-ultra", 819e9), ("jetson-agx-thor", 273e9)])
def test_a_step_is_what_memory_allows(chip: str, rate: float) -> None:
    """By hand: weights in 16 bits and the cache, over the bandwidth."""
    result = decode(chip=chip)
    assert result["seconds"] == pytest.approx((2 * MET + CACHE) / rate, rel=1e-3)
    assert result["bound"] == "weights" and result["compute_seconds"] is None
    assert "peak" not in result.inputs


def test_the_note_says_from_which_peak_on_that_holds() -> None:
    """By hand: reading takes 18.98 ms, a tenth is 1.9; attention may take that and its own 0.66.

    Its 2.15 GFLOP in 2.55 ms ask for 0.84 TFLOP/s; products, 15 GFLOP in 20.2 ms, for less.
    """
    result = decode(chip="m3-ultra")
    read, weights = (2 * MET + CACHE) / 819e9, 2 * MET / 819e9
    assert result["enough_peak"] == pytest.approx(SCORES / (1.1 * read - weights), rel=1e-3)
    assert "840.9 GFLOP/s" in told(result)
    assert f"note: {told(result)}" in answer(result)
    asked = {"sparsity": "dense", "dtype": "bf16"}
    assert NO_PEAK.format(chip="apple/m3-ultra", others="", **asked) in result.notes
    others = OTHER_PEAKS.format(formats="fp4, fp8")
    note = NO_PEAK.format(chip="nvidia/jetson-agx-thor", others=others, **asked)
    assert note in decode(chip="jetson-agx-thor").notes


@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v3", "llama-2-7b"])
@pytest.mark.parametrize("batch", [1, 16, 256])
def test_enough_adds_a_tenth(model: str, batch: int) -> None:
    """At that rate a step takes a tenth longer, above it less, at half of it at most 2.2 times."""
    options: dict[str, Any] = {"chip": "m3-ultra", "model": model, "seq": 4096, "batch": batch}
    result = calculate("decode", **options)
    enough, step = result["enough_peak"], result["seconds"]
    steps = [calculate("decode", **options, peak=enough * x)["seconds"] for x in (2, 1, 0.5)]
    above, there, below = steps
    assert there == pytest.approx(1.1 * step)
    assert step <= above < there < below <= 2.2001 * step


def test_larger_batches_ask_for_a_higher_peak() -> None:
    asked = [decode(chip="m3-ultra", batch=batch)["enough_peak"] for batch in (1, 4, 8, 64)]
    assert asked == sorted(asked) and asked[-1] > 8 * asked[0]


def test_a_sweep_names_the_column() -> None:
    grid = sweep("decode", **ASKED, chip="m3-ultra", batch=[1, 8])
    assert any("a peak of enough_peak or more" in note for note in grid.notes)


def test_a_chip_with_a_peak_says_nothing_of_it() -> None:
    result = decode(chip="h100-sxm")
    assert result["compute_seconds"] is not None
    assert not any("without --peak" in note for note in result.notes)
    with_more = decode(chip="m3-ultra", peak="100TFLOP/s")
    assert not any("on record" in note for note in with_more.notes)


@pytest.mark.parametrize(
    ("chip", "options", "other"),
    [
        ("t4", {}, "--compute-dtype fp16"),  # multiplies fp16 and no bf16
        ("jetson-agx-thor", {"dtype": "int8"}, "fp8 unstated"),
        ("m3-ultra", {"sparsity": "2:4"}, "give --peak"),
    ],
)
def test_a_peak_to_ask_for_instead_is_named(chip: str, options: dict[str, str], other: str) -> None:
    with pytest.raises(FlopbookError, match=other):
        decode(chip=chip, **options)


def test_no_peak_at_all_stops_no_format() -> None:
    """Eight bits are half of the bytes."""
    narrow, wide = decode(chip="m3-ultra", dtype="int8"), decode(chip="m3-ultra")
    assert narrow["weight_seconds"] == pytest.approx(wide["weight_seconds"] / 2)


def test_serving_leaves_open_what_a_prompt_takes() -> None:
    options = {"batch": 8, "price": "2USD/h", "prompt_tokens": 512, "answer_tokens": 100}
    result = calculate("serving", **ASKED, chip="m3-ultra", **options)
    waiting = ("batch_saturates", "prompt_seconds", "requests_per_s", "usd_per_request")
    assert all(result[name] is None for name in waiting)
    assert result["seconds"] == decode(chip="m3-ultra", batch=8)["seconds"]
    assert result["usd_per_million_tokens"] is not None
    assert "TFLOP/s" in told(result)
    assert "reading_prompts" not in result.omitted


def test_prefill_asks_for_the_peak() -> None:
    """Arithmetic limits a prompt: without a rate there is no answer."""
    with pytest.raises(FlopbookError, match="give --peak"):
        calculate("prefill", **ASKED, chip="m3-ultra")


def test_plain_numbers_need_no_peak_either() -> None:
    sizes = {"params": 8e9, "layers": 32, "heads": 32, "kv_heads": 8, "head_dim": 128}
    result = calculate("decode", **sizes, compute_params=7.5e9, seq=4096, bandwidth="819GB/s")
    assert result["seconds"] == pytest.approx((2 * 8e9 + CACHE) / 819e9)
