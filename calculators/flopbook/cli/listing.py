"""`list` and `compare`: accelerators in a table, filtered, sorted, or side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.accelerators import Entry, dtype_names
from flopbook.data.library import entry, entry_ids, load_entries, load_head, vendor_ids
from flopbook.errors import UnknownName, shorten
from flopbook.evaluation.answers import columns
from flopbook.hardware.key_figures import FIGURE_KINDS as ROWS
from flopbook.hardware.key_figures import FigureKind as Row
from flopbook.hardware.key_figures import KeyFigure as Figure
from flopbook.hardware.key_figures import PeakFormat as Wanted
from flopbook.hardware.key_figures import has_peak, year
from flopbook.hardware.key_figures import key_figures as figures
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
MOST = 6
DTYPE = Option(
    "--dtype", "dtype", "The number format of the peak: bf16 (default), fp8, fp4 ...", "FORMAT"
)
SPARSITY = Option(
    "--sparsity", "sparsity", "dense (default) or 2:4; sparse peaks only when asked for.", "KIND"
)


@command(
    "list",
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
    argument="[VENDOR]",
)
def list_command(**given: Any) -> None:
    """List the accelerators, of one VENDOR if given; options choose among them.

    Example: flopbook list google --kind package --min-memory 30GB --sort peak --long
    """
    filters = _filters(given)
    sort = _one_of("--sort", given["sort"] or "id", SORTS)
    wanted = Wanted(given["dtype"] or "bf16")
    vendor = filters["vendor"]
    values = given["long"] or given["as_json"] or sort not in HEADS
    needed = values or any(filters[name] is not None for name in ("dtype", "since", "min_memory"))
    every = load_entries().values() if needed else map(load_head, entry_ids())
    found = [one for one in every if vendor in (None, one.vendor)]
    found = [one for one in found if _passes(one, filters)]
    known = [(one, figures(one, wanted) if values else {}) for one in found]
    known.sort(key=lambda pair: _order(*pair, sort))
    if given["as_json"]:
        print_json([_record(one, of) for one, of in known])
    elif not known:
        print("no accelerator is like that")
    elif given["long"]:
        head = (*HEADS[:3], "year", *(row.label for row in ROWS), "name")
        print(columns([_long(one, of) for one, of in known], head=head))
    else:
        print(columns([(one.id, one.kind, one.status[0].state, one.name) for one, _ in known]))


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    """What each filter asks for, checked, None where it is not given."""
    vendor = given["of_vendor"] or given["vendor"]
    if given["of_vendor"] and given["vendor"] not in (None, given["of_vendor"]):
        raise UsageError(f"two vendors, {given['vendor']} and {given['of_vendor']}; name one")
    if vendor is not None and vendor not in vendor_ids():
        raise UnknownName("vendor", vendor, vendor_ids())
    since = given["since"]
    if since is not None and not (since.isascii() and since.isdigit() and len(since) == 4):
        raise UsageError(f"--since: '{since}' is not a year; write for example 2024")
    return {
        "vendor": vendor,
        "kind": _one_of("--kind", given["kind"], KINDS),
        "since": int(since) if since else None,
        "status": _one_of("--status", given["status"], STATES),
        "dtype": _dtype(given["dtype"]),
        "min_memory": None if given["min_memory"] is None else _size(given["min_memory"]),
    }


def _one_of(option: str, value: str | None, known: Sequence[str]) -> str | None:
    if value is not None and value not in known:
        raise UnknownName(option, value, known)
    return value


def _dtype(value: str | None) -> str | None:
    return _one_of("dtype", value, dtype_names())


def _size(text: str) -> float:
    try:
        if is_bare(text):
            raise UsageError(
                f"--min-memory: '{shorten(text)}' has no unit; write for example {shorten(text)}GB"
            )
        return parse_quantity(text, "byte")
    except UnitError as error:
        raise UsageError(f"--min-memory: {error}") from None


def _passes(one: Entry, filters: dict[str, Any]) -> bool:
    kind, state, dtype, since = (filters[name] for name in ("kind", "status", "dtype", "since"))
    if kind not in (None, one.kind) or state not in (None, one.status[0].state):
        return False
    if since is not None and (year(one) or 0) < since:
        return False
    if dtype is not None and not has_peak(one, Wanted(dtype)):
        return False
    memory = filters["min_memory"]
    return memory is None or (figures(one)["memory"].value or 0) >= memory


def _order(one: Entry, of: dict[str, Figure], sort: str) -> tuple[Any, ...]:
    """Words from A to Z, values from the largest, those without one last; the id decides between
    equals.
    """
    if sort in of or sort == "year":
        value = year(one) if sort == "year" else of[sort].value
        return (value is None, -(value or 0), one.id)
    return (
        {"name": one.name.casefold(), "kind": KINDS.index(one.kind)}.get(
            sort, one.status[0].state if sort == "status" else one.id
        ),
        one.id,
    )


def _record(one: Entry, of: dict[str, Figure]) -> dict[str, Any]:
    head = {
        "id": one.id,
        "kind": one.kind,
        "status": one.status[0].state,
        "name": one.name,
        "year": year(one),
    }
    return head | {row.id: figure_record(of[row.id], row) for row in ROWS}


def figure_record(figure: Figure, row: Row) -> dict[str, Any]:
    """A figure as JSON: the value, or why there is none, with sources and notes."""
    record: dict[str, Any] = {
        "value": figure.value,
        "unit": row.unit,
        "sources": list(figure.sources),
    }
    record |= {"missing": figure.words} if figure.value is None else {}
    return record | ({"notes": list(figure.notes)} if figure.notes else {})


def _long(one: Entry, of: dict[str, Figure]) -> tuple[str, ...]:
    shown = (_shown(of[row.id], row) for row in ROWS)
    return (one.id, one.kind, one.status[0].state, str(year(one) or "-"), *shown, one.name)


def _shown(figure: Figure, row: Row) -> str:
    if figure.value is None:
        return figure.words
    return format_quantity(figure.value, row.unit).replace("FLOP/J", "FLOP/s/W")


@command("compare", DTYPE, SPARSITY, argument="CHIP CHIP [CHIP ...]")
def compare_command(
    chips: list[str], dtype: str | None, sparsity: str | None, as_json: bool
) -> None:
    """Compare two to six accelerators, with the ratio of each value to the first. What is missing
    is said.

    Example: flopbook compare h100-sxm h200-sxm mi300x --dtype fp8
    """
    if len(chips) > MOST:
        raise UsageError(f"compare takes at most {MOST} accelerators, found {len(chips)}")
    _dtype(dtype)
    wanted = Wanted(
        dtype or "bf16", _one_of("sparsity", sparsity or "dense", ("dense", "2:4", "4:1")) or ""
    )
    entries = [entry(name) for name in chips]
    every = [figures(one, wanted) for one in entries]
    if as_json:
        print_json(
            {
                **wanted._asdict(),
                "chips": [
                    _compared(one, of, every[0]) for one, of in zip(entries, every, strict=True)
                ],
            }
        )
        return
    rows = []
    for row in ROWS:
        label = f"{row.label} {wanted.sparsity} {wanted.dtype}" if row.id == "peak" else row.label
        rows.append(
            (label, *(_against(of[row.id], every[0][row.id], row, n) for n, of in enumerate(every)))
        )
    print(columns(rows, head=("", *(one.id for one in entries))))
    for one, of in zip(entries, every, strict=True):
        for note in dict.fromkeys(note for figure in of.values() for note in figure.notes):
            print(f"note: {one.id}: {note}")


def _against(figure: Figure, first: Figure, row: Row, place: int) -> str:
    ratio = _ratio(figure, first)
    return _shown(figure, row) + (f"  x {ratio:.3g}" if place and ratio is not None else "")


def _ratio(figure: Figure, first: Figure) -> float | None:
    return figure.value / first.value if figure.value is not None and first.value else None


def _compared(one: Entry, of: dict[str, Figure], first: dict[str, Figure]) -> dict[str, Any]:
    values = {
        row.id: figure_record(of[row.id], row) | {"ratio": _ratio(of[row.id], first[row.id])}
        for row in ROWS
    }
    return {"id": one.id, "name": one.name, "kind": one.kind, "values": values}
