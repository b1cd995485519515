"""An answer in plain text says what it was computed from, and nothing that a model lacks."""

from __future__ import annotations

from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import calculate


def named_inputs(text: str) -> set[str]:
    """The inputs that an answer lists, without their values."""
    below = text.partition("\nfrom\n")[2]
    return {line.split()[0] for line in below.splitlines() if line.startswith("  ")}


def test_kinds_of_layers_that_a_model_lacks_are_left_out() -> None:
    """Their defaults change nothing; JSON has them all the same."""
    plain = calculate("decode", model="llama-3-8b", chip="h100-sxm", batch=1, seq=4096)
    idle = {"key_is_value", "index_compression", "compression", "bytes_per_state"}
    assert not idle & named_inputs(answer(plain))
    assert idle <= set(plain.as_json()["inputs"])
    assert {"layers", "seq", "bandwidth_share"} <= named_inputs(answer(plain))


def test_kinds_that_a_model_has_or_that_were_typed_are_said() -> None:
    sparse = calculate("kv-cache", model="deepseek-v4-flash", seq=4096)
    assert {"compression", "index_compression", "key_is_value"} <= named_inputs(answer(sparse))
    typed = calculate("kv-cache", model="llama-3-8b", seq=4096, window=1024, full_layers=8)
    assert {"window", "full_layers"} <= named_inputs(answer(typed))


def test_links_that_carry_nothing_have_no_note_but_in_json() -> None:
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "batch": 1, "seq": 4096}
    alone, two = (calculate("decode", **asked, tp=degree) for degree in (1, 2))
    assert alone["message_seconds"] == 0 and "NVLink" not in answer(alone)
    assert any("NVLink" in note for note in alone.as_json()["notes"])
    assert "NVLink" in answer(two)
