"""What a node, system or pod is made of, and the totals that follow from its parts.

A number lives on one level only: a system has no memory of its own, it has that of its chips. Where
its vendor prints another total, that one is shown and the sum stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from flopbook.data.accelerators import Entry, Part
from flopbook.data.claims import Claim
from flopbook.data.library import load_entry
from flopbook.errors import FlopbookError
from flopbook.hardware.choice import at_usual_point, choose, choose_total

# An entry by its id; the reader of the library in use, unless a caller holds the entries already.
Load = Callable[[str], Entry]

# From a pod down to a die there are six.
MOST_LEVELS = 12
# Fields of which a system has as much as its chips together.
ADDITIVE_FIELDS = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth")
# What a chip is mounted on to be joined with others.
_CARRIERS = ("card",)


class Total(NamedTuple):
    """What a system has of a quantity: the sum of its parts, and which claim is shown for it."""

    of_parts: Claim
    shown: Claim

    @property
    def is_sum(self) -> bool:
        """True where the sum is shown, not a figure of the vendor."""
        return self.shown is self.of_parts


def packages(entry: Entry, load: Load = load_entry) -> dict[str, int]:
    """The packages inside an entry, with how many of each, through all levels."""
    return _Counting(load).packages(entry, ())


class _Counting:
    """Counts what is inside of entries, each of them once however many others contain it."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._known: dict[str, dict[str, int]] = {}

    def packages(self, entry: Entry, path: tuple[str, ...]) -> dict[str, int]:
        if entry.id in self._known:
            return self._known[entry.id]
        if entry.id in path:
            raise FlopbookError(f"{entry.id} contains itself: {' > '.join((*path, entry.id))}")
        if len(path) >= MOST_LEVELS:
            raise FlopbookError(f"{path[0]} has parts in more than {MOST_LEVELS} levels")
        counts: dict[str, int] = {}
        for part in entry.contains:
            inner = self._load(part.ref)
            within = {part.ref: 1} if inner.computes else self.packages(inner, (*path, entry.id))
            for package_id, count in within.items():
                counts[package_id] = counts.get(package_id, 0) + count * part.number
        self._known[entry.id] = counts
        return counts


def totals(
    entry: Entry, load: Load = load_entry, tiers: Mapping[str, str] | None = None
) -> tuple[Claim, ...]:
    """Derived totals of a card, node, system or pod: count x the chosen value of its package.

    Only for entries with one kind of accelerator package; each total cites the claim that it came
    from. Packages and the tiers of sources are those of the library in use where none are given.
    """
    if entry.computes or not entry.contains:
        return ()
    accelerators = []
    for package_id, count in packages(entry, load).items():
        package = load(package_id)
        if any(claim.field == "peak" for claim in package.claims):
            accelerators.append((Part(package_id, count), package))
    if len(accelerators) != 1:
        return ()
    part, package = accelerators[0]
    # The links of a chip that is alone in its computer lead nowhere.
    is_alone = part.number == 1 and entry.kind not in _CARRIERS
    claims = _additive_claims(package, tiers)
    added = [c for c in claims if not (is_alone and c.field == "scaleup_bandwidth")]
    return tuple(_times(claim, part, entry) for claim in added)


def settled_totals(
    entry: Entry, load: Load = load_entry, tiers: Mapping[str, str] | None = None
) -> tuple[Total, ...]:
    """Every sum of the parts with the claim that is shown; a sum that is not says which is."""
    sums = totals(entry, load, tiers)
    return tuple(_settled(total, choose_total(total, entry.claims, tiers)) for total in sums)


def shown_totals(entry: Entry) -> tuple[Claim, ...]:
    """The claim that is shown for each total of a system, the vendor's or the sum."""
    by_identity = {id(total.shown): total.shown for total in settled_totals(entry)}
    return tuple(by_identity.values())


def reason_of(printed: Claim) -> str:
    """Why a vendor's total is not the sum of the parts; empty where its claim does not say."""
    return printed.exceptions.get("total", "") or printed.note


def _settled(total: Claim, shown: Claim) -> Total:
    if shown is total:
        return Total(total, total)
    words = f"{shown.value:g} {shown.unit} is what the vendor has for the {shown.per}"
    overruled = total._replace(conflicts_with=words, note=reason_of(shown))
    return Total(overruled, shown)


def _additive_claims(package: Entry, tiers: Mapping[str, str] | None) -> Iterator[Claim]:
    """The chosen claims of a package that add up over packages, one for each set of conditions."""
    groups: dict[tuple[str, ...], list[Claim]] = {}
    for claim in package.claims:
        adds_up = claim.field in ADDITIVE_FIELDS and claim.aggregate in ("", "chip")
        if not adds_up or claim.si_value is None:
            continue
        conditions = (claim.dtype, claim.engine, claim.sparsity, claim.tier)
        key = (claim.field, *conditions, claim.name, claim.direction)
        groups.setdefault(key, []).append(claim)
    for group in groups.values():
        chosen_claim = choose(at_usual_point(group), tiers)
        if chosen_claim is not None:
            yield chosen_claim


def _times(claim: Claim, part: Part, whole: Entry) -> Claim:
    assert isinstance(claim.value, (int, float))
    return claim._replace(
        value=claim.value * part.number,
        per=whole.kind,
        basis="derived",
        formula=f"{part.number} x {claim.value:g} {claim.unit}",
        derived_from=f"{part.ref} {claim.field}",
        aggregate="domain" if claim.aggregate else "",
        at_power_w=None,
        at_clock_mhz=None,
        quote="",
        locator="",
        note=f"of an operating point of its own: {claim.point}" if claim.point else "",
        point="",
        conflicts_with="",
    )
