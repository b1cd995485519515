"""Recurrent states in 16 bits instead of 32: what that saves is told, counted by hand."""

from __future__ import annotations

import pytest

from flopbook import calculate

# Nemotron-H 56B (nvidia2026modelconfigs): 54 Mamba-2 layers with 256 heads of 64 and states of 256,
# four taps of convolution over 256 x 64 + 2 x 8 x 256 channels; ten attention layers.
CHANNELS = 256 * 64 + 2 * 8 * 256
VALUES = 54 * (256 * 64 * 256 + 3 * CHANNELS)
KEYS = 10 * 2 * 8 * 128
SEQ = 8192


def test_a_cache_of_states_tells_what_16_bits_save() -> None:
    result = calculate("kv-cache", model="nemotron-h-56b", seq=SEQ, batch=32)
    assert result["bytes"] == pytest.approx(32 * (KEYS * SEQ * 2 + VALUES * 4), rel=1e-3)
    told = result.omitted["states_in_16_bits"]
    narrow = calculate("kv-cache", model="nemotron-h-56b", seq=SEQ, batch=32, bytes_per_state=2)
    assert told.share == pytest.approx(narrow["bytes"] / result["bytes"] - 1)
    assert told.share == pytest.approx(-0.366, abs=1e-3)
    assert "--bytes-per-state 2" in told.text and not narrow.omitted


def test_a_step_reads_and_writes_states_that_may_be_narrow() -> None:
    asked = {"model": "nemotron-h-56b", "chip": "h100-sxm", "tp": 4, "batch": 64, "seq": 2048}
    result = calculate("decode", **asked)
    narrow = calculate("decode", **asked, bytes_per_state=2)
    told = result.omitted["narrow_states_of_a_step"]
    assert told.share == pytest.approx(narrow["seconds"] / result["seconds"] - 1)
    assert told.share < -0.1


def test_more_sequences_fit_with_narrow_states() -> None:
    asked = {"model": "nemotron-h-56b", "chip": "h100-sxm", "tp": 4, "seq": 2048}
    result = calculate("serving", **asked)
    narrow = calculate("serving", **asked, bytes_per_state=2)
    told = result.omitted["narrow_states_of_a_batch"]
    more = narrow["batch_fits"] / result["batch_fits"] - 1
    assert more > 0.5 and told.share == pytest.approx(more, rel=0.02)


@pytest.mark.parametrize("calculator", ["kv-cache", "decode", "serving"])
def test_a_model_without_states_says_nothing_of_them(calculator: str) -> None:
    chip = {} if calculator == "kv-cache" else {"chip": "h100-sxm"}
    result = calculate(calculator, model="llama-3-8b", seq=2048, **chip)
    assert not any("state" in name for name in result.omitted)


def test_short_states_of_a_long_context_are_too_small_to_tell() -> None:
    assert "states_in_16_bits" not in calculate("kv-cache", model="qwen-3.5-9b", seq=262144).omitted
