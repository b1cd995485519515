"""A value with its provenance, and the rule that decides which of several values is shown."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.claims import CLAIM_FIELDS, Claim, matches
from flopbook.hardware.choice import BASES, TIERS, choose, rank

SOURCES = {tier: f"{tier}2026x" for tier in TIERS}
TIER_OF = {key: tier for tier, key in SOURCES.items()}
DAY = datetime.date(2026, 11, 21)

CLAIMS = st.builds(
    Claim,
    field=st.just("peak"),
    value=st.none() | st.floats(1, 1e3),
    unit=st.just("TFLOP/s"),
    basis=st.sampled_from(BASES),
    source=st.sampled_from([*SOURCES.values(), "nobody2026x"]),
    as_of=st.dates(datetime.date(2020, 1, 1), DAY),
    known_error=st.booleans(),
)


def claim(**changes: object) -> Claim:
    return Claim(
        **{
            "field": "peak",
            "value": 1.0,
            "unit": "TFLOP/s",
            "source": "vendor2026x",
            "as_of": DAY,
            **changes,
        }
    )


@given(st.lists(CLAIMS, max_size=8), st.randoms(use_true_random=False))
def test_the_choice_does_not_hang_on_the_order(claims: list[Claim], random: object) -> None:
    """Whatever the order, the chosen claim has the same rank; ties alone may change which one it
    is.
    """
    shuffled = list(claims)
    random.shuffle(shuffled)
    chosen, chosen_of_shuffled = choose(claims, TIER_OF), choose(shuffled, TIER_OF)
    assert (chosen is None) == (chosen_of_shuffled is None)
    assert chosen is None or rank(chosen, TIER_OF) == rank(chosen_of_shuffled, TIER_OF)


@given(st.lists(CLAIMS, max_size=8))
def test_the_chosen_is_usable_and_none_is_better(claims: list[Claim]) -> None:
    """ "Known wrong values can never be chosen"; neither can what is not published."""
    usable = [c for c in claims if c.published and not c.known_error]
    chosen = choose(claims, TIER_OF)
    assert (chosen is None) == (not usable)
    assert chosen is None or all(rank(chosen, TIER_OF) <= rank(c, TIER_OF) for c in usable)


@given(CLAIMS, CLAIMS)
def test_a_better_tier_beats_any_date_and_basis(one: Claim, other: Claim) -> None:
    """ "Best source tier, then newest as_of, then printed before derived"."""
    a, b = rank(one, TIER_OF), rank(other, TIER_OF)
    if a[0] == b[0] and one.as_of > other.as_of:
        assert a < b
    if one.source == SOURCES["vendor"] and other.source != SOURCES["vendor"]:
        assert a < b


@given(st.lists(CLAIMS, min_size=1, max_size=6), st.lists(CLAIMS, max_size=4))
def test_worthless_additions_change_nothing(claims: list[Claim], more: list[Claim]) -> None:
    """Adding known errors and unpublished values leaves the choice as it was."""
    added = [c._replace(known_error=True) for c in more] + [c._replace(value=None) for c in more]
    assert choose([*added, *claims], TIER_OF) is choose(claims, TIER_OF)


def test_among_equals_the_first_written_is_shown() -> None:
    first, second = claim(value=1.0), claim(value=2.0)
    assert choose([first, second], TIER_OF) is first and choose([second, first], TIER_OF) is second


def test_the_order_of_tiers_and_bases() -> None:
    tiers = [claim(source=SOURCES[tier]) for tier in TIERS]
    ranks = [rank(source_claim, TIER_OF) for source_claim in tiers]
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks)
    assert TIERS == ("vendor", "submission", "secondary", "press", "community")
    assert choose([claim(basis="derived"), claim(basis="printed", value=2.0)], TIER_OF).value == 2.0
    assert rank(claim(source="unknown2026x"), TIER_OF)[0] == TIERS.index("community")
    assert rank(claim(), {"vendor2026x": "no such tier"})[0] == len(TIERS)


@pytest.mark.parametrize(
    ("changes", "si", "si_unit"),
    [
        ({}, 1e12, "FLOP/s"),
        ({"value": 80, "unit": "GiB"}, 80 * 2**30, "byte"),
        ({"value": 400, "unit": "Gbit/s"}, 50e9, "byte/s"),
        ({"value": None}, None, "FLOP/s"),
        ({"value": "4 nm", "unit": "none"}, None, ""),
        ({"value": None, "unit": "none"}, None, ""),
        ({"value": None, "unit": "date"}, None, ""),
        ({"value": None, "unit": ""}, None, ""),
    ],
)
def test_si_values(changes: dict, si: float | None, si_unit: str) -> None:
    changed = claim(**changes)
    assert changed.si_value == si and changed.si_unit == si_unit
    assert changed.published == (changed.value is not None)


@given(st.floats(1, 1e6))
def test_both_directions_are_two_of_one(value: float) -> None:
    """A figure for both directions is twice the one-way figure; an unstated one is neither."""
    link = claim(field="scaleup_bandwidth", value=value, unit="GB/s", direction="both")
    assert link.one_way * 2 == link.si_value
    assert link._replace(direction="one-way").one_way == link.si_value
    assert link._replace(direction="unstated").one_way is None
    assert link._replace(value=None).one_way is None


def test_conditions_place_and_matches() -> None:
    peak = claim(dtype="bf16", sparsity="2:4", file="a.yaml", line=7)
    assert peak.conditions == {"dtype": "bf16", "sparsity": "2:4"}
    assert peak.place == "a.yaml:7" and claim().place == ""
    assert matches(peak, {"dtype": "bf16", "engine": None}) and not matches(peak, {"dtype": "fp8"})
    assert "file" not in CLAIM_FIELDS and {"value", "unit", "source", "as_of"} <= set(CLAIM_FIELDS)
