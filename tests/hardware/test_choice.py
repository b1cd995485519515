"""Which claim is shown: chip memory before the host's, dense before unstated, launch before
announcement, and one for each quantity.
"""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.claims import BASES, TIERS, Claim
from flopbook.hardware.choice import (
    MEMORY_TIERS,
    POWER_KINDS,
    choose,
    choose_date,
    choose_each,
    choose_memory,
    choose_one_way,
    choose_peak,
    choose_power,
    quantity_of,
    rank,
)

READ = datetime.date(2026, 11, 22)
TIER_OF = {f"{tier}2026a": tier for tier in TIERS}


def claim(field: str, value: Any = 1.0, unit: str = "GB", **conditions: Any) -> Claim:
    """A claim of the vendor, read today."""
    given = {"source": "vendor2026a", "as_of": READ, **conditions}
    return Claim(field, value, given.pop("source"), given.pop("as_of"), unit, **given)


def test_the_chips_own_memory_comes_before_that_of_the_host() -> None:
    """A superchip has the CPU's LPDDR beside its HBM, a card SRAM in front of its DRAM."""
    for better, worse in itertools.pairwise(MEMORY_TIERS):
        pair = [claim("memory", 900.0, tier=worse), claim("memory", 100.0, tier=better)]
        assert choose_memory(pair) is pair[1] and choose_memory(reversed(pair)) is pair[1]
    with_sram = [claim("memory", 2.0, tier="sram"), claim("memory", 256.0, tier="lpddr")]
    assert choose_memory(with_sram) is with_sram[1]
    assert choose_memory(with_sram[:1]) is with_sram[0], "where there is no other"
    assert choose_memory(with_sram, "memory_bandwidth") is None


def test_the_rate_of_the_sram_is_not_that_of_the_memory_outside() -> None:
    """The speedAI240 has 64 GB of LPDDR5 and prints 1 PB/s of its 238 MB of SRAM alone."""
    sram = claim("memory_bandwidth", 1.0, "PB/s", tier="sram")
    inside, outside = claim("memory", 0.2, tier="sram"), claim("memory", 64.0, tier="lpddr")
    assert choose_memory([inside, sram], "memory_bandwidth") is sram
    assert choose_memory([inside, outside, sram], "memory_bandwidth") is None
    both = [outside, sram, claim("memory_bandwidth", 0.1, "TB/s", tier="lpddr")]
    assert choose_memory(both, "memory_bandwidth") is both[2]


@pytest.mark.parametrize(
    ("stated", "asked", "expected"),
    [
        (("unstated", "dense"), "dense", "dense"),
        (("2:4", "unstated"), "dense", "unstated"),
        (("2:4",), "dense", None),
        (("dense", "unstated"), "2:4", None),
        (("dense", "2:4"), "2:4", "2:4"),
    ],
)
def test_dense_before_unstated_and_never_sparse(
    stated: tuple[str, ...], asked: str, expected: str | None
) -> None:
    peaks = [
        claim("peak", 1.0, "TFLOP/s", dtype="bf16", engine="tensor", sparsity=sparsity)
        for sparsity in stated
    ]
    chosen = choose_peak(peaks, "bf16", asked)
    assert (chosen.sparsity if chosen else None) == expected
    assert choose_peak(peaks, "fp8", asked) is None
    assert choose_peak(peaks, "bf16", asked, "vector") is None


def test_launch_before_announcement() -> None:
    announced = claim("announced", "2022-03-22", "")
    launched = claim("launched", "2022-10", "")
    assert choose_date([announced, launched]) is launched
    assert choose_date([announced]) is announced and choose_date([]) is None


def test_the_most_that_a_chip_may_draw_comes_first() -> None:
    powers = [claim("power", 700.0, "W", of=kind) for kind in reversed(POWER_KINDS)]
    assert [choose_power(powers[:count]).of for count in range(1, 5)] == [*reversed(POWER_KINDS)]
    assert choose_power([claim("power", 1.0, "W", of="measured")]).of == "measured"


def test_a_link_needs_a_direction_and_all_links_together() -> None:
    one_link = claim("scaleup_bandwidth", 50.0, "GB/s", direction="both", aggregate="link")
    unstated = claim("scaleup_bandwidth", 9.0, "TB/s", direction="unstated", aggregate="chip")
    both = claim("scaleup_bandwidth", 900.0, "GB/s", direction="both", aggregate="chip")
    assert choose_one_way([one_link, unstated], "scaleup_bandwidth") is None
    chosen = choose_one_way([one_link, unstated, both], "scaleup_bandwidth")
    assert chosen is both and chosen.one_way == 450e9
    assert choose_one_way([both], "scaleout_bandwidth") is None


CLAIMS = st.builds(
    claim,
    st.sampled_from(["memory", "power", "peak"]),
    st.floats(1, 1e6),
    source=st.sampled_from(sorted(TIER_OF)),
    as_of=st.dates(datetime.date(2020, 1, 1), READ),
    basis=st.sampled_from(BASES),
    tier=st.sampled_from(["", *MEMORY_TIERS]),
    known_error=st.booleans(),
)


@given(st.lists(CLAIMS, max_size=8))
def test_one_claim_of_each_quantity_and_none_ranks_above_it(claims: list[Claim]) -> None:
    for chosen in choose_each(claims):
        rivals = [c for c in claims if quantity_of(c) == quantity_of(chosen) and not c.known_error]
        assert chosen in rivals and choose(rivals) is not None
    kept = [quantity_of(chosen) for chosen in choose_each(claims)]
    assert len(kept) == len(set(kept))
    assert set(kept) == {quantity_of(c) for c in claims if not c.known_error}


@given(st.lists(CLAIMS, min_size=1, max_size=6))
def test_the_choice_is_the_smallest_rank_that_counts(claims: list[Claim]) -> None:
    usable = [c for c in claims if not c.known_error]
    chosen = choose(claims, TIER_OF)
    if not usable:
        assert chosen is None
    else:
        assert chosen is min(usable, key=lambda c: rank(c, TIER_OF))


def test_what_is_not_published_is_never_shown() -> None:
    assert choose([claim("memory", None), claim("memory", 1.0, known_error=True)]) is None


@pytest.mark.parametrize("field", ["cache", "sram", "clock", "cores", "price"])
def test_named_values_are_quantities_of_their_own(field: str) -> None:
    """The L1 and the L2 cache are no rivals; two names of one link are."""
    assert quantity_of(claim(field, name="L1")) != quantity_of(claim(field, name="L2"))
    link = {"direction": "both", "aggregate": "chip"}
    assert quantity_of(claim("scaleup_bandwidth", name="NVLink", **link)) == quantity_of(
        claim("scaleup_bandwidth", name="NVLink 4", **link)
    )


def test_a_claim_without_a_source_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="a claim of memory without a source"):
        claim("memory", source="")
