"""Data-parallel limit: the sum of gradients against the backward pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import collective, dp_limit

V5P = {"peak": 4.59e14, "link_bandwidth": 90e9}  # 1.8e11 byte/s on an axis: two links of 90 GB/s
MANY = 10**6  # chips of a ring so long that (X - 1)/X is one
peaks = st.floats(min_value=1e12, max_value=1e16)
links = st.floats(min_value=1e9, max_value=1e12)


@given(peaks, links, st.sampled_from([0.5, 1, 2, 4]), st.floats(min_value=1e3, max_value=1e12))
def test_the_sum_takes_as_long_as_the_backward_pass(
    peak: float, link: float, width: float, weights: float
) -> None:
    """At the limit, from a collective on a long ring and the operations of the passes."""
    out = dp_limit(peak=peak, link_bandwidth=link, bytes_per_param=width)
    summed = collective(bytes=width * weights, chips=MANY, link_bandwidth=link, op="all-reduce")[
        "bandwidth_seconds"
    ]
    tokens = out["tokens_per_chip"]
    assert 4 * weights * tokens / peak == pytest.approx(summed, rel=1e-5)
    assert 6 * weights * out["step_tokens"] / peak == pytest.approx(summed, rel=1e-5)
    assert out["backward_tokens"] == tokens and out["forward_tokens"] == 0


@given(peaks, links, st.integers(2, 64), st.integers(2, 64))
def test_a_pod_is_a_chip_with_the_links_of_all(
    peak: float, link: float, pods: int, chips: int
) -> None:
    """From two levels: what each chip of a pod sends outward, against its backward pass."""
    slow = link / 100
    tokens = dp_limit(peak=peak, link_bandwidth=link, scaleout_bandwidth=slow)["pod_tokens"]
    levels = {
        "topology": "two-level",
        "chips_per_node": chips,
        "scaleout_bandwidth": slow,
        "link_bandwidth": 1e17,
    }
    outward = collective(bytes=2e12, chips=chips * pods, op="all-reduce", **levels)[
        "bandwidth_seconds"
    ]
    assert 4 * 1e12 * (tokens / chips) / peak * (1 - 1 / pods) == pytest.approx(outward, rel=1e-9)


@given(peaks, links, st.integers(1, 6), st.floats(min_value=1, max_value=1e10))
def test_scales_as_it_should(peak: float, link: float, axes: int, batch: float) -> None:
    one = dp_limit(peak=peak, link_bandwidth=link, batch_tokens=batch)
    many = dp_limit(peak=peak, link_bandwidth=link, axes=axes, batch_tokens=batch)
    assert many["tokens_per_chip"] == pytest.approx(one["tokens_per_chip"] / axes)
    assert many["max_chips"] >= one["max_chips"] == math.floor(batch / one["tokens_per_chip"])
    fast = dp_limit(peak=2 * peak, link_bandwidth=2 * link)["tokens_per_chip"]
    assert fast == pytest.approx(one["tokens_per_chip"])
    mixture = dp_limit(peak=peak, link_bandwidth=link, experts=8, experts_per_token=2)[
        "tokens_per_chip"
    ]
    assert mixture == pytest.approx(4 * one["tokens_per_chip"])


def test_tpu_v5p_as_printed() -> None:
    """2,550 tokens on one axis, 850 on three, 7.6M a pod: austin2025training.

    6,275 chips: slides, line 1115.
    """
    assert dp_limit(**V5P, axes=1)["tokens_per_chip"] == pytest.approx(2550)
    assert dp_limit(**V5P, axes=3)["tokens_per_chip"] == pytest.approx(850)
    assert dp_limit(**V5P, axes=3)["tokens_per_chip"] * 8960 == pytest.approx(7.6e6, rel=3e-3)
    assert dp_limit(**V5P, batch_tokens=16e6)["max_chips"] == 6274


def test_pods_as_printed() -> None:
    """76,000 tokens per pod (austin2025training).

    3.8e18 FLOP/s over 5e13 byte/s, 8,192 chips of a host of four.

    The book rounds the pod up by 3 percent, and counts what a host takes in and sends out together,
    25 GB/s. One way that is half, 3.125 GB/s a chip, and the batch must be twice as large: the
    limit holds for one direction.
    """
    printed = dp_limit(**V5P, scaleout_bandwidth=25e9 / 4)["pod_tokens"]
    assert printed == pytest.approx(76_000, rel=0.04)
    assert dp_limit(**V5P, scaleout_bandwidth=25e9 / 8)["pod_tokens"] == 2 * printed


def test_a_chip_brings_its_network_outward() -> None:
    out = calculate("dp-limit", chip="gb200-gpu")
    assert out.inputs["scaleout_bandwidth"].value == 50e9
    assert out["pod_tokens"] == pytest.approx(out.inputs["peak"].value / 50e9)
    assert calculate("dp-limit", chip="h100-sxm")["pod_tokens"] == pytest.approx(19_788, rel=1e-4)
    assert calculate("dp-limit", chip="mi350x")["pod_tokens"] is None


def test_arrays_equal_floats() -> None:
    batches, axes = np.logspace(3, 8, 6), np.array([1.0, 2.0, 3.0])
    out = dp_limit(**V5P, axes=axes[:, None], batch_tokens=batches[None, :])
    for i, n in enumerate(axes):
        for j, batch in enumerate(batches):
            single = dp_limit(**V5P, axes=float(n), batch_tokens=float(batch))
            assert {k: np.broadcast_to(v, (3, 6))[i, j] for k, v in out.items()} == single


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"axes": 0}, "axes is 0"),
        ({"axes": 1.5}, "whole number"),
        ({"peak": -1}, "peak is -1"),
        ({"link_bandwidth": math.nan}, "link_bandwidth is not a number"),
        ({"batch_tokens": 0.5}, "batch_tokens"),
        ({"scaleout_bandwidth": 0}, "scaleout_bandwidth is 0"),
        ({"bytes_per_param": 65}, "bytes_per_param"),
        ({"experts": 2, "experts_per_token": 3}, "cannot visit more experts"),
        ({"peak": 1e400}, "peak is inf"),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        dp_limit(**{**V5P, **changed})


def test_beyond_a_domain_gradients_leave_over_all_cards_of_it() -> None:
    """Eight cards of 50 GB/s share the sum of a domain: a chip needs an eighth of one card's."""
    net = {"peak": 1e15, "link_bandwidth": 450e9, "topology": "switch", "chips": 64}
    found = calculate("dp-limit", **net, chips_per_node=8, scaleout_bandwidth=50e9)
    assert found["across_tokens"] == pytest.approx(1e15 / 50e9 / 8)
    assert found["pod_tokens"] == pytest.approx(1e15 / 50e9)
