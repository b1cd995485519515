"""FSDP and tensor parallelism together.

The best split, found by trying all, and the batch that it needs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import fsdp_limit, mixed_limit, tp_limit

V5P = {"peak": 4.59e14, "link_bandwidth": 90e9, "axes": 3}
ALPHA = 2550.0  # C/W of one axis
widths = st.integers(10_000, 200_000)
batches = st.floats(min_value=1e4, max_value=1e8)
counts = st.sampled_from([16, 64, 512, 4096])


def traffic(
    x: float, batch: float, chips: float, d_ff: float, shares: tuple[float, float]
) -> float:
    """Time of gathering weights and activations over time of arithmetic, for one layer.

    Term by term.
    """
    d_model, axis, (x_axes, y_axes) = 1000.0, 1.8e11, shares
    weights = 2 * 2 * d_model * d_ff / (chips / x) / (axis * x_axes)
    activations = 2 * 2 * (batch / x) * d_model / (axis * y_axes)
    return (weights + activations) / (4 * batch * d_model * d_ff / (chips * 4.59e14))


@given(batches, counts, widths, st.sampled_from([1, 2]))
def test_no_other_split_has_less_traffic(
    batch: float, chips: int, d_ff: int, tensor_axes: int
) -> None:
    out = mixed_limit(**V5P, d_ff=d_ff, chips=chips, batch_tokens=batch, tensor_axes=tensor_axes)
    shares = (3 - tensor_axes, tensor_axes)
    best = traffic(out["x_opt"], batch, chips, d_ff, shares)
    assert best <= min(
        traffic(x, batch, chips, d_ff, shares) for x in np.geomspace(1, chips, 400)
    ) * (1 + 1e-12)
    assert out["slack"] == pytest.approx(1 / best)
    assert 1 <= out["x_opt"] <= chips and out["x_opt"] * out["y_opt"] == pytest.approx(chips)


@given(counts, widths)
def test_at_the_limit_both_times_are_equal(chips: int, d_ff: int) -> None:
    tokens = mixed_limit(**V5P, d_ff=d_ff)["tokens_per_chip"]
    out = mixed_limit(**V5P, d_ff=d_ff, chips=chips, batch_tokens=tokens * chips)
    inside = 1 < out["x_opt"] < chips
    assert out["slack"] == pytest.approx(1) if inside else out["slack"] < 1.01
    if inside:  # weights and activations then take equally long
        assert out["x_opt"] == pytest.approx(math.sqrt(tokens * chips / d_ff * 2 * chips))


@given(widths, batches)
def test_limits_meet_those_of_each_alone(d_ff: int, batch: float) -> None:
    out = mixed_limit(**V5P, d_ff=d_ff, chips=8, batch_tokens=batch)
    assert out["fsdp_tokens"] == fsdp_limit(**V5P)["tokens_per_chip"]
    assert out["max_chips"] == math.floor(batch / out["tokens_per_chip"])
    # Batch and width enter as FSDP's limit times the ways of tensors that are spent: 4 a/(n_X Y)
    # with Y = n_Y F/a.
    ways = tp_limit(**{**V5P, "axes": 1}, d_ff=d_ff)["forward_degree"]
    assert out["tokens_per_chip"] == pytest.approx(4 * ALPHA / (2 * ways))


@given(widths, st.sampled_from([(1, 1), (2, 1), (3, 1), (3, 2)]))
def test_fsdp_alone_asks_for_less_below_a_width(d_ff: int, axes: tuple[int, int]) -> None:
    """4 a (n_X + n_Y)/(n_X n_Y) on a torus; at a switch both have the one port, and it is 4 a."""
    every, tensor = axes
    given_axes = {**V5P, "axes": every}
    alpha = fsdp_limit(**{**V5P, "axes": 1})["tokens_per_chip"]
    least = 4 * alpha * every / (max(every - tensor, 1) * tensor)
    out = mixed_limit(**given_axes, d_ff=d_ff, tensor_axes=tensor)
    assert out["tokens_per_chip"] / out["fsdp_tokens"] == pytest.approx(least / d_ff)


def test_a_gate_and_a_mixture_by_hand() -> None:
    plain, gated = (
        mixed_limit(**V5P, d_ff=30000, ffn_kind=f, chips=512, batch_tokens=1e6)
        for f in ("plain", "gated")
    )
    wide = mixed_limit(**V5P, d_ff=45000, chips=512, batch_tokens=1e6)
    assert gated == wide and gated["tokens_per_chip"] == pytest.approx(
        plain["tokens_per_chip"] * 2 / 3
    )
    mixture = mixed_limit(
        **V5P, d_ff=30000, chips=512, batch_tokens=1e6, experts=8, experts_per_token=2
    )
    assert mixture["tokens_per_chip"] == pytest.approx(4 * plain["tokens_per_chip"])
    assert mixture["x_opt"] == pytest.approx(plain["x_opt"] / 2)


def test_tpu_v5p_as_printed() -> None:
    """X about 13.9 (exactly 13.7), 400 tokens a chip, 432 for F = 30,000, 940 for F = 13,824:
    austin2025training.
    """
    out = mixed_limit(**V5P, d_ff=32768, chips=64, batch_tokens=48000)
    assert out["x_opt"] == pytest.approx(13.69, rel=1e-3) and out["x_opt"] == pytest.approx(
        13.9, rel=0.02
    )
    assert out["tokens_per_chip"] == pytest.approx(400, rel=0.01) and out[
        "fsdp_tokens"
    ] == pytest.approx(850)
    assert mixed_limit(**V5P, d_ff=30000)["tokens_per_chip"] == pytest.approx(433.5)
    # A narrow block: mixing is worse than FSDP alone, as the book finds for Llama 2 13B.
    narrow = mixed_limit(**V5P, d_ff=13824)
    assert narrow["tokens_per_chip"] == pytest.approx(940, rel=2e-3)
    assert narrow["tokens_per_chip"] > narrow["fsdp_tokens"]


def test_the_figure_of_the_slides_mixes_two_widths() -> None:
    """Slides, line 1325: the curve for F = 30k crosses one at 397 to 400 tokens.

    So does F = 32,768; 433.5 is right.
    """
    assert mixed_limit(**V5P, d_ff=32768)["tokens_per_chip"] == pytest.approx(397, rel=1e-3)
    assert mixed_limit(**V5P, d_ff=30000)["tokens_per_chip"] > 430


def test_one_axis_is_shared() -> None:
    """At a switch both take turns at the port: no axis is divided."""
    out = calculate("mixed-limit", chip="h100-sxm", d_ff=28672, chips=64, batch_tokens="4M")
    alpha = out.inputs["peak"].value / 450e9
    assert out["domain_tokens"] == pytest.approx(4 * alpha**2 / 28672)


def test_across_nodes_every_chip_sends_its_share_of_the_weights() -> None:
    """However the chips of a node split a layer, together they gather all of it from outside."""
    out = calculate("mixed-limit", chip="h100-sxm", d_ff=28672, chips=64, batch_tokens="4M")
    fsdp = calculate("fsdp-limit", chip="h100-sxm", chips=64, batch_tokens="4M")
    assert out["tokens_per_chip"] == out["across_tokens"] == fsdp["across_tokens"] == 2473.5
    assert out["y_opt"] <= 8
    many = calculate("mixed-limit", chip="h100-sxm", d_ff=28672, chips=4096, batch_tokens="4M")
    assert many["slack"] == pytest.approx(4e6 / 4096 / 2473.5) and many["within"] == "no"
    # Tensor parallelism ends with the node, where a better split would go on.
    wide = calculate("mixed-limit", chip="h100-sxm", d_ff=2**20, chips=4096, batch_tokens="4M")
    assert wide["y_opt"] == 8


def test_what_is_not_given_is_left_open() -> None:
    out = calculate("mixed-limit", chip="tpu-v5p", d_ff=32768)
    assert [name for name, value in out.items() if value is None] == [
        "x_opt",
        "y_opt",
        "slack",
        "max_chips",
        "within",
    ]
    some = calculate("mixed-limit", chip="tpu-v5p", d_ff=32768, batch_tokens="16M")
    assert some["x_opt"] is None and some["max_chips"] > 0


def test_arrays_equal_floats() -> None:
    many, chips = np.logspace(3, 8, 6), np.array([8.0, 64.0, 4096.0])
    out = mixed_limit(**V5P, d_ff=28672, batch_tokens=many[:, None], chips=chips[None, :])
    for i, batch in enumerate(many):
        for j, n in enumerate(chips):
            one = mixed_limit(**V5P, d_ff=28672, batch_tokens=float(batch), chips=float(n))
            assert {k: np.broadcast_to(v, (6, 3))[i, j] for k, v in out.items()} == one


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tensor_axes": 3}, "leaves no axis for FSDP"),
        ({"axes": 1, "tensor_axes": 2}, "leaves no axis for FSDP"),
        ({"chips": 0}, "chips is 0"),
        ({"chips": 1.5}, "whole number"),
        ({"d_ff": -1}, "d_ff is -1"),
        ({"batch_tokens": math.nan}, "batch_tokens is not a number"),
        ({"experts": 2, "experts_per_token": 3}, "visit more"),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        mixed_limit(**{**V5P, "d_ff": 28672, **changed})
