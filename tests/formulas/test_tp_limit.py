"""Tensor-parallel limit: moving activations against computing with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import collective, tp_limit

V5P = {"peak": 4.59e14, "link_bandwidth": 90e9}
MANY = 10**6
peaks = st.floats(min_value=1e12, max_value=1e16)
links = st.floats(min_value=1e9, max_value=1e12)
widths = st.integers(1, 10**6)


@given(peaks, links, widths, st.sampled_from(["plain", "gated"]), st.sampled_from(["yes", "no"]))
def test_each_pass_is_just_busy_at_its_ways(
    peak: float, link: float, d_ff: int, ffn: str, regather: str
) -> None:
    """From collectives on a long ring and matrix products counted one by one.

    Batch and width cancel.
    """
    out = tp_limit(peak=peak, link_bandwidth=link, d_ff=d_ff, ffn_kind=ffn, regather=regather)
    tokens, d_model = 4096, 1000
    moved = {"link_bandwidth": link, "bytes": 2 * tokens * d_model, "chips": MANY}
    gather, scatter = (
        collective(**moved, op=op)["bandwidth_seconds"] for op in ("all-gather", "reduce-scatter")
    )
    products = 3 if ffn == "gated" else 2
    forward = products * 2 * tokens * d_model * d_ff / peak
    extra = gather if regather == "yes" else 0
    assert forward / out["forward_degree"] == pytest.approx(gather + scatter, rel=1e-5)
    assert 2 * forward / out["backward_degree"] == pytest.approx(gather + scatter + extra, rel=1e-5)
    assert 3 * forward / out["step_degree"] == pytest.approx(
        2 * (gather + scatter) + extra, rel=1e-5
    )
    assert (
        out["max_tp_degree"]
        == math.floor(out["forward_degree"])
        <= out["step_degree"]
        <= out["backward_degree"]
    )


@given(widths, st.integers(1, 6), st.sampled_from([0.5, 1, 2, 4]))
def test_scales_as_it_should(d_ff: int, axes: int, factor: float) -> None:
    one = tp_limit(**V5P, d_ff=d_ff)["forward_degree"]
    assert tp_limit(**V5P, d_ff=d_ff, axes=axes)["forward_degree"] == pytest.approx(axes * one)
    assert tp_limit(**V5P, d_ff=2 * d_ff)["forward_degree"] == pytest.approx(2 * one)
    narrow = {"peak": V5P["peak"] * factor, "link_bandwidth": 90e9, "bytes_per_param": 2 / factor}
    assert tp_limit(**narrow, d_ff=d_ff)["forward_degree"] == pytest.approx(
        one
    )  # the number format cancels


def test_tpu_v5p_as_printed() -> None:
    """11 ways an axis for F = 28,672 to 30,000, 19 for 50,000, F of 20,000 for 8 ways:
    austin2025training.
    """
    assert tp_limit(**V5P, d_ff=28672)["forward_degree"] == pytest.approx(11.24, rel=1e-3)
    assert [tp_limit(**V5P, d_ff=f)["max_tp_degree"] for f in (28672, 30000, 50000)] == [11, 11, 19]
    assert (
        tp_limit(**V5P, d_ff=20400)["max_tp_degree"] == 8
        and tp_limit(**V5P, d_ff=20399)["max_tp_degree"] == 7
    )
    assert tp_limit(**V5P, d_ff=28672, axes=3)["forward_degree"] == pytest.approx(3 * 28672 / 2550)


def test_the_slide_has_the_sign_the_wrong_way_round() -> None:
    """Slides, line 1332: Y > n F/2550 as a condition for staying busy.

    Below it a chip is busy, above it waits.
    """
    for ways, busy in ((11, True), (12, False)):
        arithmetic, network = 4 * 28672 / (ways * 4.59e14), 4 / 1.8e11
        assert (
            (arithmetic >= network)
            is busy
            is (ways <= tp_limit(**V5P, d_ff=28672)["max_tp_degree"])
        )


def test_a_model_gives_its_width_and_its_gate() -> None:
    """Llama 3 is gated: three matrices on the traffic of two, 56 chips and not 37."""
    gated = calculate("tp-limit", chip="tpu-v5p", model="llama-3-70b")
    assert gated.inputs["ffn_kind"].value == "gated" and gated["max_tp_degree"] == 56
    plain = calculate("tp-limit", chip="tpu-v5p", model="llama-3-70b", ffn_kind="plain")
    assert plain["max_tp_degree"] == 37


def test_across_nodes_all_network_cards_of_a_node_share() -> None:
    """Eight cards of 50 GB/s carry 400 GB/s for a node, where one port carries 450 inside."""
    out = calculate("tp-limit", chip="h100-sxm", model="llama-3-70b", chips=16)
    assert out["across_degree"] == pytest.approx(out["forward_degree"] * 400 / 450)
    assert int(out["across_degree"]) == 17 and out["within"] == "yes"
    assert out["max_tp_degree"] == 8  # the headline is that of a domain
    assert calculate("tp-limit", chip="h100-sxm", model="llama-3-70b", chips=24)["within"] == "no"


def test_the_domain_ends_where_nothing_is_known_beyond() -> None:
    out = calculate("tp-limit", chip="mi350x", d_ff=2**17)
    assert out["forward_degree"] > 8 and out["max_tp_degree"] == 8 and out["across_degree"] is None
    assert any("the scale-up network of amd/mi350x ends at 8 chips" in note for note in out.notes)
    fewer = calculate("tp-limit", chip="mi350x", d_ff=4096)
    assert fewer["max_tp_degree"] < 8
    assert not any("scale-up network of" in note for note in fewer.notes)


def test_a_few_chips_of_a_mesh_have_few_links() -> None:
    """Four MI300X use three of seven links, so the degree is three sevenths."""
    board, four = (calculate("tp-limit", chip="mi300x", d_ff=28672, chips=n) for n in (8, 4))
    assert four["forward_degree"] == pytest.approx(board["forward_degree"] * 3 / 7)


def test_arrays_equal_floats() -> None:
    widths_, axes = np.array([1024.0, 28672.0, 53248.0]), np.array([1.0, 3.0])
    out = tp_limit(**V5P, d_ff=widths_[:, None], axes=axes[None, :])
    for i, width in enumerate(widths_):
        for j, n in enumerate(axes):
            assert {k: v[i, j] for k, v in out.items()} == tp_limit(
                **V5P, d_ff=float(width), axes=float(n)
            )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"d_ff": 0}, "d_ff is 0"),
        ({"d_ff": 0.5}, "d_ff is 0.5"),
        ({"d_ff": math.nan}, "d_ff is not a number"),
        ({"d_ff": 1e10}, "not a plausible size"),
        ({"axes": 0}, "axes is 0"),
        ({"peak": 0}, "peak is 0"),
        ({"link_bandwidth": -1}, "link_bandwidth is -1"),
        ({"bytes_per_param": math.inf}, "bytes_per_param is inf"),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        tp_limit(**{**V5P, "d_ff": 28672, **changed})


def test_unknown_words_and_missing_widths_are_named() -> None:
    with pytest.raises(UnknownName, match="unknown ffn-kind 'gate'; nearest: gated"):
        tp_limit(**V5P, d_ff=1, ffn_kind="gate")
    with pytest.raises(FlopbookError, match="tp-limit needs --d-ff or --model"):
        calculate("tp-limit", chip="h100-sxm")


@pytest.mark.parametrize(
    ("model", "width"),
    [
        ("mixtral-8x7b", 2 * 14336),
        ("deepseek-v4-pro", 6 * 3072 + 3072),
        ("deepseek-v4-flash", 6 * 2048 + 2048),
        ("deepseek-v3", 18432),
    ],
)
def test_experts_of_a_token_are_split_as_one_block(model: str, width: int) -> None:
    """Without a dense block the experts that a token visits compute on what the layer sends."""
    limit = calculate("tp-limit", model=model, chip="h100-sxm")
    by_hand = calculate("tp-limit", d_ff=width, ffn_kind="gated", chip="h100-sxm")
    assert limit["forward_degree"] == pytest.approx(by_hand["forward_degree"])
    assert any("no dense block" in note for note in limit.notes) == (model != "deepseek-v3")
    run = {"chip": "h100-sxm", "batch_tokens": 1e6, "chips": 64}
    assert calculate("mixed-limit", model=model, **run).inputs["d_ff"].value == width


@pytest.mark.parametrize(
    ("model", "width"),
    [
        ("glm-5", (3 * 12288 + 75 * 9 * 2048) // 78),
        ("glm-4.7-flash", (10240 + 46 * 5 * 1536) // 47),
        ("jamba-52b", (14336 + 2 * 14336) // 2),
        # Two dense blocks in each of 28 layers, beside the experts.
        ("longcat-flash", (2 * 12288 + 8 * 2048) // 3),
    ],
)
def test_dense_layers_among_those_with_experts_count_as_many_as_they_are(
    model: str, width: int
) -> None:
    """A few dense layers said for all of GLM-5 that its blocks are a third narrower."""
    run = {"chip": "h100-sxm", "batch_tokens": 1e6, "chips": 64}
    for limit in (
        calculate("tp-limit", model=model, chip="h100-sxm"),
        calculate("mixed-limit", model=model, **run),
    ):
        assert limit.inputs["d_ff"].value == width
        assert any(f"blocks are {width:,} wide on average" in note for note in limit.notes)


def test_a_typed_width_goes_before_that_of_the_model() -> None:
    limit = calculate("tp-limit", model="mixtral-8x7b", chip="h100-sxm", d_ff=14336)
    assert limit.inputs["d_ff"].value == 14336
    own = calculate("tp-limit", model="mixtral-8x7b", chip="h100-sxm")
    shares = [one.inputs["attention_share"].value for one in (limit, own)]
    assert shares[0] == pytest.approx(2 * shares[1])
