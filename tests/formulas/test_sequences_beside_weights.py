"""Weights that a checkpoint keeps wide take room from sequences, by hand for full cards."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from flopbook import calculate
from flopbook.evaluation.results import Result
from flopbook.formulas.published_weights import sequences_beside_wide_weights
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.answers.shapes import parameters

NAME = "sequences_beside_wide_weights"
MXFP4 = 4.25 / 8


def serving(model: str, chip: str, **options: Any) -> Result:
    return calculate("serving", model=model, chip=chip, seq=8192, **options)


def test_gpt_oss_on_one_h100_serves_fewer() -> None:
    """A sequence of 8,192 keeps 18 full layers and 18 of 128 tokens, 2 x 8 x 64 values in bf16.

    All in mxfp4 leaves room for 58 of them; attention, routers and tables in bf16 for 48.
    """
    result = serving("gpt-oss-120b", "h100-sxm", dtype="mxfp4")
    total = parameters(shape("gpt-oss-120b"))["total"]
    experts = 36 * 128 * (3 * 2880 * 2880 + 3 * 2880)
    sequence = 18 * (8192 + 128) * 2 * 8 * 64 * 2
    alike = (80e9 - MXFP4 * total) / sequence
    as_published = (80e9 - MXFP4 * experts - 2 * (total - experts)) / sequence
    assert result["batch_fits"] == int(alike) == 58 and int(as_published) == 48
    told = result.omitted[NAME]
    assert told.of == "batch_fits"
    assert told.share == pytest.approx(as_published / alike - 1, rel=5e-3)


def test_tables_of_a_small_model_take_room_on_a_small_card() -> None:
    """Llama 3 8B in int4 on 8 GB: both tables of 128,256 x 4,096 take 1.6 GB more."""
    result = serving("llama-3-8b", "rtx-4090", dtype="int4", memory="8GB")
    room = 8e9 - parameters(shape("llama-3-8b"))["total"] / 2
    told = result.omitted[NAME]
    assert told.share == pytest.approx(-2 * 128256 * 4096 * 1.5 / room)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("llama-3-70b", {"dtype": "bf16", "tp": 4}),  # as wide as it is published
        ("deepseek-v3", {"dtype": "fp8", "tp": 16}),  # nearly all of it is in fp8
        ("llama-3-8b", {"dtype": "int4"}),  # 2 % of the room
    ],
)
def test_others_lose_no_room(model: str, options: dict[str, Any]) -> None:
    assert NAME not in serving(model, "h100-sxm", **options).omitted


def test_no_more_room_is_lost_than_there_is() -> None:
    result = serving("gpt-oss-20b", "rtx-4090", dtype="mxfp4", memory="13GB")
    assert result.omitted[NAME].share == -1


def test_a_shared_table_is_one() -> None:
    """Llama 3.2 1B looks up and multiplies with the same 128,256 x 2,048 values."""
    result = serving("llama-3.2-1b", "rtx-4090", dtype="int4", memory="2GB")
    room = 2e9 - parameters(shape("llama-3.2-1b"))["total"] / 2
    assert result.omitted[NAME].share == pytest.approx(-128256 * 2048 * 1.5 / room)


@pytest.mark.parametrize(("beside", "wider"), [("bf16", 3), ("fp8", 1)])
@pytest.mark.parametrize("published", ["int4", "mxfp4"])
def test_a_tenth_beside_narrow_experts(published: str, beside: str, wider: int) -> None:
    """Half a byte of each of 1,000 weights is counted, in a memory of 1,000 bytes of which 0.9."""
    share = sequences_beside_wide_weights.function(
        published, 0.9, beside, 1000, 4, 5, "no", 0.5, 1000, 0.9, 500, 3
    )
    assert share == pytest.approx(-wider * 0.1 * 500 / 400)


def test_tables_are_no_more_than_all_weights() -> None:
    """Two tables of 4 x 5 beside a count of 10, which is another one: ten bytes more, not 40."""
    size = sequences_beside_wide_weights.function
    share = size("bf16", 0, "bf16", 10, 4, 5, "no", 1, 100, 1, 10, 3)
    assert share == pytest.approx(-10 / 90)
    assert size("bf16", 0, "bf16", 10, 4, 5, "no", 1, 100, 1, 10, 0) == 0
    assert size("bf16", 0, "bf16", 10, 4, 5, "no", 1, 100, 1, 10, 1) == share
    assert size("bf16", 0, "bf16", 10, 4, inf, "no", 1, 100, 1, 10, 3) == 0


@pytest.mark.parametrize("published", ["bf16", "int4", "mxfp4", "fp8"])
def test_weights_in_sixteen_bits_lack_nothing(published: str) -> None:
    size = sequences_beside_wide_weights.function
    assert size(published, 0.9, "bf16", 1000, 4, 5, "no", 2, 5000, 1, 2000, 3) == 0
    assert size(published, 0.9, "fp8", 1000, 4, 5, "no", 2, 5000, 1, 2000, 3) == 0
