"""Training memory at its bounds: rounded totals of published models, heads that divide over TP."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook import calculate
from flopbook.errors import FlopbookError


def test_a_published_total_may_be_rounded_below_the_sum_of_its_parts() -> None:
    """Kimi K2 has 1.026 trillion parameters by its shape and "1T" by its makers.

    Weights within 1 % of the former.
    """
    counted = calculate("params", model="kimi-k2")["total"]
    assert calculate("memory", model="kimi-k2", seq=4096)["weights"] == pytest.approx(
        2 * counted, rel=0.01
    )
    with pytest.raises(FlopbookError, match="params is smaller"):
        calculate("memory", model="kimi-k2", seq=4096, params=0.95e12)


@pytest.mark.parametrize(
    ("tp", "fine"), [(1, True), (8, True), (32, True), (3, False), (64, False), (5, False)]
)
def test_chips_of_tensor_parallelism_hold_whole_heads(tp: int, fine: bool) -> None:
    """Llama 3 8B has 32 heads, and 8 of keys and values, which 32 chips hold four times."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory", {}),
        ("kv-cache", {}),
        ("decode", {"chip": "h100-sxm"}),
        ("serving", {"chip": "h100-sxm"}),
        ("prefill", {"chip": "h100-sxm"}),
    ]
    for name, more in calls:
        if fine:
            assert calculate(name, model="llama-3-8b", seq=4096, tp=tp, **more)
        else:
            with pytest.raises(FlopbookError, match=f"--tp {tp} "):
                calculate(name, model="llama-3-8b", seq=4096, tp=tp, **more)


@pytest.mark.parametrize("experts", [2, 3, 8])
def test_parameters_hold_at_least_the_experts(experts: int) -> None:
    """Ten gated layers of width 1,000 with experts of 1,000: 30 million parameters an expert."""
    sizes = {"layers": 10, "d_model": 1000, "heads": 10, "vocab": 1000, "d_ff": 1000, "seq": 64}
    shape: dict[str, Any] = {**sizes, "experts": experts, "experts_per_token": 1}
    least = experts * 30e6 + 2e6
    assert calculate("memory", **shape, params=least)["weights"] > 0
    with pytest.raises(FlopbookError, match="params is smaller"):
        calculate("memory", **shape, params=least / 1.06)
