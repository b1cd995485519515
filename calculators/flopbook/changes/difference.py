"""What changed between two snapshots of the data: entry, field, old, new, source.

Claims are matched by what they are about, then by source and value; a moved line is no change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.changes.unreadable import comparable, unread, unreadable
from flopbook.data.claims import CONDITIONS
from flopbook.evaluation.answers import counted
from flopbook.quantities.units import percent

# A number that its own source is said to have printed differently by more than this is a problem.
LARGE = 0.10
MEND = (
    "name the new source; if ours was misread, keep the old claim with known_error: true and a "
    "note, and add yours"
)
_ABOUT = ("field", *CONDITIONS, "per", "type", "topology")
_DERIVED = ("chosen", "si_value")  # follows from the claims of an entry together
# What is one quantity for the rule of choice; flopbook.hardware.choice.quantity_of reads a Claim.
_SAME = (
    *("field", "per", "dtype", "engine", "sparsity"),
    *("tier", "direction", "aggregate", "of", "shape"),
)
_NAMED = ("cache", "sram", "clock", "cores", "price")
# With one of these another value is stated; all else is a reading of the same one.
_VALUE_FIELDS = ("value", "unit", "source")
Snapshot = Mapping[str, Any]
Record = Mapping[str, Any]


class Change(NamedTuple):
    """One difference: how is `added`, `removed`, `changed`, `reread` or `unreadable`.

    `relative` is the change of a number; `also` names what changed beside the value.
    """

    kind: str
    id: str
    field: str
    how: str
    old: Any = None
    new: Any = None
    relative: float | None = None
    old_source: str = ""
    new_source: str = ""
    also: tuple[str, ...] = ()


class Difference(NamedTuple):
    """All changes: of what is written, chosen and computed; and the problems among them."""

    written: tuple[Change, ...]
    chosen: tuple[Change, ...]
    calculators: tuple[Change, ...]
    ledger: tuple[Change, ...]
    problems: tuple[str, ...]
    unread: tuple[str, ...]

    def __bool__(self) -> bool:
        return any((self.written, self.chosen, self.calculators, self.ledger, self.unread))


def difference(old: Snapshot, new: Snapshot) -> Difference:
    """What changed from the old snapshot to the new one."""
    old, new = comparable(old, new)
    written = [
        *(Change(kind, name, "", "unreadable") for kind, name in unreadable(new)),
        *_records("accelerator", old["entries"], new["entries"]),
        *_vendors(old["vendors"], new["vendors"]),
        *_records("model", old["models"], new["models"]),
        *_references(old.get("references", {}), new.get("references", {})),
    ]
    chosen = [
        *_chosen("accelerator", old["entries"], new["entries"]),
        *_chosen("model", old["models"], new["models"]),
    ]
    return Difference(
        tuple(written),
        tuple(chosen),
        tuple(_calculators(old.get("calculators", {}), new.get("calculators", {}))),
        tuple(_ledger(old["ledger"], new["ledger"])),
        tuple(_problems(written)),
        unread(old, new),
    )


def _pairs(old: Record, new: Record) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*old, *new}):
        yield name, old.get(name), new.get(name)


def _how(before: object, after: object) -> str:
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


# Entries and models: their heads, then their claims.


def _records(kind: str, old: Record, new: Record) -> Iterator[Change]:
    """Entries or models that came, went or changed, the latter claim by claim."""
    for name, before, after in _pairs(old, new):
        if before is None:
            count, sources = _summary(after)
            yield Change(kind, name, "", "added", new=count, new_source=sources)
        elif after is None:
            count, sources = _summary(before)
            yield Change(kind, name, "", "removed", old=count, old_source=sources)
        else:
            yield from _head(kind, name, before, after)
            yield from _claims(kind, name, before["claims"], after["claims"])


def _summary(record: Record) -> tuple[str, str]:
    """How many values a record states, and their sources."""
    stated = [claim for claim in record["claims"] if _stated(claim)]
    sources = sorted({claim["source"] for claim in stated})
    return f"{record['kind']}, {counted(len(stated), 'value')}", ", ".join(sources)


def _head(kind: str, name: str, before: Record, after: Record) -> Iterator[Change]:
    for field in sorted({*before, *after} - {"claims"}):
        old, new = before.get(field), after.get(field)
        # What is on both sides needs no reading. Another folder may have a text for a list.
        if all(isinstance(side, list | None) for side in (old, new)):
            old, new = _without(old, new), _without(new, old)
        if _text(old) != _text(new):
            yield Change(kind, name, field, "changed", _text(old), _text(new))


def _without(items: list[Any] | None, excluded: list[Any] | None) -> list[Any]:
    return [item for item in items or () if item not in (excluded or ())]


def _text(field: Any) -> str:
    """A field of an entry's head in words: a state, names, parts."""
    if isinstance(field, list):
        return ", ".join(map(_text, field))
    if isinstance(field, Mapping):
        return " ".join(str(inner) for inner in field.values() if inner not in ("", None))
    return "" if field is None else str(field)


def _stated(claim: Record) -> bool:
    """False for a total that follows from parts: it stands in no file."""
    return bool(claim.get("quote") or claim.get("locator"))


def _claims(
    kind: str, name: str, before: Sequence[Record], after: Sequence[Record]
) -> Iterator[Change]:
    old_groups, new_groups = _grouped(before), _grouped(after)
    for about in dict.fromkeys((*old_groups, *new_groups)):
        for old, new in _matched(old_groups.get(about, []), new_groups.get(about, [])):
            change = _change(kind, name, old, new)
            if change is not None:
                yield change


def _grouped(claims: Sequence[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """The claims that stand in a file, by what they are about."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for claim in filter(_stated, claims):
        groups.setdefault(tuple(claim.get(name) for name in _ABOUT), []).append(claim)
    return groups


def _value_and_source(claim: Record) -> Any:
    return claim["source"], claim["value"], claim.get("unit")


def _source(claim: Record) -> Any:
    return claim["source"]


def _anything(_: Record) -> Any:
    return None


def _written(claim: Record) -> dict[str, Any]:
    return {key: field for key, field in claim.items() if key not in _DERIVED}


# From the strictest to the loosest: each matches what the ones before it left.
_LIKENESSES: tuple[Callable[[Record], Any], ...] = (
    _written,
    _value_and_source,
    _source,
    _anything,
)


def _matched(
    old_claims: list[Record], new_claims: list[Record]
) -> Iterator[tuple[Record | None, Record | None]]:
    """Pairs of claims, equal ones first; what has no partner stands alone."""
    old_claims, new_claims = [*old_claims], [*new_claims]
    for likeness in _LIKENESSES:
        for old in [*old_claims]:
            old_likeness = likeness(old)
            for new in new_claims:
                if likeness(new) == old_likeness:
                    _remove(old_claims, old)
                    _remove(new_claims, new)
                    yield old, new
                    break
    yield from ((old, None) for old in old_claims)
    yield from ((None, new) for new in new_claims)


def _remove(claims: list[Record], claim: Record) -> None:
    # By identity: two claims of a file may be equal.
    del claims[next(place for place, listed in enumerate(claims) if listed is claim)]


def _change(kind: str, name: str, old: Record | None, new: Record | None) -> Change | None:
    if old is None or new is None:
        return _added_or_removed(kind, name, old, new)
    before, after = _written(old), _written(new)
    changed_fields = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    if not changed_fields:
        return None
    beside = tuple(key for key in changed_fields if key not in _VALUE_FIELDS)
    return Change(
        kind,
        name,
        label(new),
        "reread" if len(beside) == len(changed_fields) else "changed",
        show(old),
        show(new),
        relative(old["si_value"], new["si_value"]),
        old["source"],
        new["source"],
        beside,
    )


def _added_or_removed(kind: str, name: str, old: Record | None, new: Record | None) -> Change:
    before, after = old or {}, new or {}
    return Change(
        kind,
        name,
        label(new or before),
        _how(old, new),
        show(old),
        show(new),
        None,
        before.get("source", ""),
        after.get("source", ""),
    )


def relative(old: Any, new: Any) -> float | None:
    """The change of a number relative to the old one; None where there is no number for it."""
    if not isinstance(old, (int, float)) or not isinstance(new, (int, float)) or not old:
        return None
    share = new / old - 1  # infinite where the old one was next to nothing
    return share if math.isfinite(share) else None


def label(claim: Record) -> str:
    """A claim's field with its conditions, as one reads them."""
    words = [claim["field"].replace("_", " ")]
    words += [str(claim[key]) for key in CONDITIONS if key in claim]
    # The matrix engine goes without saying.
    return " ".join(word for word in words if word != "tensor")


def show(claim: Record | None) -> str | None:
    """A claim's value with its unit."""
    if claim is None:
        return None
    value = claim["value"]
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.10g} {claim.get('unit', '')}".strip()


# Vendors and references.


def _vendors(old: Record, new: Record) -> Iterator[Change]:
    for name, before, after in _pairs(old, new):
        if before is None or after is None:
            yield Change("vendor", name, "", _how(before, after))
        else:
            yield from _head("vendor", name, before, after)


def _references(old: Record, new: Record) -> Iterator[Change]:
    for name, before, after in _pairs(old, new):
        if before is None or after is None:
            yield Change("reference", name, "", _how(before, after), before, after)
        elif before != after:
            yield Change("reference", name, "tier", "changed", before, after)


# What is chosen and computed.


def _chosen(kind: str, old: Record, new: Record) -> Iterator[Change]:
    """Quantities of which another value is used than before."""
    for name in sorted({*old} & {*new}):
        old_claims, new_claims = _chosen_claims(old[name]), _chosen_claims(new[name])
        for quantity in sorted({*old_claims, *new_claims}, key=str):
            before, after = old_claims.get(quantity), new_claims.get(quantity)
            if before is None or after is None:
                yield _added_or_removed(kind, name, before, after)
            elif _used(before) != _used(after):
                yield Change(
                    kind,
                    name,
                    label(after),
                    "changed",
                    show(before),
                    show(after),
                    relative(before["si_value"], after["si_value"]),
                    before["source"],
                    after["source"],
                )


def _chosen_claims(record: Record) -> dict[tuple[Any, ...], Record]:
    return {_quantity(claim): claim for claim in record["claims"] if claim["chosen"]}


def _used(claim: Record) -> tuple[Any, ...]:
    return claim["si_value"], claim["value"], claim["source"]


def _quantity(claim: Record) -> tuple[Any, ...]:
    name = claim.get("name") if claim["field"] in _NAMED else None
    return (*(claim.get(condition) for condition in _SAME), name)


def _calculators(old: Record, new: Record) -> Iterator[Change]:
    """Answers that changed, of the examples and of chips that are on both sides."""
    for call in new:
        if call not in old:
            continue
        for output, before, after in _pairs(old[call], new[call]):
            if not _near(before, after):
                yield _moved("calculator", f"flopbook {call}", output, before, after)


def _moved(kind: str, name: str, field: str, before: Any, after: Any) -> Change:
    return Change(kind, name, field, "changed", before, after, relative(before, after))


def _ledger(old: Record, new: Record) -> Iterator[Change]:
    """Rows that came, went, have another verdict, compute to something else, or no longer stand."""
    for name, before, after in _pairs(old, new):
        if before is None or after is None:
            verdicts = [row and row["verdict"] for row in (before, after)]
            yield Change("ledger", name, "row", _how(before, after), *verdicts)
        else:
            yield from _row(name, before, after)


# What is said of a row whose verdict a recomputation bears out, or does not.
_STANDING = {True: "stands", False: "does not stand"}


def _row(name: str, before: Record, after: Record) -> Iterator[Change]:
    for field in ("verdict", "statement", "source"):
        if before[field] != after[field]:
            yield Change("ledger", name, field, "changed", before[field], after[field])
    # An exported folder has verdicts, but nothing that was computed.
    computed = "value" in before and "value" in after
    if computed and not _near(before["value"], after["value"]):
        yield _moved("ledger", name, "computed", before["value"], after["value"])
    if before.get("stands", True) != after.get("stands", True):
        standing = _STANDING[before["stands"]], _STANDING[after["stands"]]
        yield Change("ledger", name, "its verdict", "changed", *standing)


def _near(old: object, new: object) -> bool:
    """Equal but for the last digits, which the order of additions may change."""
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        return math.isclose(old, new, rel_tol=1e-12)
    return old == new


def _problems(written: Sequence[Change]) -> Iterator[str]:
    """Values that their source is said to have printed differently, by more than a rounding."""
    for change in written:
        if change.old_source != change.new_source or change.relative is None:
            continue
        # The slack keeps a change of exactly LARGE on the right side.
        if abs(change.relative) > LARGE + 1e-9:
            moved = f"{change.old} to {change.new} ({percent(change.relative, signed=True)})"
            source = f"with the same source {change.new_source}"
            yield f"{change.id} {change.field}: {moved} {source}; {MEND}"
