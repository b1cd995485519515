"""Sizes of what answers of inference leave out, worked on paper for a chip of a few bytes.

An omission is a share of its output: the answer times one plus the share would be right.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas.engine_memory import memory_of_the_engine, memory_of_the_runtime
from flopbook.formulas.fitting_chips import no_such_degree
from flopbook.formulas.inference_parts import software, waits_between_domains
from flopbook.formulas.published_weights import (
    head_in_16_bits,
    tables_in_16_bits,
    weights_as_published,
    weights_beside_experts,
    weights_held_beside_experts,
)
from flopbook.formulas.requests import idle_chips_of_a_node, reading_prompts
from flopbook.formulas.state_widths import (
    narrow_states_of_a_batch,
    narrow_states_of_a_step,
    states_in_16_bits,
)
from flopbook.formulas.unlike_ranks import fullest_rank
from flopbook.quantities.ops import inf

near = pytest.approx


def test_an_engine_keeps_a_twelfth_of_the_memory() -> None:
    """8 of 100 bytes, of the 50 that weights leave: 16 % fewer sequences."""
    size = memory_of_the_engine.function
    assert size(100, 1, 50, 7) == near(-0.16)
    assert size(100, 0.92, 42, 7) == 0
    assert size(100, 1, 95, 1) == -1
    assert size(100, 1, 95, 0) == 0
    assert size(100, 1, 100, 1) == near(-0.08)
    assert size(1, 1, 0.5, 1) == near(-0.16)


def test_too_little_is_free_for_an_engine() -> None:
    size = memory_of_the_runtime.function
    assert size(100, 1, 7) == -1
    assert size(100, 1, 8) == size(100, 1, 9) == 0
    assert size(100, 1, 0) == size(100, 1, -5) == 0
    assert size(100, 0.92, 7) == size(inf, 1, 7) == 0
    assert size(100, 1, 0.5) == -1
    assert size(10, 1, 0.9) == 0


@pytest.mark.parametrize(
    ("count", "power"),
    [(3, 4), (5, 8), (9, 16), (17, 32), (33, 64), (6, 8), (12, 16), (24, 32), (48, 64)],
)
def test_a_degree_is_the_next_power_of_two(count: int, power: int) -> None:
    """64 heads and as many keys: no odd number divides them."""
    size = no_such_degree.function
    assert size(-1, count, 64, 64, 0, 1, 1) == near(power / count - 1)
    assert size(0, count, 64, 64, 0, 1, 1) == 0
    assert size(-1, count, 64, 64, 0, 2, 1) == size(-1, count, 64, 64, 0, 1, 2) == 0
    assert size(-1, count, 64, 64, 0, inf, 1) == near(power / count - 1)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 32, 64, 65, inf])
def test_powers_of_two_and_racks_are_degrees(count: float) -> None:
    assert no_such_degree.function(-1, count, 64, 64, 0, 1, 1) == 0


def test_a_degree_divides_heads_and_their_keys() -> None:
    """Of 12 heads with 4 keys, six ranks would hold two thirds of a key each."""
    size = no_such_degree.function
    assert size(-1, 6, 12, 4, 0, 1, 1) == near(8 / 6 - 1)
    assert size(-1, 6, 12, 3, 0, 1, 1) == size(-1, 3, 12, 6, 0, 1, 1) == 0
    # Latent attention has one vector for all heads.
    assert size(-1, 6, 12, 4, 1, 1, 1) == 0
    assert size(-1, 6, 12, 99, 0, 1, 1) == 0


@pytest.mark.parametrize(
    ("published", "width"), [("fp8", 1), ("int4", 0.5), ("mxfp4", 4.25 / 8), ("bf16", 2)]
)
def test_a_narrow_checkpoint_saves_its_part(published: str, width: float) -> None:
    """Three quarters of the weights are narrow; weights are four fifths of what a chip holds."""
    average = 0.75 * width + 0.25 * 2
    assert weights_as_published.function(published, 0.75, "bf16", 2, 80, 100) == near(
        -(1 - average / 2) * 0.8
    )
    assert weights_as_published.function(published, 0.75, "bf16", 0.5, 80, 100) == 0


@pytest.mark.parametrize(
    ("published", "is_told"), [("mxfp4", 1), ("int4", 1), ("fp8", 0), ("bf16", 0)]
)
def test_what_stands_beside_the_experts_is_wide(published: str, is_told: int) -> None:
    """A tenth of 1,000 weights is in bf16, but for a table of 4 x 5 that is looked up."""
    read = weights_beside_experts.function(published, 0.9, "bf16", 1000, 4, 5, 0.5, 500, 10, 3)
    assert read == near(is_told * 1.5 * 80 / 10 / 3)
    half = weights_beside_experts.function(published, 0.9, "bf16", 1000, 4, 5, 0.5, 250, 10, 3)
    assert half == near(read / 2)
    held = weights_held_beside_experts.function(published, 0.9, "bf16", 0.5, 500, 600)
    assert held == near(is_told * 3 * 0.1 * 500 / 600)
    for wide in (2, 4):
        assert (
            weights_beside_experts.function(published, 0.9, "bf16", 1e3, 4, 5, wide, 2e3, 10, 3)
            == 0
        )
        assert weights_held_beside_experts.function(published, 0.9, "bf16", wide, 2e3, 3e3) == 0
    assert weights_beside_experts.function(published, 1, "bf16", 1e3, 4, 5, 0.5, 500, 10, 3) == 0
    without = weights_beside_experts.function(published, 0.9, "bf16", 1000, 4, inf, 0.5, 500, 10, 3)
    assert without == near(is_told * 1.5 * 100 / 10 / 3)


@pytest.mark.parametrize(("published", "is_told"), [("bf16", 1), ("fp8", 0), ("mxfp4", 0)])
def test_tables_stay_in_sixteen_bits(published: str, is_told: int) -> None:
    """A table of 4 x 5 of 1,000 weights in a byte each: once more as wide."""
    size = tables_in_16_bits.function
    assert size(published, 1000, 4, 5, "no", 1, 1000, 1200) == near(is_told * 0.04 * 1000 / 1200)
    assert size(published, 1000, 4, 5, "yes", 0.5, 500, 600) == near(is_told * 3 * 0.02 * 500 / 600)
    assert size(published, 10, 4, 5, "yes", 1, 10, 20) == near(is_told * 0.5)
    assert size(published, 1000, 4, 5, "no", 2, 2000, 2400) == 0
    assert size(published, 1000, 4, inf, "no", 1, 1000, 1200) == 0
    head = head_in_16_bits.function
    assert head(published, 1000, 4, 5, 1, 1000, 10, 2) == near(is_told * 0.02 * 1000 / 10 / 2)
    assert head(published, 10, 4, 5, 1, 10, 10, 2) == near(is_told * 10 / 10 / 2)
    assert head(published, 1000, 4, 5, 3, 3000, 10, 2) == 0
    assert head(published, 1000, 4, inf, 1, 1000, 10, 2) == 0


def test_states_in_sixteen_bits_are_half_as_wide() -> None:
    """Five sequences with three layers of seven values, in four bytes each: 210 bytes less."""
    assert states_in_16_bits.function(5, 3, 7, 4, 1000) == near(-0.21)
    assert states_in_16_bits.function(5, 3, 7, 2, 1000) == 0
    assert states_in_16_bits.function(5, 3, 7, 1, 1000) == 0
    step = narrow_states_of_a_step.function
    assert step(5, 3, 7, 4, 10, 1, 1, 1, inf, 100) == near(-2 * 210 / 10 / 100)
    assert step(5, 3, 7, 4, 10, 2, 3, 1, inf, 100) == near(-2 * 210 / 6 / 10 / 100)
    assert step(5, 3, 7, 4, 10, inf, inf, 4, inf, 100) == near(-2 * 210 / 4 / 10 / 100)
    assert step(5, 3, 7, 4, 10, 2, 3, 1, 7, 100) == near(-2 * 210 / 7 / 10 / 100)
    batch = narrow_states_of_a_batch.function
    assert batch(5, 3, 7, 4, 1, 1, 1, inf, 90, 400) == near(210 / 100)
    assert batch(5, 3, 7, 4, 2, 3, 1, inf, 90, 160) == near(35 / 35)
    assert batch(5, 3, 7, 4, inf, inf, 5, inf, 0, 50) == near(42 / 8)
    assert batch(5, 3, 7, 4, 1, 1, 1, 10, 0, 42) == near(21 / 21)
    assert batch(5, 3, 7, 4, 1, 1, 1, inf, 0, 210) == 0


def test_software_takes_what_it_takes_over_the_bound() -> None:
    assert software.function(2, 3) == near(0.5)
    assert software.function(inf, inf) == 0


def test_a_degree_beyond_its_domain_waits() -> None:
    """23.2 ms measured for 5.5 ms expected."""
    size = waits_between_domains.function
    assert size(inf, 16, inf, 1, 8) == near(23.2 / 5.5 - 1, rel=0.01)
    assert size(inf, 8, inf, 1, 8) == size(inf, 1, inf, 1, 8) == 0
    assert size(16, inf, inf, 1, 8) == size(32, inf, 2, 1, 8) > 3
    assert size(16, inf, 2, 1, 8) == size(16, inf, inf, 2, 8) == 0
    assert size(inf, inf, inf, 1, 1) == 0


def test_chips_of_a_node_stand_idle() -> None:
    """Of eight, three chips serve twice and two are left; of five, three are left."""
    size = idle_chips_of_a_node.function
    assert size(3, 1, 1, 1, 8) == near(8 / 6 - 1)
    assert size(inf, 5, inf, 1, 8) == near(8 / 5 - 1)
    assert size(inf, 3, 3, 1, 8) == near(16 / 9 - 1)
    assert size(inf, 3, inf, 3, 8) == near(16 / 9 - 1)
    assert size(inf, inf, inf, 1, 8) == size(8, 1, 1, 1, 8) == size(16, 1, 1, 1, 8) == 0
    assert size(3, 1, 1, 1, inf) == 0


def test_prompts_take_time_from_steps() -> None:
    """Three requests a second of 20 tokens each, where steps alone would write 80."""
    size = reading_prompts.function
    assert size(10, 20, 1e15, 3, 80) == near(-0.25)
    assert size(10, 1, 1e15, 40, 80) == near(-0.5)
    assert size(inf, 20, 1e15, 3, 80) == size(10, inf, 1e15, 3, 80) == 0
    assert size(10, 20, inf, 3, 80) == size(10, 20, 1e15, 0, 0) == 0


# Eight experts of 100 bytes each on two ranks, and 200 bytes of other weights on each of them.
RANKS: dict[str, Any] = {
    "params": 1000,
    "compute_params": 200,
    "experts": 8,
    "experts_per_token": 0,
    "tp": 1,
    "dp": inf,
    "ep": 2,
    "chips": inf,
    "peak": 1e30,
    "bandwidth": 10,
    "tokens_per_s": 2,
    "weight_bytes": 600,
    "seconds": 2,
}


def late(**options: Any) -> float:
    return float(fullest_rank.function(**{**RANKS, **options}))


def test_the_fullest_rank_reads_more_than_the_mean() -> None:
    """Of 8 experts a token visits 2: 4 tokens on both ranks leave (3/4)^4 unread."""
    sizes = {"experts_per_token": 2, "compute_params": 400}
    visited = 1 - 0.75**4
    spread = (4 * visited * (1 - visited)) ** 0.5 * 4.5 * (1 - 2**-0.18)
    more = min(spread, 4 - 4 * visited)
    # Routed: 600 met by none of two in eight, so 800 in all, a hundred for each expert.
    assert late(**sizes) == near(more * 100 / 10 / 2)
    assert late(**sizes, bandwidth=20) == near(late(**sizes) / 2)
    assert late(**sizes, tokens_per_s=4, seconds=1) == near(2 * late(**sizes))


def test_no_rank_has_more_experts_than_it_holds_or_tokens_choose() -> None:
    """Many tokens read all experts of each rank; one expert on each of eight is read or not."""
    assert late(experts_per_token=2, compute_params=400, tokens_per_s=1e6) == near(0, abs=1e-9)
    single = {"experts_per_token": 1, "compute_params": 300, "ep": 8, "weight_bytes": 300}
    assert late(**single, tokens_per_s=2.5) == near((7 / 8) ** 5 * 100 / 10 / 2)
    # Were there a twentieth of a token, no rank would read more than a twentieth of an expert.
    few = late(experts_per_token=1, compute_params=300, tokens_per_s=0.025)
    assert few == near((0.05 - 4 * (1 - (7 / 8) ** 0.05)) * 100 / 10 / 2)


def test_arithmetic_that_takes_longer_hides_the_wait() -> None:
    sizes = {"experts_per_token": 2, "compute_params": 400}
    reading = (200 + 400 * (1 - 0.75**4)) / 10
    step = 2 * 400 * 4 / 2  # operations of both ranks together, over two chips
    hidden = late(**sizes, peak=step / (reading + 1))
    assert hidden == near(late(**sizes) - 1 / 2)
    assert late(**sizes, peak=step / 1e6) == 0


@pytest.mark.parametrize(
    "layout",
    [
        {"tp": 1, "dp": 2},
        {"tp": 1, "chips": 2},
        {"tp": inf, "dp": 2, "chips": 2},
        {"tp": inf, "chips": 2},
        {"tp": inf},
    ],
)
def test_a_layout_is_filled_in(layout: dict[str, float]) -> None:
    """Two replicas of one chip, however they are said."""
    sizes = {"experts_per_token": 2, "compute_params": 400, "peak": 60}
    assert late(**sizes, **layout) == near(late(**sizes, dp=2, tp=1, chips=2))


def test_a_rank_of_four_chips_computes_four_times_as_fast() -> None:
    sizes = {"experts_per_token": 2, "compute_params": 400}
    slow, fast = late(**sizes, peak=80), late(**sizes, peak=20, tp=4)
    assert slow == near(fast)
    assert late(**sizes, peak=20, tp=inf, chips=8, dp=2) == near(fast)


def test_dense_models_have_no_fullest_rank() -> None:
    assert late(experts=1, experts_per_token=1, compute_params=1000, ep=1) == 0
    assert late(experts_per_token=2, compute_params=400, seconds=inf, tokens_per_s=0) == 0
