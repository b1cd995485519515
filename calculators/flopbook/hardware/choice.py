"""Which claim of a quantity is shown: the only place that decides.

Several sources state the same quantity, and a chip has several memories, peaks and dates. Command
line, pages, prose, ledger, export and calculators all ask here, so they show the same value.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from flopbook.data.claims import BASES, TIERS, Claim, matches
from flopbook.data.library import source_tiers

# The memory that the chip computes from comes first: a superchip has the CPU's LPDDR beside its
# HBM, and an inference card has SRAM in front of its DRAM.
MEMORY_TIERS = ("hbm", "gddr", "lpddr", "ddr", "unstated")
# Formats of matrix units, the widest that models are trained and served in first.
MATRIX_FORMATS = (
    *("bf16", "fp16", "fp8", "hif8", "mxfp8", "bfp8", "int8", "mxint8"),
    *("mx9", "fp6", "mx6", "mxfp6", "fp4", "nvfp4", "mxfp4", "bfp4", "int4", "mxint4"),
)
# Which power stands for a chip where several are published: the most that it may draw.
POWER_KINDS = ("maximum", "design", "board", "provisioned")
# Which date is a product's year: people could buy it at its launch.
DATE_FIELDS = ("launched", "announced")
# Fields whose claims have a name because one chip has several of them, none of which is another.
_NAMED_FIELDS = (
    *("cache", "sram", "clock", "cores", "price", "ports", "port_bandwidth"),
    *("chip_to_chip_bandwidth", "die_to_die_bandwidth", "fabric_bandwidth"),
)
_CONDITIONS = operator.attrgetter(
    "field",
    "per",
    "dtype",
    "engine",
    "sparsity",
    "tier",
    "direction",
    "aggregate",
    "of",
    "shape",
    "point",
)
Quantity = tuple[str, ...]
# A total this close to the sum is the sum: what it is a sum of is rounded too.
SAME_TOTAL = 0.005
# How far a total of few digits may lie from the sum that it rounds: 1.4 from 1.447, 6 from 5.76.
MOST_ROUNDING = 0.05
# What a system's own figure shares with the sum of its parts; both are of the whole system.
_OF_TOTAL = ("field", "per", "dtype", "engine", "sparsity", "tier")


def quantity_of(claim: Claim) -> Quantity:
    """What a claim is about: two claims of the same quantity can only disagree."""
    return (*_CONDITIONS(claim), claim.name if claim.field in _NAMED_FIELDS else "")


def rank(claim: Claim, tiers: Mapping[str, str]) -> tuple[int, int, int]:
    """Sort key of the choice; the smallest is shown.

    Source tier first, then the newest reading, then printed before derived. `tiers` maps a source's
    key to its tier; a source without one is taken for a community's.
    """
    tier = tiers.get(claim.source, "community")
    by_tier = TIERS.index(tier) if tier in TIERS else len(TIERS)
    return by_tier, -claim.as_of.toordinal(), BASES.index(claim.basis)


def choose(claims: Iterable[Claim], tiers: Mapping[str, str] | None = None) -> Claim | None:
    """The claim to show: the best ranked that is published and not a known error.

    Among equals the first written wins. Returns None when nothing qualifies. `tiers` are those of
    the library in use where none are given.
    """
    known_tiers = source_tiers() if tiers is None else tiers
    usable = [claim for claim in claims if claim.published and not claim.known_error]
    return min(usable, key=lambda claim: rank(claim, known_tiers), default=None)


def choose_each(claims: Iterable[Claim]) -> list[Claim]:
    """The claim to show of every quantity, in the order in which the quantities are written."""
    groups: dict[Quantity, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(quantity_of(claim), []).append(claim)
    chosen_claims = (choose(group) for group in groups.values())
    return [claim for claim in chosen_claims if claim is not None]


def choose_peak(
    claims: Iterable[Claim],
    dtype: str,
    sparsity: str = "dense",
    engine: str = "tensor",
    tiers: Mapping[str, str] | None = None,
) -> Claim | None:
    """The peak of a number format; where a dense one is asked for, an unstated one will do.

    A sparse peak is never taken for a dense one. The peaks of a chip that are shown together belong
    to one operating point: one with a `point` of its own is taken where there is no other.
    """
    peaks = [claim for claim in claims if claim.field == "peak"]
    accepted = ("dense", "unstated") if sparsity == "dense" else (sparsity,)
    for stated in accepted:
        conditions = {"dtype": dtype, "engine": engine, "sparsity": stated}
        of_format = [peak for peak in peaks if matches(peak, conditions)]
        claim = choose(at_usual_point(of_format), tiers)
        if claim is not None and claim.si_value is not None:
            return claim
    return None


def at_usual_point(claims: Iterable[Claim]) -> list[Claim]:
    """The claims that name no operating point of their own, or all where each names one."""
    listed = list(claims)
    return [claim for claim in listed if not claim.point] or listed


def choose_dense_peak(
    claims: Iterable[Claim], tiers: Mapping[str, str] | None = None
) -> Claim | None:
    """The dense peak of the widest format that a chip multiplies matrices in.

    None where that format is printed without a word on sparsity: a narrower one is no substitute.
    """
    peaks = [claim for claim in claims if claim.field == "peak"]
    widest = (choose_peak(peaks, dtype, tiers=tiers) for dtype in MATRIX_FORMATS)
    claim = next((peak for peak in widest if peak is not None), None)
    return claim if claim is not None and claim.sparsity == "dense" else None


def choose_measured_rate(claims: Iterable[Claim], dtype: str) -> Claim | None:
    """The highest rate at which dense products of a format were measured, of any shape."""
    measured = [
        claim
        for claim in claims
        if (claim.field, claim.dtype) == ("measured_matmul", dtype) and claim.sparsity == "dense"
    ]
    return max(choose_each(measured), key=lambda claim: claim.si_value or 0.0, default=None)


def choose_memory(
    claims: Iterable[Claim], field: str = "memory", tiers: Mapping[str, str] | None = None
) -> Claim | None:
    """The main memory of a chip or its bandwidth; host memory and SRAM only without one.

    The bandwidth of an SRAM is none of a chip whose memory is outside: who divides the 64 GB of a
    card by the rate of its SRAM is off by a thousand.
    """
    given = list(claims)
    memories = [claim for claim in given if claim.field == field]
    for tier in MEMORY_TIERS:
        claim = choose((memory for memory in memories if memory.tier == tier), tiers)
        if claim is not None:
            return claim
    if field == "memory_bandwidth" and _is_outside(choose_memory(given, tiers=tiers)):
        return None
    return choose(memories, tiers)


def _is_outside(memory: Claim | None) -> bool:
    return memory is not None and memory.published and memory.tier in MEMORY_TIERS


def choose_one_way(
    claims: Iterable[Claim],
    field: str,
    aggregate: str = "chip",
    tiers: Mapping[str, str] | None = None,
) -> Claim | None:
    """The bandwidth of all links of a chip, or of a domain, of which one direction is known."""
    of_field = (claim for claim in claims if (claim.field, claim.aggregate) == (field, aggregate))
    return choose((claim for claim in of_field if claim.one_way is not None), tiers)


def choose_total(
    total: Claim, claims: Iterable[Claim], tiers: Mapping[str, str] | None = None
) -> Claim:
    """What a system is shown to have: the sum of its parts, or what its vendor prints instead.

    The vendor's own figure wins where it is not the sum, rounded. Where the vendor prints several,
    one that agrees keeps the sum: it has the digits that rounding took.
    """
    known_tiers = source_tiers() if tiers is None else tiers
    own = [
        claim
        for claim in claims
        if is_of_total(claim, total)
        and known_tiers.get(claim.source) == TIERS[0]
        and claim.basis in ("printed", "derived")
    ]
    if any(_rounds(claim, total) for claim in own):
        return total
    return choose(own, known_tiers) or total


def is_of_total(claim: Claim, total: Claim) -> bool:
    """True when a figure of a system can be held against the sum of its parts."""
    if claim.si_value is None or claim.known_error or claim.aggregate not in ("", "domain"):
        return False
    is_same_way = claim.direction == total.direction or None not in (claim.one_way, total.one_way)
    return is_same_way and all(getattr(claim, name) == getattr(total, name) for name in _OF_TOTAL)


def _rounds(claim: Claim, total: Claim) -> bool:
    """True when a figure is the sum, to the digits in which it is printed."""
    value, exact = claim.si_value or 0.0, total.si_value or 0.0
    if claim.one_way is not None and total.one_way is not None:
        value, exact = claim.one_way, total.one_way
    distance = abs(value / exact - 1) if exact else 1.0
    if not SAME_TOTAL < distance <= MOST_ROUNDING:
        return distance <= SAME_TOTAL
    scale = value / claim.value if isinstance(claim.value, (int, float)) else 1.0
    return abs(value - exact) <= scale * _half_digit(claim) * (1 + 1e-9)


def _half_digit(claim: Claim) -> float:
    """Half a unit of the last digit of a number as it is printed; trailing zeros count as none."""
    from decimal import Decimal  # takes longer to load than all that is chosen for most commands

    digits = Decimal(repr(claim.value)).normalize()
    exponent = digits.as_tuple().exponent
    return 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)


def choose_power(claims: Iterable[Claim], tiers: Mapping[str, str] | None = None) -> Claim | None:
    """The power: the vendor's maximum first, else the first kind that is published."""
    powers = [claim for claim in claims if claim.field == "power"]
    for kind in POWER_KINDS:
        claim = choose((power for power in powers if power.of == kind), tiers)
        if claim is not None:
            return claim
    return choose(powers, tiers)


def choose_date(claims: Iterable[Claim]) -> Claim | None:
    """The launch, else the announcement."""
    dates = [claim for claim in claims if claim.field in DATE_FIELDS]
    for field in DATE_FIELDS:
        claim = choose(date for date in dates if date.field == field)
        if claim is not None:
            return claim
    return None
