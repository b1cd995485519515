"""What the explorer compares: for each entry one cell for each quantity, or the words that say why
there is none.

A peak is a quantity of its own for each number format, engine and sparsity, so that dense and
sparse never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import NOT_PUBLISHED, Claim
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import POWER_KINDS, choose
from flopbook.hardware.parts import totals
from flopbook.hardware.picked import Picked
from flopbook.hardware.shown import chosen_claims
from flopbook.quantities.units import format_quantity, unit
from scripts.website.pages.values import field_order

NOT_RECORDED = "not recorded"
HALVED = "printed both ways, halved"
PEAK = "peak"
SPARSITIES = {
    "dense": "dense",
    "2:4": "2:4 sparse",
    "4:1": "4:1 sparse",
    "unstated": "sparsity unstated",
}


class Quantity(NamedTuple):
    """Something that is compared: `better` is the sign of an improvement, `shown` a unit on the
    page other than SI.

    `over` names the two quantities of which it is the ratio; `peak` among them is the peak that the
    reader picked.
    """

    id: str
    label: str
    unit: str
    better: int = 1
    shown: str = ""
    over: tuple[str, str] | tuple[()] = ()

    def words(self, value: float) -> str:
        """A value as a page shows it."""
        if self.unit == "year":
            return f"{int(value)}"
        name = self.shown or self.unit
        return format_quantity(
            value / unit(name).factor if self.shown else value, name
        ).removesuffix(" count")


class Cell(NamedTuple):
    """A value in SI units with its claim; `marks` are what a reader must know, `kind` what it is a
    value of.
    """

    value: float
    claim: Claim
    marks: tuple[str, ...] = ()
    kind: str = ""


QUANTITIES = (
    Quantity("memory", "Memory", "byte"),
    Quantity("memory_bandwidth", "Memory bandwidth", "byte/s"),
    Quantity("scaleup_bandwidth", "Scale-up, one way", "byte/s"),
    Quantity("scaleup_domain", "Scale-up domain", "chip"),
    Quantity("scaleout_bandwidth", "Scale-out, one way", "byte/s"),
    Quantity("host_bandwidth", "Host link, one way", "byte/s"),
    Quantity("power", "Power", "W", better=-1),
    Quantity("transistors", "Transistors", "count"),
    Quantity("die_area", "Die area", "m2", better=-1, shown="mm2"),
    Quantity("date", "Year", "year", better=-1),
    Quantity("announced", "Announced", "year", better=-1),
    Quantity("launched", "Launched", "year", better=-1),
)
RATIOS = (
    Quantity("intensity", "FLOP per byte", "FLOP/byte", shown="1", over=(PEAK, "memory_bandwidth")),
    Quantity(
        "link_intensity",
        "FLOP per byte, scale-up",
        "FLOP/byte",
        shown="1",
        over=(PEAK, "scaleup_bandwidth"),
    ),
    Quantity("efficiency", "Peak per watt", "FLOP/J", over=(PEAK, "power")),
    Quantity(
        "sweep", "Time to read the memory once", "s", better=-1, over=("memory", "memory_bandwidth")
    ),
)
Cells = dict[str, Cell | str]


def peak_id(dtype: str, engine: str, sparsity: str) -> str:
    """The quantity's id of a peak."""
    return f"{PEAK}:{dtype}:{engine}:{sparsity}"


def shown_claims(entry: Entry) -> list[Claim]:
    """What the page of an entry shows: chosen values, what is not published, totals; in the order
    of that page.
    """
    chosen = chosen_claims(entry)
    shown = [c for c in entry.claims if id(c) in chosen or c.value is None]
    return sorted([*shown, *totals(entry)], key=field_order)


def cells(entry: Entry, shown: list[Claim]) -> Cells:
    """Quantity's id -> cell, or the words in its place; a quantity of which nothing is recorded is
    left out.
    """
    found: Cells = {}
    for quantity in QUANTITIES:
        cell = _cell(entry, quantity.id, shown)
        if cell is not None:
            found[quantity.id] = cell
    return found | _peaks(shown)


def missing(found: Cells, name: str) -> str:
    """What stands in place of a value: a peak of another sparsity is named, never used."""
    words = found.get(name)
    if isinstance(words, str):
        return words
    if not name.startswith(f"{PEAK}:"):
        return NOT_RECORDED
    _, dtype, engine, sparsity = name.split(":", 3)
    others = [
        words
        for one, words in SPARSITIES.items()
        if one != sparsity and value_of(found, peak_id(dtype, engine, one)) is not None
    ]
    if not others:
        return NOT_RECORDED
    return f"{'stated, see' if sparsity == 'unstated' else 'only'} {', '.join(others)}"


def value_of(found: Cells, quantity: str) -> float | None:
    """The number of a cell, None where there is none."""
    cell = found.get(quantity)
    return cell.value if isinstance(cell, Cell) else None


def _peaks(shown: Iterable[Claim]) -> Cells:
    groups: dict[str, list[Claim]] = {}
    for claim in shown:
        if claim.field == PEAK:
            groups.setdefault(peak_id(claim.dtype, claim.engine, claim.sparsity), []).append(claim)
    found: Cells = {}
    for name, group in groups.items():
        claim = choose([c for c in group if _is_total(c)]) or choose(group)
        if claim is None or claim.si_value is None:
            found[name] = group[0].words or NOT_PUBLISHED
        else:
            marks = (
                (f"accumulates in {claim.accumulate}",)
                if claim.accumulate not in ("", "fp32", "int32")
                else ()
            )
            found[name] = Cell(claim.si_value, claim, (*_basis(claim), *marks))
    return found


def _is_total(claim: Claim) -> bool:
    return (
        claim.basis == "derived"
        and claim.per not in ("package", "die", "")
        and bool(claim.derived_from)
    )


def _basis(claim: Claim) -> tuple[str, ...]:
    return () if claim.basis == "printed" else (claim.basis,)


def _cell(entry: Entry, name: str, shown: list[Claim]) -> Cell | str | None:
    picked = _pickers().get(name, _plain)(entry, name, shown)
    if picked is not None:
        return picked
    fields = ("announced", "launched") if name == "date" else (name,)
    empty = next((c for c in shown if c.field in fields and c.value is None), None)
    return empty.words if empty else None


_Picker = Callable[[Entry, str, list[Claim]], Cell | None]


def _pickers() -> dict[str, _Picker]:
    return {
        "memory": _memory,
        "memory_bandwidth": _memory,
        "scaleup_bandwidth": _scaleup,
        "scaleout_bandwidth": _link,
        "host_bandwidth": _link,
        "power": _power,
        "date": _date,
        "announced": _dated,
        "launched": _dated,
    }


def _plain(_: Entry, name: str, shown: list[Claim]) -> Cell | None:
    claim = choose([c for c in shown if c.field == name])
    return (
        Cell(claim.si_value, claim, _basis(claim)) if claim and claim.si_value is not None else None
    )


def _helped(pick: Callable[[], Picked]) -> Picked | None:
    try:
        return pick()
    except FlopbookError:
        return None


def _total(name: str, shown: list[Claim]) -> Claim | None:
    listed = [c for c in shown if c.field == name]
    return choose([c for c in listed if _is_total(c)]) or choose(listed)


def _memory(entry: Entry, name: str, shown: list[Claim]) -> Cell | None:
    chip = Chip(entry)
    if entry.kind in ("package", "die"):
        picked = _helped(chip.pick_memory if name == "memory" else chip.pick_memory_bandwidth)
        claim = picked.claim if picked else None
    else:
        claim = _total(name, shown)
    if claim is None or claim.si_value is None:
        return None
    return Cell(claim.si_value, claim, _basis(claim), claim.type or claim.tier.upper())


def _scaleup(entry: Entry, name: str, shown: list[Claim]) -> Cell | None:
    if entry.kind in ("package", "die"):
        picked = _helped(Chip(entry).pick_scaleup_bandwidth)
        return _one_way(picked.claim) if picked else None
    return _link_of([c for c in shown if c.field == name and _is_total(c)])


def _link(_: Entry, name: str, shown: list[Claim]) -> Cell | None:
    return _link_of([c for c in shown if c.field == name and c.aggregate != "link"])


def _link_of(claims: list[Claim]) -> Cell | None:
    claim = choose([c for c in claims if c.one_way is not None])
    return _one_way(claim) if claim else None


def _one_way(claim: Claim) -> Cell:
    assert claim.one_way is not None
    return Cell(
        claim.one_way,
        claim,
        (*_basis(claim), *((HALVED,) if claim.direction == "both" else ())),
        claim.name,
    )


def _power(entry: Entry, name: str, shown: list[Claim]) -> Cell | None:
    picked = _helped(Chip(entry).pick_power)
    if picked is None:
        return None
    kinds = {of: of for of in POWER_KINDS} | {"maximum": ""}
    claim = picked.claim
    return Cell(picked.value, claim, _basis(claim), kinds.get(claim.of, claim.of))


def _dated(_: Entry, name: str, shown: list[Claim]) -> Cell | None:
    claim = choose([c for c in shown if c.field == name])
    return (
        Cell(year_of(str(claim.value)), claim, _basis(claim), str(claim.value)) if claim else None
    )


def _date(entry: Entry, _: str, shown: list[Claim]) -> Cell | None:
    """The announcement; the launch where no announcement is recorded, which the cell says."""
    announced, launched = (_dated(entry, name, shown) for name in ("announced", "launched"))
    if announced is not None or launched is None:
        return announced
    return launched._replace(marks=(*launched.marks, "launch"))


def year_of(text: str) -> float:
    """`2022-03-22` as a year with a fraction; the middle of the month or year where no more is
    known.
    """
    parts = [int(part) for part in text.split("-")]
    month = parts[1] - 1 if len(parts) > 1 else 5.5
    day = (parts[2] - 1) / 31 if len(parts) > 2 else 0.5
    return round(parts[0] + (month + day) / 12, 3)
