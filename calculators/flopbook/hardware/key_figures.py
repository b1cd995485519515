"""The key figures of an accelerator, chip or whole system alike, each with its source or why it is
missing.

`list` and `compare` print them side by side. What a system has follows from its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim, choose, matches
from flopbook.data.tiers import source_tiers
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip, Picked, totals

NOT_RECORDED = "not recorded"


class Wanted(NamedTuple):
    """Which peak is meant."""

    dtype: str = "bf16"
    sparsity: str = "dense"


DENSE_BF16 = Wanted()


class Figure(NamedTuple):
    """One value of one accelerator in SI units, or the words that stand in its place."""

    value: float | None
    words: str = ""
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Row(NamedTuple):
    """What is compared: its name in JSON, how a reader knows it, and its SI unit."""

    id: str
    label: str
    unit: str


ROWS = (
    Row("peak", "peak", "FLOP/s"),
    Row("memory", "memory", "byte"),
    Row("memory_bandwidth", "memory bandwidth", "byte/s"),
    Row("flop_per_byte", "FLOP per byte", "FLOP/byte"),
    Row("scaleup_bandwidth", "scale-up, one way", "byte/s"),
    Row("power", "power", "W"),
    Row("flop_per_joule", "FLOP/s per watt", "FLOP/J"),
)
_RATIOS = {"flop_per_byte": "memory_bandwidth", "flop_per_joule": "power"}


def figures(entry: Entry, wanted: Wanted = DENSE_BF16) -> dict[str, Figure]:
    """All key figures of an entry, by the ids of ROWS."""
    chip, whole = Chip(entry), totals(entry)
    found = {row.id: _figure(chip, whole, row.id, wanted) for row in ROWS if row.id not in _RATIOS}
    for name, below in _RATIOS.items():
        found[name] = _ratio(found["peak"], found[below])
    return {row.id: found[row.id] for row in ROWS}


def _figure(chip: Chip, whole: Iterable[Claim], field: str, wanted: Wanted) -> Figure:
    picks: dict[str, Callable[[], Picked]] = {
        "peak": lambda: chip.pick_peak(wanted.dtype, wanted.sparsity),
        "memory": chip.pick_memory,
        "memory_bandwidth": chip.pick_memory_bandwidth,
        "scaleup_bandwidth": chip.pick_scaleup_bandwidth,
        "power": chip.pick_power,
    }
    try:
        picked = _total(whole, field, wanted) or picks[field]()
    except FlopbookError:
        return Figure(None, _why(chip.entry, field, wanted))
    return Figure(picked.value, "", (picked.source,), picked.notes)


def _total(whole: Iterable[Claim], field: str, wanted: Wanted) -> Picked | None:
    """What the parts of a system add up to."""
    like = wanted._asdict() | {"engine": "tensor"} if field == "peak" else {}
    for claim in whole:
        value = claim.one_way if field == "scaleup_bandwidth" else claim.si_value
        if claim.field == field and matches(claim, like) and value is not None:
            return Picked(
                value, claim.si_unit, claim, (f"{field.replace('_', ' ')} is {claim.formula}",)
            )
    return None


def _why(entry: Entry, field: str, wanted: Wanted) -> str:
    like = {"dtype": wanted.dtype, "sparsity": wanted.sparsity} if field == "peak" else {}
    said = [c for c in entry.claims if c.field == field and matches(c, like) and c.value is None]
    return said[0].words if said else NOT_RECORDED


def _ratio(above: Figure, below: Figure) -> Figure:
    if above.value is None or not below.value:
        return Figure(None, above.words or below.words)
    return Figure(
        above.value / below.value, "", tuple(dict.fromkeys((*above.sources, *below.sources)))
    )


def year(entry: Entry) -> int | None:
    """The year in which it was launched, or else announced; None when neither is known."""
    for field in ("launched", "announced"):
        claim = choose((c for c in entry.claims if c.field == field), source_tiers())
        if claim is not None and str(claim.value)[:4].isdigit():
            return int(str(claim.value)[:4])
    return None


def has_peak(entry: Entry, wanted: Wanted) -> bool:
    """True when the entry, or the chip inside it, has this peak; one of unstated density passes for
    dense.
    """
    return _figure(Chip(entry), totals(entry), "peak", wanted).value is not None
