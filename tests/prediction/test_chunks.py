"""A pipeline with one chunk on each stage, which nobody asked for, says what several would save."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.prediction.asking import predict
from flopbook.prediction.predicted import Prediction

# Dubey et al. (2024), table 4: 16,384 H100, TP 8, PP 16, 16M tokens of 8,192; 126 layers.
HERD: dict[str, Any] = {
    **{"model": "llama-3-405b", "chip": "h100-sxm", "chips": "16384", "batch_tokens": "16Mi"},
    **{"seq": "8192", "tp": "8", "pp": "16"},
}
OPTIONS = ("virtual", "schedule", "recompute", "micro_batch", "zero", "recompute_layers", "batch")


def asked(**more: str) -> Prediction:
    return predict({**dict.fromkeys(OPTIONS), **HERD, **more})


def test_an_open_schedule_says_what_interleaving_saves() -> None:
    """15 of 16 + 15 micro-batches wait with one chunk, 15/8 with eight."""
    plain = asked()
    told = plain.interleaving
    assert told and told.virtual == 8
    chunked = asked(virtual="8")
    assert plain.seconds * (1 + told.share) == pytest.approx(chunked.seconds, rel=0.02)
    assert told.share < -0.3
    record = plain.record()["interleaved"]
    assert record["virtual"] == 8 and record["seconds"] < plain.seconds
    note = told.told(16, plain.parts["bubble"], plain.seconds)
    waiting = 100 * plain.parts["bubble"] / plain.seconds
    assert f"16 stages, which wait {waiting:.0f} % of the step: interleaved, --virtual 8" in note


@pytest.mark.parametrize(
    "more",
    [
        {"schedule": "1f1b"},
        {"virtual": "4"},
        {"pp": "1", "chips": "1024", "zero": "3"},
        # Rounds of 16 micro-batches that 24 do not fill.
        {"chips": "1024", "batch_tokens": str(8192 * 8 * 24)},
    ],
)
def test_a_schedule_that_was_named_or_cannot_be_says_nothing(more: dict[str, str]) -> None:
    assert asked(**more).interleaving is None


def test_many_micro_batches_hide_the_bubble() -> None:
    assert asked(batch_tokens="512Mi").interleaving is None
