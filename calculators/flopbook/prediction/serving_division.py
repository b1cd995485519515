"""How the chips of a row that serves divide a model, from the degrees that the row states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def division(degrees: Mapping[str, Any], chips: float) -> tuple[float, float, float]:
    """How chips divide a model: in each layer, over ranks of attention, and in whole copies."""
    stages, dp = float(degrees.get("pp", 1)), float(degrees.get("dp", 1))
    # A source may count cores of which a chip has several.
    tp = min(float(degrees.get("tp") or max(chips / (stages * dp), 1)), chips)
    ranks = dp if degrees.get("ep", 1) > 1 and tp * dp <= chips else 1.0
    return tp, ranks, max(chips // (tp * ranks * stages), 1.0)


def cores(degrees: Mapping[str, Any], chips: float) -> float:
    """Cores of a chip that each have a rank, so that more of them copy keys and values."""
    return max(float(degrees.get("tp", 1)) / chips, 1.0)
