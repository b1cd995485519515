"""What is on file of chips, in the form that a check asks: names, and facts with their conditions.

The page gets the same as JSON, from `record`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import (
    entry_ids,
    library,
    load_entries,
    load_entry,
    load_head,
    per_library,
    source_tiers,
)
from flopbook.data.prices import Price, prices
from flopbook.factcheck.memories import FIELDS as MEMORY_FIELDS
from flopbook.factcheck.memories import memories_in
from flopbook.factcheck.reading import compact
from flopbook.factcheck.words import BY, FIELDS, KINDS
from flopbook.hardware.choice import choose_memory, rank
from flopbook.hardware.parts import packages, shown_totals

_CHECKED = frozenset(field for fields in FIELDS.values() for field in fields)
_SUMMED = frozenset(("peak", "memory", "memory_bandwidth"))
_SHORTEST, _SHORTEST_FAMILY = 2, 5  # letters of a name
_FORM = re.compile(r"-(?:sxm|pcie|oam)[0-9]*")  # ends a product whose number is said alone
_SERIES = re.compile(r"(?<=[0-9]{2})[a-z]$")  # what ends the number of a series: MI350X
_FEW = 12  # chips of a maker whose name alone says which is meant


class FiledFact(NamedTuple):
    """One claim as a check sees it: an SI value and what makes it true.

    `main` says that a memory is the one that the chip computes from.
    """

    field: str
    value: float
    dtype: str
    engine: str
    sparsity: str
    direction: str
    aggregate: str
    name: str
    tier: str
    type: str
    main: bool
    error: bool
    source: str
    quote: str
    note: str

    @property
    def kind(self) -> str:
        """What the value measures."""
        return next(kind for kind, fields in FIELDS.items() if self.field in fields)


class Subject(NamedTuple):
    """A chip or a system: its facts best first, those in its family, what it is in and made of."""

    id: str
    name: str
    kind: str
    facts: tuple[FiledFact, ...]
    family: tuple[str, ...]
    within: tuple[str, ...]
    parts: tuple[str, ...]


@per_library
def names() -> dict[str, tuple[str, ...]]:
    """Compact name -> ids of what answers to it: ids, products, aliases, names, device names.

    The name of a family stands for all of its chips where nothing else is called so, and that of
    a maker of few chips, as `by NAME`, where a text names no chip.
    """
    chips_of: dict[str, list[str]] = {}
    for entry_id in entry_ids():
        for name in _names_of(load_head(entry_id)):
            short = compact(name)
            if len(short) >= _SHORTEST and not short.isdigit():
                chips_of.setdefault(short, []).append(entry_id)
    for entry_id in entry_ids():
        _add_number(chips_of, entry_id)
    for group in (series(), _families()):
        for name, ids in group.items():
            chips_of.setdefault(name, ids)
    chips_of |= _makers()
    return {name: tuple(dict.fromkeys(ids)) for name, ids in chips_of.items()}


def _add_number(found: dict[str, list[str]], entry_id: str) -> None:
    """The number of a product without its form, if its maker calls no other chip so: P100."""
    maker, _, product = entry_id.partition("/")
    held = found.setdefault(compact(_FORM.sub("", product)), [])
    if not any(other.startswith(f"{maker}/") for other in held):
        held.append(entry_id)


def series() -> dict[str, list[str]]:
    """Compact name of a series -> its chips: MI350 for the MI350X and the MI350P."""
    chips_of: dict[str, list[str]] = {}
    for head in map(load_head, entry_ids()):
        product = compact(head.id.partition("/")[2])
        if head.computes and _SERIES.search(product):
            chips_of.setdefault(_SERIES.sub("", product), []).append(head.id)
    return chips_of


def _families() -> dict[str, list[str]]:
    """Compact name of a family -> its chips; short names are words of other things."""
    chips_of: dict[str, list[str]] = {}
    for head in map(load_head, entry_ids()):
        name = compact(head.family)
        if head.computes and len(name) >= _SHORTEST_FAMILY:
            chips_of.setdefault(name, []).append(head.id)
    return chips_of


def _makers() -> dict[str, list[str]]:
    """Compact name of a maker of few chips -> these."""
    chips_of: dict[str, list[str]] = {}
    for head in map(load_head, entry_ids()):
        if head.computes:
            chips_of.setdefault(f"{BY}{compact(head.vendor)}", []).append(head.id)
    return {name: ids for name, ids in chips_of.items() if len(ids) <= _FEW}


def _names_of(entry: Entry) -> Iterator[str]:
    """All names of an entry, those with a vendor also without."""
    product = entry.id.partition("/")[2]
    for name in (product, entry.name, *entry.aliases, *entry.device_names):
        yield name
        vendor, blank, short_name = name.partition(" ")
        if blank and compact(vendor) == compact(entry.vendor):
            yield short_name


@per_library
def subject(entry_id: str) -> Subject:
    """What is on file of one entry. Raises DataError for a file that cannot be read."""
    entry = load_entry(entry_id)
    tiers = source_tiers()
    claims = sorted(
        (claim for claim in (*entry.claims, *_sums(entry)) if _is_checked(claim)),
        key=lambda claim: rank(claim, tiers),
    )
    claims = [claim for claim in claims if not _says_less(claim, claims)]
    mains = {field: choose_memory(entry.claims, field) for field in ("memory", "memory_bandwidth")}
    tier = {field: claim.tier for field, claim in mains.items() if claim}
    facts = tuple(_fact(claim, tier.get(claim.field)) for claim in claims)
    facts = tuple(_typed(_directed(fact, facts), facts) for fact in facts)
    facts += tuple(_rent(price) for price in _newest_first(entry_id))
    return Subject(
        entry.id, entry.name, entry.kind, facts, _family(entry), _within(entry_id), _parts(entry)
    )


def _sums(entry: Entry) -> list[Claim]:
    """Sums over the parts of a system, of what its maker does not print for the whole."""
    printed = {claim.field for claim in entry.claims if claim.si_value is not None}
    wanted = _SUMMED - printed
    return [claim for claim in shown_totals(entry) if claim.field in wanted]


def _is_checked(claim: Claim) -> bool:
    return claim.field in _CHECKED and claim.si_value is not None and claim.si_unit in KINDS


def _says_less(claim: Claim, claims: Sequence[Claim]) -> bool:
    """Whether another source prints the same rate and says of which sparsity it is."""
    if claim.field != "peak" or claim.sparsity != "unstated":
        return False
    return any(
        other.field == "peak"
        and other.sparsity != "unstated"
        and (other.dtype, other.engine) == (claim.dtype, claim.engine)
        and other.si_value == claim.si_value
        for other in claims
    )


def _fact(claim: Claim, main_tier: str | None) -> FiledFact:
    assert claim.si_value is not None
    return FiledFact(
        claim.field,
        claim.si_value,
        claim.dtype,
        claim.engine,
        claim.sparsity,
        claim.direction,
        claim.aggregate,
        claim.name,
        claim.tier,
        claim.type,
        main_tier is None or claim.tier == main_tier,
        claim.known_error,
        claim.source,
        claim.quote,
        claim.note,
    )


def _directed(fact: FiledFact, facts: Sequence[FiledFact]) -> FiledFact:
    """A rate of which the source names no direction, twice one that is one way, counts both."""
    is_both = fact.direction == "unstated" and any(
        (other.field, other.name, other.direction) == (fact.field, fact.name, "one-way")
        and other.value * 2 == fact.value
        for other in facts
    )
    return fact._replace(direction="both") if is_both else fact


def _typed(fact: FiledFact, facts: Sequence[FiledFact]) -> FiledFact:
    """A fact of a memory whose source names no type has the one that all others name."""
    if fact.type or fact.field not in MEMORY_FIELDS:
        return fact
    named = [one for one in facts if one.type and one.tier == fact.tier and not one.error]
    types = {memories_in(one.type.lower()) for one in named}
    return fact._replace(type=named[0].type) if len(types) == 1 else fact


def _newest_first(entry_id: str) -> list[Price]:
    """What clouds ask for an hour of a chip."""
    own = [price for price in prices() if price.chip == entry_id]
    return sorted(own, key=lambda price: price.date, reverse=True)


def _rent(price: Price) -> FiledFact:
    """The price of an hour of one chip, with who asks it and when."""
    fact = _fact(price.claim, None)
    name = f"{fact.name}, {price.terms}, {price.date.isoformat()}"
    return fact._replace(field="rent", name=name)


def _family(entry: Entry) -> tuple[str, ...]:
    """Other entries of the same kind and family."""
    if not entry.family:
        return ()
    heads = map(load_head, library().entry_ids)
    key = (entry.vendor, entry.family, entry.kind)
    return tuple(
        head.id
        for head in heads
        if head.id != entry.id and (head.vendor, head.family, head.kind) == key
    )


def _within(entry_id: str) -> tuple[str, ...]:
    """The systems of which an entry is a part, directly."""
    systems = []
    for head in map(load_head, entry_ids()):
        if entry_id in [part.ref for part in head.contains]:
            systems.append(head.id)
    return tuple(systems)


def _parts(entry: Entry) -> tuple[str, ...]:
    """The chips inside of a system."""
    return tuple(packages(entry)) if entry.contains and not entry.computes else ()


def record() -> dict[str, object]:
    """Names and subjects as JSON has them, without the quotes: the page links to the chip."""
    load_entries()
    subjects = {name: _compressed(subject(name)) for name in entry_ids()}
    return {"names": names(), "subjects": subjects}


def _compressed(one: Subject) -> list[object]:
    facts = [
        [*fact[:10], int(fact.main), int(fact.error), fact.source, fact.note if fact.error else ""]
        for fact in one.facts
    ]
    return [one.name, one.kind, facts, one.family, one.within, one.parts]
