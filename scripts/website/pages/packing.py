"""Values of chips and models as forms fetch them: most have the same source, which is said once.

`docs/assets/flopbook/packing.js` gives each value its record back. A page brings the names of all
and the values of those that its first example takes; the values of the others are a second file,
which comes when the reader turns to the form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import cast

from scripts.website.pages.form_values import Record

NAMES = ("id", "name", "aliases")  # of an entry, beside its values


def parted(lent: Record, example: Mapping[str, str]) -> tuple[Record, Record]:
    """What `packed` gives in two: all names with the values of the example, and all other values.

    `example` names a chip and a model as the calculator's first example does, by any name.
    """
    first: dict[str, list[Record]] = {}
    further: dict[str, list[Record]] = {}
    asked = {example.get(option, "") for option in ("chip", "model")}
    for kind, records in cast(dict[str, list[Record]], packed(lent)).items():
        first[kind], further[kind] = [], []
        for entry in records:
            if asked.isdisjoint(_names(entry)):
                further[kind].append(
                    {n: v for n, v in entry.items() if n not in ("name", "aliases")}
                )
                first[kind].append({name: entry[name] for name in NAMES})
            else:
                first[kind].append(entry)
    return cast(Record, first), cast(Record, further)


def _names(entry: Record) -> set[str]:
    """What people call an entry: its id, with and without the vendor, and its aliases."""
    name = str(entry["id"])
    return {name, name.rpartition("/")[2], *cast(list[str], entry["aliases"])}


def packed(lent: Record) -> Record:
    """What `lent_record` gives, for each entry with the source of most of its values.

    A value from there without notes is itself in the place of its record.
    """
    entries = cast(dict[str, list[Record]], lent)
    return {kind: [_packed_entry(entry) for entry in listed] for kind, listed in entries.items()}


def _packed_entry(entry: Record) -> Record:
    values = {name: value for name, value in entry.items() if name not in NAMES}
    names = {name: entry[name] for name in NAMES}
    counted = Counter(record["source"] for record in _records(values) if record["source"])
    main, times = counted.most_common(1)[0] if counted else (None, 0)
    if times < 2:
        return entry
    return {**names, "from": main, **{name: _short(claim, main) for name, claim in values.items()}}


def _records(values: Record) -> Iterator[Record]:
    """The records of values, at whatever depth."""
    for value in cast(dict[str, Record], values).values():
        if "value" in value:
            yield value
        else:
            yield from _records(value)


def _short(value: object, main: object) -> object:
    record = cast(Record, value)
    if "value" not in record:
        return {name: _short(field, main) for name, field in record.items()}
    if record["source"] != main:
        return record
    if {"notes", "layer"} & record.keys() or isinstance(record["value"], dict):
        return {name: field for name, field in record.items() if name != "source"}
    return record["value"]
