"""What changed between two snapshots of the data, in the words of the data: entry, field, old, new,
source.

Claims are matched by what they are about, then by source and value, so that a line that moved is no
change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.data.claims import CONDITIONS
from flopbook.evaluation.answers import counted

LARGE = 0.10
MEND = "name the new source; if ours was misread, keep the old claim with known_error: true and a note, and add yours"
_ABOUT = ("field", *CONDITIONS, "per", "type", "topology")
_DERIVED = ("chosen", "si_value")
# What is one quantity for the rule of choice: see flopbook.export.records.quantity_of.
_SAME = (
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
)
_NAMED = ("cache", "sram", "clock", "cores", "price")
Snapshot = Mapping[str, Any]
Record = Mapping[str, Any]


class Change(NamedTuple):
    """One difference. `how` is added, removed, changed or reread; `relative` the change of a
    number, where both are.

    `also` names what changed beside the value.
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
    """All changes: of what is written, of what is chosen, of what is computed; and what must be
    mended.
    """

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
    written = [
        *_records("accelerator", old["entries"], new["entries"]),
        *_plain("vendor", old, new, "vendors"),
    ]
    written += [*_records("model", old["models"], new["models"]), *_references(old, new)]
    chosen = [
        *_chosen("accelerator", old["entries"], new["entries"]),
        *_chosen("model", old["models"], new["models"]),
    ]
    unread = [f"before: {text}" for text in old.get("unread", ())] + [
        f"now: {text}" for text in new.get("unread", ())
    ]
    return Difference(
        tuple(written),
        tuple(chosen),
        tuple(_calculators(old, new)),
        tuple(_ledger(old, new)),
        tuple(_problems(written)),
        tuple(unread),
    )


def _pairs(old: Record, new: Record) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*old, *new}):
        yield name, old.get(name), new.get(name)


def _records(kind: str, old: Record, new: Record) -> Iterator[Change]:
    """Entries or models that came, went or changed; the claims of those on both sides one by one."""
    for name, before, after in _pairs(old, new):
        if before is None or after is None:
            there = after if before is None else before
            how, claims = (
                ("added" if before is None else "removed"),
                [c for c in there["claims"] if _stated(c)],
            )
            sources = ", ".join(sorted({c["source"] for c in claims}))
            count = f"{there['kind']}, {counted(len(claims), 'value')}"
            yield Change(
                kind,
                name,
                "",
                how,
                *(
                    (None, count, None, "", sources)
                    if how == "added"
                    else (count, None, None, sources, "")
                ),
            )
        else:
            yield from _head(kind, name, before, after)
            yield from _claims(kind, name, before["claims"], after["claims"])


def _head(kind: str, name: str, before: Record, after: Record) -> Iterator[Change]:
    for field in sorted({*before, *after} - {"claims"}):
        one, two = before.get(field), after.get(field)
        if isinstance(one or two, list):  # what is on both sides needs no reading
            one, two = (
                [item for item in one or () if item not in (two or ())],
                [item for item in two or () if item not in (one or ())],
            )
        if _text(one) != _text(two):
            yield Change(kind, name, field, "changed", _text(one), _text(two))


def _text(value: Any) -> str:
    """A part of an entry's head in words: a state, names, parts."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return " ".join(str(inner) for inner in value.values() if inner not in ("", None))
    return "" if value is None else str(value)


def _stated(claim: Record) -> bool:
    """False for a total that follows from parts: it stands in no file."""
    return bool(claim.get("quote") or claim.get("locator"))


def _claims(
    kind: str, name: str, before: Sequence[Record], after: Sequence[Record]
) -> Iterator[Change]:
    groups: dict[tuple[Any, ...], tuple[list[Record], list[Record]]] = {}
    for place, claims in enumerate((before, after)):
        for claim in filter(_stated, claims):
            groups.setdefault(_about(claim), ([], []))[place].append(claim)
    for one, two in groups.values():
        for old, new in _matched(one, two):
            change = _change(kind, name, old, new)
            if change is not None:
                yield change


def _about(claim: Record) -> tuple[Any, ...]:
    return tuple(claim.get(name) for name in _ABOUT)


def _matched(one: list[Record], two: list[Record]) -> Iterator[tuple[Record | None, Record | None]]:
    """Equal claims first, then the same value and source, the same source, and what is left in
    order of writing.
    """
    keys = (
        tuple,
        lambda c: (c["source"], c["value"], c.get("unit")),
        lambda c: c["source"],
        lambda _: "",
    )
    rests = [[(c, _written(c)) for c in side] for side in (one, two)]
    for n, key in enumerate(keys):
        for old in list(rests[0]):
            same = (
                (lambda new, o=old: o[1] == new[1])
                if n == 0
                else (lambda new, o=old, k=key: k(o[0]) == k(new[0]))
            )
            new = next(filter(same, rests[1]), None)
            if new is not None:
                rests[0].remove(old)
                rests[1].remove(new)
                yield old[0], new[0]
    yield from ((old, None) for old, _ in rests[0])
    yield from ((None, new) for new, _ in rests[1])


def _written(claim: Record) -> dict[str, Any]:
    return {key: value for key, value in claim.items() if key not in _DERIVED}


def _change(kind: str, name: str, old: Record | None, new: Record | None) -> Change | None:
    there = new or old or {}
    field, values = label(there), (show(old), show(new))
    sources = (old["source"] if old else "", new["source"] if new else "")
    if old is None or new is None:
        return Change(
            kind, name, field, "added" if old is None else "removed", *values, None, *sources
        )
    before, after = _written(old), _written(new)
    also = tuple(key for key in sorted({*before, *after}) if before.get(key) != after.get(key))
    if not also:
        return None
    moved = bool({"value", "unit", "source"} & {*also})
    beside = tuple(key for key in also if key not in ("value", "unit", "source"))
    how = "changed" if moved else "reread"
    return Change(
        kind,
        name,
        field,
        how,
        *values,
        relative(old["si_value"], new["si_value"]),
        *sources,
        beside,
    )


def relative(old: Any, new: Any) -> float | None:
    """The change of a number relative to the old one; None where there are not two numbers."""
    if not isinstance(old, (int, float)) or not isinstance(new, (int, float)):
        return None
    return new / old - 1 if old else None


def label(claim: Record) -> str:
    """A claim's field with its conditions, as one reads them."""
    words = [claim["field"].replace("_", " ")] + [
        str(claim[key]) for key in CONDITIONS if key in claim
    ]
    return " ".join(word for word in words if word != "tensor")


def show(claim: Record | None) -> str | None:
    """A claim's value with its unit."""
    if claim is None:
        return None
    value = claim["value"]
    return (
        f"{value:,.10g} {claim.get('unit', '')}".strip()
        if isinstance(value, (int, float))
        else str(value)
    )


def _plain(kind: str, old: Snapshot, new: Snapshot, section: str) -> Iterator[Change]:
    for name, before, after in _pairs(old[section], new[section]):
        if before is None or after is None:
            yield Change(kind, name, "", "added" if before is None else "removed")
        else:
            yield from _head(kind, name, before, after)


def _references(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    for name, before, after in _pairs(old.get("references", {}), new.get("references", {})):
        if before is None or after is None:
            yield Change(
                "reference", name, "", "added" if before is None else "removed", before, after
            )
        elif before != after:
            yield Change("reference", name, "tier", "changed", before, after)


def _chosen(kind: str, old: Record, new: Record) -> Iterator[Change]:
    """Quantities of which another value is used than before."""
    for name in sorted({*old} & {*new}):
        sides = [
            {_quantity(c): c for c in side[name]["claims"] if c["chosen"]} for side in (old, new)
        ]
        for key in sorted({*sides[0], *sides[1]}, key=str):
            before, after = sides[0].get(key), sides[1].get(key)
            same = (
                before
                and after
                and (before["si_value"], before["value"]) == (after["si_value"], after["value"])
            )
            if not same or (before and after and before["source"] != after["source"]):
                how = "added" if before is None else "removed" if after is None else "changed"
                one, two = before or {}, after or {}
                yield Change(
                    kind,
                    name,
                    label(after or before or {}),
                    how,
                    show(before),
                    show(after),
                    relative(one.get("si_value"), two.get("si_value")),
                    one.get("source", ""),
                    two.get("source", ""),
                )


def _quantity(claim: Record) -> tuple[Any, ...]:
    return (
        *(claim.get(name) for name in _SAME),
        claim.get("name") if claim["field"] in _NAMED else None,
    )


def _calculators(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """Answers that changed, of the examples and of chips that are on both sides."""
    before, after = old.get("calculators", {}), new.get("calculators", {})
    for call in (call for call in after if call in before):
        for output, one, two in _pairs(before[call], after[call]):
            if not _near(one, two):
                yield Change(
                    "calculator",
                    f"flopbook {call}",
                    output,
                    "changed",
                    one,
                    two,
                    relative(one, two),
                )


def _ledger(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """Rows that came, went, have another verdict, compute to something else, or no longer stand."""
    for name, before, after in _pairs(old["ledger"], new["ledger"]):
        if before is None or after is None:
            how = "added" if before is None else "removed"
            yield Change(
                "ledger", name, "row", how, before and before["verdict"], after and after["verdict"]
            )
            continue
        for field in ("verdict", "statement", "source"):
            if before[field] != after[field]:
                yield Change("ledger", name, field, "changed", before[field], after[field])
        computed = [side.get("value") for side in (before, after)]
        if "value" in before and "value" in after and not _near(*computed):
            yield Change("ledger", name, "computed", "changed", *computed, relative(*computed))
        if before.get("stands", True) != after.get("stands", True):
            words = {True: "stands", False: "does not stand"}
            yield Change(
                "ledger",
                name,
                "its verdict",
                "changed",
                words[before["stands"]],
                words[after["stands"]],
            )


def _near(one: Any, two: Any) -> bool:
    """Equal but for the last digits, which the order of additions may change."""
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        return abs(one - two) <= 1e-12 * max(abs(one), abs(two))
    return one == two


def _problems(written: Sequence[Change]) -> Iterator[str]:
    """A value that its source is said to have printed differently, by more than a slip of rounding."""
    for change in written:
        same = change.old_source == change.new_source
        if same and change.relative is not None and abs(change.relative) > LARGE + 1e-9:
            moved = f"{change.old} to {change.new} ({change.relative:+.0%})"
            yield f"{change.id} {change.field}: {moved} with the same source {change.new_source}; {MEND}"
