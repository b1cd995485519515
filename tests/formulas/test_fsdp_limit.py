"""FSDP limit: gathering the weights against computing with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import dp_limit, fsdp_limit

V5P = {"peak": 4.59e14, "link_bandwidth": 90e9}  # 1.8e11 byte/s on an axis: two links of 90 GB/s
peaks = st.floats(min_value=1e12, max_value=1e16)
links = st.floats(min_value=1e9, max_value=1e12)


@given(peaks, links, st.integers(1, 3), st.floats(min_value=1e3, max_value=1e13))
def test_gathering_takes_as_long_as_the_forward_pass(
    peak: float, link: float, axes: int, weights: float
) -> None:
    """At the limit, from bytes and operations directly and for a layer of any size."""
    tokens = fsdp_limit(peak=peak, link_bandwidth=link, axes=axes)["tokens_per_chip"]
    gathering = 2 * weights / (axes * 2 * link)
    forward = 2 * weights * tokens / peak
    backward_network, backward_compute = 2 * gathering, 2 * forward
    assert forward == pytest.approx(gathering, rel=1e-12)
    assert backward_compute == pytest.approx(backward_network, rel=1e-12)


@given(peaks, links, st.integers(1, 6))
def test_axes_divide_the_tokens(peak: float, link: float, axes: int) -> None:
    one = fsdp_limit(peak=peak, link_bandwidth=link)["tokens_per_chip"]
    assert fsdp_limit(peak=peak, link_bandwidth=link, axes=axes)[
        "tokens_per_chip"
    ] == pytest.approx(one / axes, rel=1e-12)


@given(peaks, links, st.integers(1, 512), st.data())
def test_experts_multiply_the_tokens(peak: float, link: float, experts: int, data: Any) -> None:
    visited = data.draw(st.integers(1, experts))
    dense = fsdp_limit(peak=peak, link_bandwidth=link)["tokens_per_chip"]
    mixture = fsdp_limit(
        peak=peak, link_bandwidth=link, experts=experts, experts_per_token=visited
    )["tokens_per_chip"]
    assert mixture == pytest.approx(dense * experts / visited, rel=1e-12)
    if visited == experts:
        assert mixture == dense


@given(peaks, links, st.floats(min_value=1, max_value=1e10))
def test_the_chips_share_the_batch(peak: float, link: float, batch: float) -> None:
    out = fsdp_limit(peak=peak, link_bandwidth=link, batch_tokens=batch)
    chips, tokens = out["max_chips"], out["tokens_per_chip"]
    assert chips == math.floor(chips) and chips * tokens <= batch * (1 + 1e-15)
    assert (chips + 1) * tokens >= batch * (1 - 1e-15)


@given(st.floats(min_value=1e3, max_value=1e9), st.floats(min_value=1, max_value=10))
def test_a_larger_batch_never_allows_fewer_chips(batch: float, factor: float) -> None:
    few = fsdp_limit(**V5P, batch_tokens=batch)["max_chips"]
    assert fsdp_limit(**V5P, batch_tokens=batch * factor)["max_chips"] >= few


def test_narrower_weights_and_faster_links_lower_the_limit() -> None:
    base = fsdp_limit(**V5P)["tokens_per_chip"]
    assert fsdp_limit(**V5P, bytes_per_param=1)["tokens_per_chip"] == base / 2
    assert fsdp_limit(**{**V5P, "link_bandwidth": 180e9})["tokens_per_chip"] == base / 2
    assert fsdp_limit(**V5P, links_per_axis=1)["tokens_per_chip"] == base * 2


def test_tpu_v5p_as_printed() -> None:
    """2,550 tokens per chip with 1.8e11 byte/s on an axis, 850 on three axes.

    austin2025scaling, chapter on training.

    Ledger rows of slides2025scaling that repeat them: lines 1262 and 1266 of the slides.
    """
    assert fsdp_limit(**V5P)["tokens_per_chip"] == pytest.approx(2550, rel=1e-12)
    assert fsdp_limit(**V5P, axes=3)["tokens_per_chip"] == pytest.approx(850, rel=1e-12)
    assert (
        fsdp_limit(**V5P, axes=3, batch_tokens=16e6)["max_chips"] == 18823
    )  # 16e6 / (2550 / 3) = 18,823


def test_no_batch_given_means_no_limit() -> None:
    assert fsdp_limit(**V5P)["max_chips"] == math.inf


def test_arrays_equal_floats() -> None:
    batches, axes = np.logspace(3, 8, 6), np.array([1.0, 2.0, 3.0])
    out = fsdp_limit(**V5P, axes=axes[:, None], batch_tokens=batches[None, :])
    for i, n in enumerate(axes):
        for j, batch in enumerate(batches):
            single = fsdp_limit(**V5P, axes=float(n), batch_tokens=float(batch))
            assert out["tokens_per_chip"][i, 0] == single["tokens_per_chip"]
            assert out["max_chips"][i, j] == single["max_chips"]


def test_more_visits_than_experts_are_refused() -> None:
    message = "a token cannot visit more experts than there are"
    with pytest.raises(FlopbookError, match=message):
        fsdp_limit(**V5P, experts=8, experts_per_token=9)
    with pytest.raises(FlopbookError, match=message):
        fsdp_limit(**V5P, experts=np.array([8.0, 16.0]), experts_per_token=np.array([2.0, 17.0]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("axes", 0),
        ("axes", 1.5),
        ("axes", 17),
        ("links_per_axis", 2e4),
        ("batch_tokens", 2e15),
        ("experts", 2e6),
        ("peak", 2e24),
        ("link_bandwidth", 2e18),
        ("bytes_per_param", 65),
        ("bytes_per_param", 0.001),
        ("links_per_axis", 0),
        ("batch_tokens", 0.5),
        ("experts", -1),
        ("peak", 1e-320),
        ("link_bandwidth", math.nan),
        ("bytes_per_param", math.inf),
    ],
)
def test_values_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(FlopbookError, match=name):
        fsdp_limit(**{**V5P, name: value})


def test_the_extremes_of_the_range_still_compute() -> None:
    """Nothing between the bounds overflows or divides by zero."""
    most = {
        "axes": 16,
        "links_per_axis": 1e4,
        "batch_tokens": 1e15,
        "experts": 1e6,
        "experts_per_token": 1e6,
    }
    small = fsdp_limit(peak=1e-40, link_bandwidth=1e18, bytes_per_param=0.01, **most)
    large = fsdp_limit(
        peak=1e24, link_bandwidth=1e-40, batch_tokens=1, bytes_per_param=64, experts=1e6
    )
    assert 0 < small["tokens_per_chip"] < large["tokens_per_chip"] < math.inf
    assert math.isfinite(small["max_chips"]) and large["max_chips"] == 0


def test_each_pass_has_its_own_limit() -> None:
    """Forward: one gather against one product.

    Backward: gather and scatter against two; kept weights spare one.
    """
    again, kept = (fsdp_limit(**V5P, regather=word) for word in ("yes", "no"))
    assert (
        again["forward_tokens"]
        == again["backward_tokens"]
        == again["step_tokens"]
        == again["tokens_per_chip"]
    )
    assert kept["forward_tokens"] == kept["tokens_per_chip"] == again["tokens_per_chip"]
    assert kept["backward_tokens"] == pytest.approx(kept["forward_tokens"] / 2)
    assert kept["step_tokens"] == pytest.approx(kept["forward_tokens"] * 2 / 3)


def test_it_moves_half_as_much_again_as_data_parallelism() -> None:
    """12DF bytes a layer and step against 8DF.

    The slide that calls the overhead minimal is wrong about traffic.

    Ledger: line 1174 of the slides. The limits are equal all the same, since the arithmetic of the
    passes differs.
    """
    whole, plain = fsdp_limit(**V5P), dp_limit(**V5P)
    assert whole["step_tokens"] == pytest.approx(1.5 * plain["step_tokens"])
    assert whole["tokens_per_chip"] == plain["tokens_per_chip"]


def test_a_pod_needs_as_much_as_one_chip_with_its_links_outward() -> None:
    here, there = (
        limit(**V5P, scaleout_bandwidth=6.25e9)["pod_tokens"] for limit in (fsdp_limit, dp_limit)
    )
    assert here == there == pytest.approx(4.59e14 / 6.25e9)
    assert fsdp_limit(**V5P)["pod_tokens"] == 0  # nothing is said of pods: left open by the command
    assert calculate("fsdp-limit", **V5P)["pod_tokens"] is None


def test_eight_cards_share_the_gather_of_a_node() -> None:
    """2,474 tokens a chip between nodes: a node needs bC/(2w), 19,788, and has eight chips.

    With 16 million tokens 6,468 chips stay busy, not the 7,277 that NVLink would allow.
    """
    out = calculate("fsdp-limit", chip="h100-sxm", batch_tokens="16M")
    assert out["domain_tokens"] == pytest.approx(2198.7, rel=1e-4)
    assert out["pod_tokens"] == pytest.approx(19_788, rel=1e-4)
    assert out["across_tokens"] == out["tokens_per_chip"] == pytest.approx(19_788 / 8, rel=1e-4)
    assert out["max_chips"] == 6468
    # No batch and no chips: nothing leaves the node.
    assert calculate("fsdp-limit", chip="h100-sxm")["tokens_per_chip"] == out["domain_tokens"]


@given(peaks, links, st.floats(1e6, 1e12), st.integers(1, 512), st.floats(1e3, 1e9))
def test_across_domains_is_never_less_than_within(
    peak: float, link: float, scaleout: float, domain: int, batch: float
) -> None:
    fixed = {"peak": peak, "link_bandwidth": link, "batch_tokens": batch}
    one = fsdp_limit(**fixed)
    two = fsdp_limit(**fixed, chips_per_node=domain, scaleout_bandwidth=scaleout)
    assert two["domain_tokens"] == one["tokens_per_chip"] <= two["across_tokens"]
    shared = max(two["domain_tokens"], two["pod_tokens"] / domain)
    assert two["across_tokens"] == pytest.approx(shared)
    assert two["max_chips"] <= one["max_chips"]
    # A domain that holds them all is the old answer.
    if one["max_chips"] <= domain:
        assert two["max_chips"] == one["max_chips"]
    # Nothing known beyond: the domain is the end.
    alone = fsdp_limit(**fixed, chips_per_node=domain)
    assert alone["max_chips"] == min(one["max_chips"], domain)


def test_chips_are_held_against_the_limit() -> None:
    fixed = {"chip": "h100-sxm", "batch_tokens": "16M"}
    for chips, word in ((8, "yes"), (6464, "yes"), (6472, "no")):
        assert calculate("fsdp-limit", **fixed, chips=chips)["within"] == word
    small = {"chip": "h100-sxm", "batch_tokens": 2300 * 8}
    assert calculate("fsdp-limit", **small, chips=8)["within"] == "yes"
    assert calculate("fsdp-limit", **small, chips=9)["within"] == "no"
    assert calculate("fsdp-limit", **fixed)["within"] is None
    with pytest.raises(FlopbookError, match="16 chips reach beyond a scale-up domain of 8; give"):
        calculate("fsdp-limit", chip="mi350x", chips=16)
    four = calculate("fsdp-limit", chip="mi300x", chips=4)["tokens_per_chip"]
    assert four == pytest.approx(
        calculate("fsdp-limit", chip="mi300x", chips=8)["tokens_per_chip"] * 7 / 3
    )


def test_a_whole_mixture_counts_all_parameters_over_active_ones() -> None:
    """DeepSeek-V3: 671 over 36.6 billion without the look-up; of its expert layers alone 32."""
    dense = calculate("fsdp-limit", chip="h100-sxm")["tokens_per_chip"]
    whole = calculate("fsdp-limit", chip="h100-sxm", model="deepseek-v3")["tokens_per_chip"]
    assert whole / dense == pytest.approx(671 / 36.6, rel=0.002)
    layer = calculate("fsdp-limit", chip="h100-sxm", experts=256, experts_per_token=8)
    assert layer["tokens_per_chip"] / dense == 32
    typed = calculate("fsdp-limit", chip="h100-sxm", model="deepseek-v3", experts=256)
    assert typed["tokens_per_chip"] / dense == 32
    llama = calculate("fsdp-limit", chip="h100-sxm", model="llama-3-70b")["tokens_per_chip"]
    assert llama == dense
    with pytest.raises(FlopbookError, match="belong together"):
        fsdp_limit(**V5P, params=671e9)
    with pytest.raises(FlopbookError, match="is below --active-params"):
        fsdp_limit(**V5P, params=1e9, active_params=2e9)
