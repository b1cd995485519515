"""Budgets, runs, failures and power, from the papers' own definitions.

Hoffmann et al. 2022 (approach 3) and Besiroglu et al. 2024 for the loss surface, Kaplan et al. 2020
for the power law of compute; Young 1974 for checkpoints; Leviathan et al. 2023 for drafts.
"""

from __future__ import annotations

import math

# E, A, B, alpha, beta of loss = E + A / N^alpha + B / D^beta.
SURFACES = {
    "hoffmann2022-rounded": (1.69, 406.4, 410.7, 0.34, 0.28),
    "besiroglu2024": (1.8172, 482.01, 2085.43, 0.3478, 0.3658),
}


def best_size(flop: float, fit: str) -> dict[str, float]:
    """The lowest loss along 6ND = C, found by narrowing in on N, not by the closed form."""
    floor, a, b, alpha, beta = SURFACES[fit]

    def loss(log_params: float) -> float:
        params = math.exp(log_params)
        return floor + a / params**alpha + b / (flop / 6 / params) ** beta

    low, high = math.log(1e3), math.log(1e18)
    for _ in range(300):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if loss(left) < loss(right):
            high = right
        else:
            low = left
    params = math.exp((low + high) / 2)
    tokens = flop / 6 / params
    return {
        "params": params,
        "tokens": tokens,
        "loss": loss(math.log(params)),
        "tokens_per_param": tokens / params,
    }


def kaplan_params(flop: float) -> float:
    """N = 1.3e9 x C^0.73, the compute in PF-days (table 6)."""
    return float(1.3e9 * (flop / (1e15 * 86400)) ** 0.73)


def drafted(acceptance: float, tokens: int, time: float = 0, flop: float = 0) -> dict[str, float]:
    """Expected tokens of a pass as a sum: the i-th comes if all before it were accepted."""
    expected = sum(acceptance**i for i in range(tokens + 1))
    return {
        "tokens_per_step": expected,
        "speedup": expected / (tokens * time + 1),
        "operations": (tokens * flop + tokens + 1) / expected,
    }


def run_time(work: float, chips: float, peak: float, mfu: float) -> float:
    """Seconds of a run."""
    return work / (chips * peak * mfu)


def checkpoints(
    mtbf: float, save: float, restart: float, interval: float | None = None
) -> dict[str, float]:
    """First-order losses: a save in each interval, half an interval and a restart each failure."""
    best = math.sqrt(2 * save * mtbf)
    between = interval or best
    return {
        "mtbf": mtbf,
        "failures_per_hour": 3600 / mtbf,
        "best_interval": best,
        "saving": save / between,
        "repeating": between / 2 / mtbf,
        "restarting": restart / mtbf,
    }
