"""The five figures by which chips of the data centre are compared, and which of them are known.

Dense matrix peak, memory, its bandwidth, scale-up bandwidth one way, and power. `none` is an answer
too: a card without links has no scale-up bandwidth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim, matches
from flopbook.hardware.choice import (
    choose_dense_peak,
    choose_memory,
    choose_one_way,
    choose_power,
)

DATA_CENTRE = "data-centre"
Claims = Sequence[Claim]

Tiers = Mapping[str, str] | None

_NUMBERS: dict[str, Callable[[Claims, Tiers], Claim | None]] = {
    "peak": choose_dense_peak,
    "memory": lambda claims, tiers: choose_memory(claims, "memory", tiers),
    "memory_bandwidth": lambda claims, tiers: choose_memory(claims, "memory_bandwidth", tiers),
    "scaleup_bandwidth": lambda claims, tiers: choose_one_way(
        claims, "scaleup_bandwidth", tiers=tiers
    ),
    "power": choose_power,
}
# What a claim without a number must name where figures exist that do not say it.
_EXACTLY = {
    "peak": {"sparsity": "dense"},
    "scaleup_bandwidth": {"direction": "one-way", "aggregate": "chip"},
}


def is_compared(entry: Entry) -> bool:
    """True for a chip of the data centre that is announced, sold, rented or used today."""
    return entry.computes and entry.is_current and entry.market == DATA_CENTRE


def five_figures(entry: Entry, tiers: Tiers = None) -> dict[str, Claim | None]:
    """The claim that answers each of the five, by field; None where the entry leaves it open.

    A claim without a number is an answer where nothing is printed, or where it says that just this
    is not published: a dense peak beside one of unstated sparsity, one direction of a link beside a
    rate that has none. `tiers` are those of the library in use where none are given.
    """
    return {
        field: number(entry.claims, tiers) or _words(entry.claims, field)
        for field, number in _NUMBERS.items()
    }


def _words(claims: Claims, field: str) -> Claim | None:
    """The claim that says `none` or `not published` of what is asked."""
    # The rate of a vector unit is no answer to the question for a matrix one.
    of_field = [claim for claim in claims if claim.field == field and claim.engine != "vector"]
    is_printed = any(claim.published and not claim.known_error for claim in of_field)
    # Beside a printed value of another kind, only words about exactly this kind are an answer.
    conditions = _EXACTLY.get(field, {}) if is_printed else {}
    for claim in of_field:
        if not claim.published and matches(claim, conditions):
            return claim
    return None
