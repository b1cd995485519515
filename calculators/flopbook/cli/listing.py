"""`list` and `compare`: accelerators in a table, filtered, sorted, or side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.accelerators import Entry
from flopbook.data.entry_reader import dtype_names
from flopbook.data.library import entry, entry_ids, load_entries, load_head, vendor_ids
from flopbook.errors import UnknownName, shorten
from flopbook.evaluation.answers import columns
from flopbook.hardware.key_figures import FIGURE_KINDS as ROWS
from flopbook.hardware.key_figures import FigureKind as Row
from flopbook.hardware.key_figures import KeyFigure as Figure
from flopbook.hardware.key_figures import PeakFormat as Wanted
from flopbook.hardware.key_figures import has_peak, year
from flopbook.hardware.key_figures import key_figures as figures
from flopbook.hardware.picked import Picked, number_of
from flopbook.quantities.units import UnitError, format_quantity, is_bare, parse_quantity

KINDS = ("die", "package", "card", "node", "system", "pod")
STATES = (
    "announced",
    "sampling",
    "shipping",
    "cloud-only",
    "internal-only",
    "discontinued",
    "cancelled",
)
HEADS = ("id", "kind", "status", "name")
SORTS = (*HEADS, "year", *(row.id for row in ROWS))
COMPARED_SPARSITIES = ("dense", "2:4", "4:1")
MOST = 6  # accelerators side by side; more do not fit a terminal

_LIST_OPTIONS = (
    Option("--vendor", "of_vendor", "Only this vendor; the same as the argument.", "VENDOR"),
    Option("--kind", "kind", f"Only this kind: {', '.join(KINDS)}.", "KIND"),
    Option("--status", "status", f"Only this state: {', '.join(STATES)}.", "STATE"),
    Option(
        "--dtype",
        "dtype",
        "Only those with a dense peak in this number format, which --long then shows.",
        "FORMAT",
    ),
    Option(
        "--min-memory",
        "min_memory",
        "Only those with at least so much main memory, such as 80GB.",
        "SIZE",
    ),
    Option(
        "--since", "since", "Only those launched, or else announced, in this year or later.", "YEAR"
    ),
    Option(
        "--sort", "sort", f"Sort by {', '.join(SORTS)}; values with the largest first.", "FIELD"
    ),
    Option("--long", "long", "Show the key values too."),
)
_DTYPE = Option(
    "--dtype", "dtype", "The number format of the peak: bf16 (default), fp8, fp4 ...", "FORMAT"
)
_SPARSITY = Option(
    "--sparsity", "sparsity", "dense (default) or 2:4; sparse peaks only when asked for.", "KIND"
)


class _Filters(NamedTuple):
    """What each filter asks for, None where it is not given."""

    vendor: str | None
    kind: str | None
    status: str | None
    since: int | None
    dtype: str | None
    min_memory: float | None

    @property
    def read_values(self) -> bool:
        """Whether they look at values, which the head of a file does not have."""
        return any(wish is not None for wish in (self.dtype, self.since, self.min_memory))

    def pass_entry(self, entry: Entry) -> bool:
        """Whether an accelerator is what the filters ask for."""
        if self.vendor not in (None, entry.vendor) or self.kind not in (None, entry.kind):
            return False
        if self.status not in (None, _state(entry)):
            return False
        if self.since is not None and (year(entry) or 0) < self.since:
            return False
        if self.dtype is not None and not has_peak(entry, Wanted(self.dtype)):
            return False
        if self.min_memory is None:
            return True
        return (number_of(figures(entry)["memory"]) or 0) >= self.min_memory


class _Listed(NamedTuple):
    """An accelerator with its key figures, none where they are not asked for."""

    entry: Entry
    figures: dict[str, Figure]


@command("list", *_LIST_OPTIONS, argument="[VENDOR]")
def list_command(**given: Any) -> None:
    """List the accelerators, of one VENDOR if given; options choose among them.

    Example: flopbook list google --kind package --min-memory 30GB --sort peak --long
    """
    filters = _read_filters(given)
    sort = given["sort"] or "id"
    _check_word("--sort", sort, SORTS)
    peak = Wanted(given["dtype"] or "bf16")
    shows_values = given["long"] or given["as_json"] or sort not in HEADS
    # Reading heads alone is much faster than all values of all accelerators.
    if shows_values or filters.read_values:
        entries = list(load_entries().values())
    else:
        entries = [load_head(entry_id) for entry_id in entry_ids()]
    listed = []
    for product in filter(filters.pass_entry, entries):
        listed.append(_Listed(product, figures(product, peak) if shows_values else {}))
    listed.sort(key=lambda row: _order(row, sort))
    if given["as_json"]:
        print_json([_record(row) for row in listed])
    elif not listed:
        print("no accelerator is like that")
    elif given["long"]:
        head = (*HEADS[:3], "year", *(row.label for row in ROWS), "name")
        print(columns([_long_row(row) for row in listed], head=head))
    else:
        print(columns([(e.id, e.kind, _state(e), e.name) for e, _ in listed]))


def _state(entry: Entry) -> str:
    """The latest state; an entry lists them from the newest."""
    return entry.status[0].state


def _read_filters(given: dict[str, Any]) -> _Filters:
    """What each filter asks for, checked. Raises FlopbookError."""
    vendor = given["of_vendor"] or given["vendor"]
    if given["of_vendor"] and given["vendor"] not in (None, given["of_vendor"]):
        raise UsageError(f"two vendors, {given['vendor']} and {given['of_vendor']}; name one")
    _check_word("vendor", vendor, vendor_ids())
    since = given["since"]
    if since is not None and not (since.isascii() and since.isdigit() and len(since) == 4):
        raise UsageError(f"--since: '{since}' is not a year; write for example 2024")
    _check_word("--kind", given["kind"], KINDS)
    _check_word("--status", given["status"], STATES)
    _check_word("dtype", given["dtype"], dtype_names())
    return _Filters(
        vendor,
        given["kind"],
        given["status"],
        int(since) if since else None,
        given["dtype"],
        None if given["min_memory"] is None else _read_size(given["min_memory"]),
    )


def _check_word(option: str, word: str | None, known: Sequence[str]) -> None:
    if word is not None and word not in known:
        raise UnknownName(option, word, known)


def _read_size(text: str) -> float:
    try:
        if is_bare(text):  # 80 would be 80 bytes
            shown = shorten(text)
            raise UsageError(f"--min-memory: '{shown}' has no unit; write for example {shown}GB")
        return parse_quantity(text, "byte")
    except UnitError as error:
        raise UsageError(f"--min-memory: {error}") from None


def _order(listed: _Listed, sort: str) -> tuple[Any, ...]:
    """Words from A to Z, values from the largest, those without one last; then by id."""
    entry = listed.entry
    if sort == "year":
        return _largest_first(year(entry), entry.id)
    if sort in listed.figures:
        return _largest_first(number_of(listed.figures[sort]), entry.id)
    # What has no order of size.
    words = {
        "id": entry.id,
        "name": entry.name.casefold(),
        "kind": KINDS.index(entry.kind),  # from the smallest
        "status": _state(entry),
    }
    return (words[sort], entry.id)


def _largest_first(value: float | None, entry_id: str) -> tuple[bool, float, str]:
    # False sorts before True, so what has a value comes first.
    return (value is None, -(value or 0), entry_id)


def _record(listed: _Listed) -> dict[str, Any]:
    entry = listed.entry
    record: dict[str, Any] = {
        "id": entry.id,
        "kind": entry.kind,
        "status": _state(entry),
        "name": entry.name,
        "year": year(entry),
    }
    return record | {row.id: figure_record(listed.figures[row.id], row) for row in ROWS}


def figure_record(figure: Figure, row: Row) -> dict[str, Any]:
    """A figure as JSON: the value, or why there is none, with sources and notes."""
    if isinstance(figure, str):
        return {"value": None, "unit": row.unit, "sources": [], "missing": figure}
    record: dict[str, Any] = {
        "value": figure.value,
        "unit": row.unit,
        "sources": list(figure.sources),
    }
    if figure.notes:
        record["notes"] = list(figure.notes)
    return record


def _long_row(listed: _Listed) -> tuple[str, ...]:
    entry = listed.entry
    values = [_figure_text(listed.figures[row.id], row) for row in ROWS]
    return (entry.id, entry.kind, _state(entry), str(year(entry) or "-"), *values, entry.name)


def _figure_text(figure: Figure, row: Row) -> str:
    if isinstance(figure, str):
        return figure
    # Data sheets and papers say FLOP/s per watt; it is the same unit.
    return format_quantity(figure.value, row.unit).replace("FLOP/J", "FLOP/s/W")


@command("compare", _DTYPE, _SPARSITY, argument="CHIP CHIP [CHIP ...]")
def compare_command(
    chips: list[str], dtype: str | None, sparsity: str | None, as_json: bool
) -> None:
    """Compare two to six accelerators, with the ratio of each value to the first.
    What is missing is said.

    Example: flopbook compare h100-sxm h200-sxm mi300x --dtype fp8
    """
    if len(chips) > MOST:
        raise UsageError(f"compare takes at most {MOST} accelerators, found {len(chips)}")
    _check_word("dtype", dtype, dtype_names())
    _check_word("sparsity", sparsity, COMPARED_SPARSITIES)
    peak = Wanted(dtype or "bf16", sparsity or "dense")
    compared = [_Listed(product, figures(product, peak)) for product in map(entry, chips)]
    first = compared[0].figures
    if as_json:
        records = [_comparison_record(column, first) for column in compared]
        print_json({"dtype": peak.dtype, "sparsity": peak.sparsity, "chips": records})
        return
    rows = [_comparison_row(row, compared, peak) for row in ROWS]
    print(columns(rows, head=("", *(column.entry.id for column in compared))))
    for column in compared:
        for note in _notes_of(column):
            print(f"note: {column.entry.id}: {note}")


def _notes_of(column: _Listed) -> Iterable[str]:
    """The notes of all figures of an accelerator, each once, in the order of the figures."""
    notes: dict[str, None] = {}
    for figure in column.figures.values():
        if isinstance(figure, Picked):
            notes |= dict.fromkeys(figure.notes)
    return notes


def _comparison_row(row: Row, compared: Sequence[_Listed], peak: Wanted) -> tuple[str, ...]:
    """One key figure of all accelerators; all but the first with their ratio to the first."""
    label = f"{row.label} {peak.sparsity} {peak.dtype}" if row.id == "peak" else row.label
    first = compared[0].figures[row.id]
    texts = [_figure_text(first, row)]
    for column in compared[1:]:
        figure = column.figures[row.id]
        ratio = _ratio(figure, first)
        times = "" if ratio is None else f"  x {ratio:.3g}"
        texts.append(_figure_text(figure, row) + times)
    return (label, *texts)


def _ratio(figure: Figure, first: Figure) -> float | None:
    value, reference = number_of(figure), number_of(first)
    if value is None or not reference:
        return None
    return value / reference


def _comparison_record(column: _Listed, first: dict[str, Figure]) -> dict[str, Any]:
    values = {}
    for row in ROWS:
        figure = column.figures[row.id]
        values[row.id] = figure_record(figure, row) | {"ratio": _ratio(figure, first[row.id])}
    shown_entry = column.entry
    return {
        "id": shown_entry.id,
        "name": shown_entry.name,
        "kind": shown_entry.kind,
        "values": values,
    }
