"""The rank with most of the visited experts, against draws; and where there is none."""

from __future__ import annotations

import random
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.formulas import decode, get_formula
from flopbook.formulas.unlike_ranks import fullest_rank

# Experts alone, without any other weight: each is a 64th of what a token is not multiplied with.
EXPERTS, VISITED = 64, 4
MODEL: dict[str, Any] = {
    "params": 64e9,
    "compute_params": 4e9,
    "experts": EXPERTS,
    "experts_per_token": VISITED,
    "layers": 1,
    "heads": 1,
    "head_dim": 1,
    "seq": 1,
}
CHIP = {"peak": 1e18, "bandwidth": 1e12}


def share(**layout: Any) -> float:
    asked = {**MODEL, **CHIP, **layout}
    values = {**get_formula("decode").defaults, **decode(**asked), **asked}
    return float(fullest_rank.value(values))


@pytest.mark.parametrize(("ep", "batch"), [(2, 8), (8, 8), (8, 32), (16, 16), (32, 64)])
def test_the_fullest_rank_reads_as_many_as_in_draws(ep: int, batch: int) -> None:
    drawn, tops, means = random.Random(ep), [], []
    for _ in range(400):
        chosen = {expert for _ in range(batch) for expert in drawn.sample(range(EXPERTS), VISITED)}
        counts = [sum(expert % ep == rank for expert in chosen) for rank in range(ep)]
        tops.append(max(counts))
        means.append(len(chosen) / ep)
    late = statistics.mean(tops) / statistics.mean(means)
    step = decode(**MODEL, **CHIP, ep=ep, batch=batch)
    told = 1 + share(ep=ep, batch=batch) * step["seconds"] / step["weight_seconds"]
    assert told == pytest.approx(late, rel=0.1)


@given(st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([1, 2, 4]), st.integers(1, 10**4))
def test_no_rank_has_more_than_there_are(ep: int, tp: int, batch: int) -> None:
    batch = max(batch, ep)
    found = share(ep=ep, tp=tp, batch=batch, heads=4)
    step = decode(**{**MODEL, "heads": 4}, **CHIP, ep=ep, tp=tp, batch=batch)
    all_read = 64e9 * 2 / (ep * tp) / 1e12
    assert 0 <= found * step["seconds"] <= all_read - step["weight_seconds"] + 1e-9
    assert (found == 0) == (ep == 1) or found < 1e-6


def test_arithmetic_hides_what_is_read_late() -> None:
    assert share(ep=8, batch=8, peak=1e9) == 0
    dense = {"experts": 1, "experts_per_token": 1, "compute_params": 64e9}
    assert share(**dense, batch=8) == 0


def test_a_small_batch_over_many_ranks_is_told() -> None:
    """DeepSeek-V3, a sequence on each of 8 ranks: one reads 7 of 32 experts, the fullest 10."""
    run = {"model": "deepseek-v3", "chip": "h200-sxm", "seq": 4096, "dtype": "fp8", "ep": 8}
    few = calculate("decode", **run, batch=8)
    assert few.omitted["fullest_rank"].share == pytest.approx(0.25, abs=0.02)
    assert "--ep 8" in few.omitted["fullest_rank"].text
    assert "fullest_rank" not in calculate("decode", **run, batch=64).omitted
