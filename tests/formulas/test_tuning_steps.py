"""The step of the optimizer in fine-tuning, and weights that are updated without fp32 copies."""

from __future__ import annotations

import pytest

from flopbook import calculate


@pytest.mark.parametrize("kind", ["adam", "adam-8bit", "adam-pure"])
def test_full_tuning_peaks_where_training_does(kind: str) -> None:
    """The step casts gradients to fp32, when the activations are gone: 4 bytes for each."""
    asked = {"model": "llama-3-8b", "seq": 2048, "optimizer_kind": kind}
    tuned_whole = calculate("fine-tuning", method="full", **asked)
    trained = calculate("memory", recompute="none", **asked)
    assert tuned_whole["total"] == pytest.approx(trained["total"], rel=0.01)
    assert tuned_whole["step"] == pytest.approx(trained["step"], rel=0.01)
    passing = tuned_whole["activations"] + tuned_whole["logits"]
    casts = 0 if kind == "adam-pure" else 4 * 8_030_261_248
    assert tuned_whole["step"] == pytest.approx(max(casts - passing, 0))


def test_a_step_of_adapters_needs_nothing_more() -> None:
    assert calculate("fine-tuning", model="llama-3-8b", seq=2048)["step"] == 0


@pytest.mark.parametrize(("kind", "width"), [("adam", 4), ("adam-8bit", 1)])
def test_weights_without_master_copies_are_told_with_what_they_save(kind: str, width: int) -> None:
    """pytorch2026torchtune trains weights in bf16 alone; bitsandbytes keeps moments in 8 bits."""
    asked = {"model": "llama-3-8b", "method": "full", "seq": 2048}
    result = calculate("fine-tuning", **asked, optimizer_kind=kind)
    pure = calculate("fine-tuning", **asked, optimizer_kind="adam-pure", optimizer_bytes=width)
    told = [one for name, one in result.omitted.items() if name.startswith("master")]
    assert [one.share for one in told] == [pytest.approx(pure["total"] / result["total"] - 1)]
    assert "--optimizer-kind adam-pure" in told[0].text and not pure.omitted
    assert not calculate("fine-tuning", model="llama-3-8b", seq=512).omitted


@pytest.mark.parametrize("layout", [{}, {"chips": 8, "zero": 2}, {"chips": 8, "zero": 3}])
def test_training_tells_what_moments_in_8_bits_take_without_master_weights(
    layout: dict[str, int],
) -> None:
    asked = {"model": "llama-3-8b", "seq": 2048, **layout}
    result = calculate("memory", **asked, optimizer_kind="adam-8bit")
    pure = calculate("memory", **asked, optimizer_kind="adam-pure", optimizer_bytes=1)
    told = result.omitted["master_beside_8_bits"]
    assert told.share == pytest.approx(pure["total"] / result["total"] - 1, abs=0.01)
    assert "master_beside_8_bits" not in calculate("memory", **asked).omitted
