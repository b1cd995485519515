"""The data from which a script makes the explorer: all cells, and where each value comes from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from flopbook.data.library import references, vendor, vendor_ids
from flopbook.data.prices import prices
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import unit
from scripts.website.pages.accelerators import KINDS
from scripts.website.pages.explorer import (
    COLOURS,
    COLUMNS,
    DATA,
    LOUD,
    REST,
    START,
    ExplorerRow,
    groups,
    is_current,
    items,
    legend_names,
    newest_first,
    state_of,
)
from scripts.website.pages.form_values import units_record
from scripts.website.pages.planner_data import price_record
from scripts.website.pages.quantities import (
    COLUMN_UNITS,
    LARGE,
    PEAK,
    QUANTITIES,
    RATIOS,
    SPARSITIES,
    Quantity,
    peak_id,
    prints_binary,
)
from scripts.website.pages.sources import provenance
from scripts.website.pages.trends import SHAPES
from scripts.website.pages.values import condition_words

ENGINES = {"tensor": "matrix engine", "vector": "vector engine"}
# Value and place; what follows is a number of a shared text each, of which 0 is the usual one.
_ALWAYS = 3
# What the table opens with; all other values come when something asks for them.
OPENING = ("date", peak_id(*START), *COLUMNS)
_SHARED = ("sources", "marks", "kinds")
_VALUES = 6  # place of the values in the record of an entry
# What is shared is looked up, so it has to be hashable.
_Shared = TypeVar("_Shared", bound=Hashable)


def files() -> dict[str, str]:
    """Content path -> text of the data files of the page."""
    rows = newest_first(items())
    texts = {
        f"accelerators/{name}/sources.json": _json(sources)
        for name, sources in source_records(rows).items()
    }
    first, further = opening(explorer_record(rows))
    further["prices"] = price_records(rows)
    return texts | {
        f"accelerators/{DATA}": _json(first),
        f"accelerators/{REST}": _json(further),
    }


def opening(record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A record as the two files of the page: what its table opens with, and all other values.

    Both name shared texts by the same numbers; the second file has those that the first lacks.
    """
    first: dict[str, Any] = {**record, "entries": []}
    further: dict[str, Any] = {"values": {}}
    opened = [
        cell
        for entry in record["entries"]
        for name, cell in entry[_VALUES].items()
        if name in OPENING and not isinstance(cell, str)
    ]
    for place, name in enumerate(_SHARED, start=_ALWAYS - 1):
        # Texts of these values have the first numbers.
        count = 1 + max((cell[place] for cell in opened if len(cell) > place), default=0)
        first[name], further[name] = record[name][:count], record[name][count:]
    for entry in record["entries"]:
        values = entry[_VALUES]
        own = {name: cell for name, cell in values.items() if name in OPENING}
        first["entries"].append([*entry[:_VALUES], own, *entry[_VALUES + 1 :]])
        further["values"][entry[0]] = {name: values[name] for name in values if name not in own}
    return first, further


def price_records(rows: Iterable[ExplorerRow]) -> dict[str, list[float | str]]:
    """Entry -> its list price in USD an hour, the one that planners take, and whose it is."""
    listed = {price.chip for price in prices()}
    found = {row.entry.id: price_record(row.entry.id) for row in rows if row.entry.id in listed}
    return {
        name: [round(unit("h").factor * price["usd_per_s"], 4), price["note"]]
        for name, price in found.items()
        if price
    }


def _json(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


# Many cells share few sources, marks and kinds: numbers in their place keep the file small, which
# the browser loads with the page.
class _Index(Generic[_Shared]):
    """Texts that many cells share, each stored once and named by its number."""

    def __init__(self, *usual: _Shared) -> None:
        self._numbers = {text: number for number, text in enumerate(usual)}

    def of(self, text: _Shared) -> int:
        """The number of a text, which is added where it is new."""
        return self._numbers.setdefault(text, len(self._numbers))

    def __iter__(self) -> Iterator[_Shared]:
        return iter(self._numbers)


class _SharedTexts:
    """What the cells of all entries share."""

    def __init__(self) -> None:
        self.sources = _Index[str]()
        self.marks = _Index[tuple[str, ...]](())
        self.kinds = _Index[str]("")


def explorer_record(rows: Sequence[ExplorerRow]) -> dict[str, Any]:
    """All cells with units, sources and words.

    A cell is [value, place on the entry's page, source, marks, kind, whether it is in GiB].
    """
    shared = _SharedTexts()
    # Texts of the values that are shown first get the first numbers.
    for row in rows:
        for name in OPENING:
            if name in row.cells:
                _cell_record(row, row.cells[name], shared)
    entries = [_entry_record(row, shared) for row in rows]
    units, colours = units_record(), groups(rows)
    quantities = (*QUANTITIES, *RATIOS)
    return {
        "as_of": _newest_reading(rows),
        "start": list(START),
        "loud": list(LOUD),
        "sparsities": SPARSITIES,
        "engines": ENGINES,
        "kinds_of_entry": KINDS,
        "columns": list(COLUMNS),
        "shapes": list(SHAPES),
        "vendors": {name: [vendor(name).name, colours.get(name, COLOURS)] for name in vendor_ids()},
        "legend": legend_names(colours),
        "quantities": [quantity._asdict() for quantity in QUANTITIES],
        "ratios": [quantity._asdict() for quantity in RATIOS],
        "peaks": _peaks(rows),
        "factors": {name: unit(name).factor for name in _written_in(quantities)},
        "column_units": COLUMN_UNITS,
        "large": list(LARGE),
        "sources": [_short_name(key) for key in shared.sources],
        "marks": [list(marks) for marks in shared.marks],
        "kinds": list(shared.kinds),
        "prefixes": units["prefixes"],
        "customary": units["customary"],
        "counts": units["counts"],
        # The script of the forms, which is shared, asks for units; the explorer writes these.
        "units": {name: one for name, one in units["units"].items() if name.endswith("iB")},
        "entries": entries,
    }


def _written_in(quantities: Iterable[Quantity]) -> Iterator[str]:
    """The units other than those of SI in which values are written."""
    yield from (quantity.shown for quantity in quantities if quantity.shown)
    for names in COLUMN_UNITS.values():
        yield from names


def _newest_reading(rows: Iterable[ExplorerRow]) -> str:
    """The day on which a claim was last read."""
    days = (claim.as_of for row in rows for claim in row.entry.claims)
    return max(map(str, days), default="")


def _short_name(key: str) -> str:
    source = references().get(key)
    return source.short if source else key


def _entry_record(row: ExplorerRow, shared: _SharedTexts) -> list[object]:
    entry = row.entry
    return [
        entry.id,
        entry.name,
        entry.vendor,
        entry.kind,
        state_of(entry),
        list(entry.aliases),
        {name: _cell_record(row, cell, shared) for name, cell in row.cells.items()},
        entry.family,
        int(is_current(row)),
    ]


def _cell_record(
    row: ExplorerRow, cell: Picked | str, shared: _SharedTexts
) -> list[float | int] | str:
    if isinstance(cell, str):
        return cell
    record = [
        cell.value,
        row.places.get(id(cell.claim), -1),
        shared.sources.of(cell.claim.source),
        shared.marks.of(cell.notes),
        shared.kinds.of(cell.kind),
        int(prints_binary(cell)),
    ]
    # Most cells have no marks and no kind, and there are thousands of cells.
    while len(record) > _ALWAYS and record[-1] == 0:
        record.pop()
    return record


def _peaks(rows: Iterable[ExplorerRow]) -> list[list[str]]:
    """The peaks that some entry has: dtype, engine, sparsity and unit; common formats first."""
    units: dict[tuple[str, str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for name, cell in (pair for row in rows for pair in row.cells.items()):
        if isinstance(cell, Picked) and name.startswith(f"{PEAK}:"):
            _, dtype, engine, sparsity = name.split(":", 3)
            units[dtype, engine, sparsity] = cell.claim.si_unit
            counts[dtype, engine] += 1
    # Matrix engines first: theirs are the peaks that people compare.
    # Among equally common formats the one that came first in the list of entries leads.
    rank = {pair: place for place, (pair, _) in enumerate(counts.most_common())}
    sparsities = [*SPARSITIES]
    order = sorted(
        units, key=lambda peak: (peak[1] != "tensor", rank[peak[:2]], sparsities.index(peak[2]))
    )
    return [[*peak, units[peak]] for peak in order]


def source_records(rows: Iterable[ExplorerRow]) -> dict[str, dict[str, dict[str, str]]]:
    """Vendor -> entry -> quantity -> where the value comes from.

    Each vendor's file is loaded when it is asked for.
    """
    records: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        texts = {
            name: _source_words(cell)
            for name, cell in row.cells.items()
            if isinstance(cell, Picked)
        }
        records.setdefault(row.entry.vendor, {})[row.entry.id] = texts
    return records


def _source_words(cell: Picked) -> str:
    words = (condition_words(cell.claim), provenance(cell.claim))
    return "; ".join(word for word in words if word)
