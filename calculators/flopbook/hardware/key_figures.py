"""The key figures of an accelerator, chip or whole system alike, each with its source or why it is
missing.

`list`, `compare` and the explorer show them side by side. What a system has follows from its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim, matches
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose_date, choose_memory, choose_peak
from flopbook.hardware.parts import shown_totals
from flopbook.hardware.picked import Picked, pick_of

NOT_RECORDED = "not recorded"


class PeakFormat(NamedTuple):
    """Which peak is meant."""

    dtype: str = "bf16"
    sparsity: str = "dense"


DENSE_BF16 = PeakFormat()


# A value, or the words that stand in its place.
KeyFigure = Picked | str


class FigureKind(NamedTuple):
    """What is compared: its name in JSON, how a reader knows it, and its SI unit."""

    id: str
    label: str
    unit: str


FIGURE_KINDS = (
    FigureKind("peak", "peak", "FLOP/s"),
    FigureKind("memory", "memory", "byte"),
    FigureKind("memory_bandwidth", "memory bandwidth", "byte/s"),
    FigureKind("flop_per_byte", "FLOP per byte", "FLOP/byte"),
    FigureKind("scaleup_bandwidth", "scale-up, one way", "byte/s"),
    FigureKind("power", "power", "W"),
    FigureKind("flop_per_joule", "FLOP/s per watt", "FLOP/J"),
)
# Peak over one of the others.
_DENOMINATORS = {"flop_per_byte": "memory_bandwidth", "flop_per_joule": "power"}


def key_figures(entry: Entry, peak: PeakFormat = DENSE_BF16) -> dict[str, KeyFigure]:
    """All key figures of an entry, by the ids of FIGURE_KINDS."""
    figures: dict[str, KeyFigure] = {
        kind.id: _key_figure(entry, kind.id, peak)
        for kind in FIGURE_KINDS
        if kind.id not in _DENOMINATORS
    }
    for kind in FIGURE_KINDS:
        if kind.id in _DENOMINATORS:
            denominator = figures[_DENOMINATORS[kind.id]]
            figures[kind.id] = _ratio(figures["peak"], denominator, kind.unit)
    return {kind.id: figures[kind.id] for kind in FIGURE_KINDS}


def pick_key_figure(entry: Entry, field: str, peak: PeakFormat = DENSE_BF16) -> Picked | None:
    """The value that every face shows of peak, memory (bandwidth), scaleup_bandwidth or power.

    Of a system it is the total of its chips; where none follows, the memory and the power that its
    vendor prints for it.
    """
    chip = Chip(entry)
    pickers: dict[str, Callable[[], Picked | None]] = {
        "peak": lambda: chip.pick_peak(peak.dtype, peak.sparsity),
        "memory": lambda: _printed_memory(entry, "memory"),
        "memory_bandwidth": lambda: _printed_memory(entry, "memory_bandwidth"),
        "scaleup_bandwidth": chip.pick_scaleup_bandwidth,
        "power": chip.pick_power,
    }
    try:
        return _pick_total(shown_totals(entry), field, peak) or pickers[field]()
    except FlopbookError:  # no such value, or parts that are broken
        return None


def _printed_memory(entry: Entry, field: str) -> Picked | None:
    claim = choose_memory(entry.claims, field)
    return pick_of(claim) if claim else None


def _key_figure(entry: Entry, field: str, peak: PeakFormat) -> KeyFigure:
    return pick_key_figure(entry, field, peak) or _why_missing(entry, field, peak)


def _pick_total(claims: Sequence[Claim], field: str, peak: PeakFormat) -> Picked | None:
    """What the parts of a system add up to, or what its vendor prints for it."""
    claim = _choose_total(claims, field, peak)
    value = claim.one_way if claim and field == "scaleup_bandwidth" else claim and claim.si_value
    if claim is None or value is None:
        return None
    notes = (f"{field.replace('_', ' ')} is {claim.formula}",) if claim.formula else ()
    return Picked(value, claim.si_unit, claim, notes)


def _choose_total(claims: Sequence[Claim], field: str, peak: PeakFormat) -> Claim | None:
    if field == "peak":
        return choose_peak(claims, peak.dtype, peak.sparsity)
    if field in ("memory", "memory_bandwidth"):
        return choose_memory(claims, field)
    of_field = [claim for claim in claims if claim.field == field]
    if field == "scaleup_bandwidth":
        of_field = [claim for claim in of_field if claim.one_way is not None]
    return of_field[0] if of_field else None


def _why_missing(entry: Entry, field: str, peak: PeakFormat) -> str:
    conditions = peak._asdict() if field == "peak" else {}
    for claim in entry.claims:
        if claim.field == field and claim.value is None and matches(claim, conditions):
            return claim.words
    return NOT_RECORDED


def _ratio(numerator: KeyFigure, denominator: KeyFigure, unit: str) -> KeyFigure:
    if isinstance(numerator, str):
        return numerator
    if isinstance(denominator, str):
        return denominator
    if not denominator.value:
        return NOT_RECORDED
    value = numerator.value / denominator.value
    return Picked(value, unit, numerator.claim, others=(denominator.claim,))


def year(entry: Entry) -> int | None:
    """The year in which it was launched, or else announced; None when neither is known."""
    claim = choose_date(entry.claims)
    text = str(claim.value)[:4] if claim else ""
    return int(text) if text.isdigit() else None


def has_peak(entry: Entry, peak: PeakFormat) -> bool:
    """True when the entry, or the chip inside it, has this peak.

    One of unstated density passes for dense.
    """
    return pick_key_figure(entry, "peak", peak) is not None
