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
