"""Expert-parallel limit: the exchange of tokens against the arithmetic of experts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import collective, ep_limit, min_batch

H100 = {"peak": 989.4e12, "link_bandwidth": 450e9, "memory_bandwidth": 3.35e12, "links_per_axis": 1}
V5P = {"peak": 4.59e14, "link_bandwidth": 90e9, "memory_bandwidth": 2.765e12}
DEEPSEEK = {"expert_d_ff": 2048, "experts": 256, "experts_per_token": 8}
D_MODEL, TOKENS = 7168, 4096
sides = st.sampled_from([2, 4, 8, 16])


def ratio(chips: int, network: dict[str, Any], width: int, visited: int, matrices: int) -> float:
    """Arithmetic over exchange of one layer, from two all-to-alls and the experts visited."""
    array = chips * TOKENS * visited * D_MODEL * 2
    exchange = collective(bytes=array, chips=chips, op="all-to-all", **network)["bandwidth_seconds"]
    return TOKENS * visited * matrices * 2 * D_MODEL * width / 459e12 / (2 * exchange)


@given(sides, st.integers(1, 3), st.integers(1, 10**5), st.integers(1, 16), st.sampled_from([2, 3]))
def test_a_torus_is_busy_up_to_its_side(
    side: int, axes: int, width: int, visited: int, matrices: int
) -> None:
    """Even sides, where a token travels exactly a quarter of the ring.

    Experts enough for all chips.
    """
    network = {"link_bandwidth": 90e9, "topology": "torus", "axes": axes}
    kind = "gated" if matrices == 3 else "plain"
    many = {"experts": 10**6, "experts_per_token": visited}
    out = ep_limit(**V5P, expert_d_ff=width, axes=axes, ffn_kind=kind, **many)
    busy = ratio(side**axes, network, width, visited, matrices)
    assert busy == pytest.approx(out["slack"] * 4 / (side * axes), rel=1e-9)
    if abs(busy - 1) > 1e-9:
        assert (busy > 1) == (out["max_chips"] >= side**axes) or out["max_chips"] == 10**6


@given(st.integers(1, 10**5), st.integers(1, 16), st.sampled_from([2, 3]))
def test_at_a_switch_only_the_width_counts(width: int, visited: int, matrices: int) -> None:
    kind = "gated" if matrices == 3 else "plain"
    chip = {**H100, "peak": 459e12}
    out = ep_limit(**chip, expert_d_ff=width, experts=512, experts_per_token=visited, ffn_kind=kind)
    busy = ratio(10**5, {"link_bandwidth": 450e9, "topology": "switch"}, width, visited, matrices)
    assert busy == pytest.approx(out["slack"], rel=1e-4)
    assert out["max_chips"] == (512 if out["slack"] >= 1 else 1)
    assert out["slack"] == pytest.approx(width / out["least_width"])


@given(st.integers(1, 256), st.integers(1, 8))
def test_each_expert_gets_a_minimum_batch(chips: int, visited: int) -> None:
    out = ep_limit(**H100, expert_d_ff=2048, experts=256, experts_per_token=visited, chips=chips)
    batch = min_batch(peak=H100["peak"], bandwidth=H100["memory_bandwidth"])["tokens"]
    assert out["tokens_per_chip"] * chips * visited / 256 == pytest.approx(batch)
    assert out["tokens_per_chip"] > 0 and out["max_chips"] == 256


def test_the_exchange_is_counted_in_each_layer_and_pass() -> None:
    """A peer (mlsysim) counts it once a step.

    232 times too little for the 58 layers of DeepSeek-V3 with experts.
    """
    out = calculate("ep-limit", chip="h100-sxm", model="deepseek-v3", layers=58)
    once = 8 * 7168 * 2
    assert out["bytes_per_token"] == 58 * 2 * 2 * once == 232 * once
    counted = calculate("ep-limit", chip="h100-sxm", model="deepseek-v3")
    assert counted["bytes_per_token"] == out["bytes_per_token"]  # 61 layers, 3 of them dense


def test_deepseek_by_hand() -> None:
    """At 450 GB/s an expert must be 1,466 wide, and DeepSeek's are 2,048.

    At 50 GB/s between nodes, 13,192 wide.
    """
    inside, across = (
        ep_limit(**{**H100, "link_bandwidth": rate}, **DEEPSEEK) for rate in (450e9, 50e9)
    )
    assert (
        inside["least_width"]
        == pytest.approx(2 * 989.4e12 / (3 * 450e9))
        == pytest.approx(1466, rel=1e-3)
    )
    assert across["least_width"] == pytest.approx(13192, rel=1e-3)
    assert (inside["max_chips"], across["max_chips"]) == (256, 1)
    assert inside["tokens_per_chip"] == pytest.approx(989.4e12 / 3.35e12 * 256 / 8 / 256)


def test_arrays_equal_floats() -> None:
    widths, chips = np.array([128.0, 2048.0, 16384.0]), np.array([1.0, 8.0, 64.0, 1024.0])
    shape = {"experts": 256, "experts_per_token": 8, "d_model": 7168, "layers": 58}
    for network in (H100, V5P, {**V5P, "axes": 3}):
        out = ep_limit(**network, **shape, expert_d_ff=widths[:, None], chips=chips[None, :])
        for i, width in enumerate(widths):
            for j, count in enumerate(chips):
                one = ep_limit(**network, **shape, expert_d_ff=float(width), chips=float(count))
                assert {k: np.broadcast_to(v, (3, 4))[i, j] for k, v in out.items()} == one


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"experts_per_token": 300}, "cannot visit more experts"),
        ({"axes": 4}, "--axes 4 is above 3"),
        ({"expert_d_ff": 0}, "expert_d_ff is 0"),
        ({"chips": 0}, "chips is 0"),
        ({"layers": 0.5}, "layers is 0.5"),
        ({"memory_bandwidth": math.nan}, "memory_bandwidth is not a number"),
        ({"peak": 0}, "peak is 0"),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        ep_limit(**{**H100, **DEEPSEEK, **changed})


@pytest.mark.parametrize(("width", "chips"), [(2_048, 8), (200_000, 64)])
def test_experts_leave_their_domain_where_a_card_keeps_up(width: int, chips: int) -> None:
    """Three matrices of 2F operations against four bytes over a card of 50 GB/s."""
    found = calculate(
        "ep-limit",
        expert_d_ff=width,
        experts=64,
        experts_per_token=4,
        peak=1e15,
        link_bandwidth=450e9,
        topology="switch",
        chips_per_node=8,
        scaleout_bandwidth=50e9,
        memory_bandwidth=3e12,
    )
    assert found["slack"] == pytest.approx(6 * width / 1e15 * 450e9 / 4)
    assert found["across_slack"] == pytest.approx(6 * width / 1e15 * 50e9 / 4)
    assert found["max_chips"] == chips


def test_experts_that_are_all_visited_are_counted_too() -> None:
    """Weights that rest told how large an expert is: without any the answer was a traceback."""
    visited = calculate("ep-limit", chip="h100-sxm", model="deepseek-v3", experts="8")
    rest = calculate("ep-limit", chip="h100-sxm", model="deepseek-v3", experts="9")
    assert [note for note in visited.notes if "+66 %" in note]
    assert [note for note in rest.notes if "+66 %" in note]
    with pytest.raises(FlopbookError, match="cannot visit more experts than there are"):
        calculate("ep-limit", chip="h100-sxm", model="deepseek-v3", experts="1")
