"""What the explorer compares: for each entry and quantity one cell, or the words for its lack.

A peak is a quantity of its own for each number format, engine and sparsity, so that dense and
sparse never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import NOT_PUBLISHED, Claim
from flopbook.hardware.choice import DATE_FIELDS, at_usual_point, choose, choose_date
from flopbook.hardware.key_figures import pick_key_figure
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.picked import Picked, number_of, pick_of
from flopbook.hardware.shown import chosen_claims
from flopbook.quantities.units import format_quantity, unit
from scripts.website.pages.values import field_order

NOT_RECORDED = "not recorded"
HALVED = "printed both ways, halved"
# A year that is not that of the launch.
ANNOUNCED = "announced"
PEAK = "peak"
SPARSITIES = {
    "dense": "dense",
    "2:4": "2:4 sparse",
    "4:1": "4:1 sparse",
    "unstated": "sparsity unstated",
}
# Accumulators wide enough to go without saying.
_WIDE_ACCUMULATORS = ("", "fp32", "int32")


# What a column of a table is written in, so that its values can be compared at a glance: for chips
# and what they are made of, and for nodes, systems and pods. Peaks go by their SI unit.
COLUMN_UNITS: dict[str, tuple[str, str]] = {
    "FLOP/s": ("TFLOP/s", "PFLOP/s"),
    "OP/s": ("TOP/s", "POP/s"),
    "memory": ("GB", "TB"),
    "memory_bandwidth": ("TB/s", "TB/s"),
    "scaleup_bandwidth": ("GB/s", "TB/s"),
    "scaleout_bandwidth": ("GB/s", "TB/s"),
    "host_bandwidth": ("GB/s", "TB/s"),
    "power": ("W", "kW"),
    "FLOP/J": ("TFLOP/J", "TFLOP/J"),
    "OP/J": ("TOP/J", "TOP/J"),
    "sweep": ("ms", "ms"),
}
LARGE = ("node", "system", "pod")
_GROUPED = 1e6  # from here on other texts count in powers of ten, which a column cannot be read by
UNITS_OF_COLUMNS = (
    "A column has one unit: chips are in TFLOP/s, GB and W, nodes, systems and pods in PFLOP/s, TB "
    "and kW. Memory is in GiB where its source prints that: 1 GiB is 1.074 GB."
)


class Quantity(NamedTuple):
    """Something that is compared.

    `better` is the sign of an improvement, `shown` a unit on the page other than SI.

    `over` names the two quantities of which it is the ratio; `peak` among them is the peak that the
    reader picked.
    """

    id: str
    label: str
    unit: str
    better: int = 1
    shown: str = ""
    over: tuple[str, str] | tuple[()] = ()

    def words(self, si_value: float) -> str:
        """A value as a page shows it."""
        if self.unit == "year":
            return f"{int(si_value)}"
        if self.shown:
            amount = si_value / unit(self.shown).factor
            # The label says of what the count is.
            return format_quantity(amount, self.shown).removesuffix(" count")
        return format_quantity(si_value, self.unit).removesuffix(" count")

    def in_column(self, si_value: float, kind: str) -> str:
        """A value of an entry of this kind as a table shows it, in the unit of the column."""
        units = COLUMN_UNITS.get(self.id, COLUMN_UNITS.get(self.unit))
        if units is None:
            return self.words(si_value)
        name = units[kind in LARGE]
        amount = si_value / unit(name).factor
        digits = f"{amount:,.0f}" if amount >= _GROUPED else format_quantity(amount, "1")
        return f"{digits} {name}"

    def of_cell(self, cell: Picked, kind: str) -> str:
        """A cell of an entry of this kind as a table shows it: a capacity as its source prints it.

        32 GiB are 34.36 GB in the unit of the column, a number that nobody knows the chip by.
        """
        return cell.words if prints_binary(cell) else self.in_column(cell.value, kind)

    def in_text(self, cell: Picked) -> str:
        """A cell in a sentence, a capacity as its source prints it."""
        return cell.words if prints_binary(cell) else self.words(cell.value)


def prints_binary(cell: Picked) -> bool:
    """Whether a source prints this capacity in GiB, or those of its parts."""
    return cell.claim.unit.endswith("iB")


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
_FLOP_PER_BYTE = Quantity("intensity", "FLOP per byte", "FLOP/byte", shown="1")
RATIOS = (
    _FLOP_PER_BYTE._replace(over=(PEAK, "memory_bandwidth")),
    _FLOP_PER_BYTE._replace(
        id="link_intensity", label="FLOP per byte, scale-up", over=(PEAK, "scaleup_bandwidth")
    ),
    Quantity("efficiency", "Peak per watt", "FLOP/J", over=(PEAK, "power")),
    Quantity(
        "sweep", "Time to read the memory once", "s", better=-1, over=("memory", "memory_bandwidth")
    ),
)
Cells = dict[str, Picked | str]


def peak_id(dtype: str, engine: str, sparsity: str) -> str:
    """The quantity's id of a peak."""
    return f"{PEAK}:{dtype}:{engine}:{sparsity}"


def shown_claims(entry: Entry) -> list[Claim]:
    """The claims on the page of an entry, in its order: chosen values, unpublished ones, totals."""
    chosen = chosen_claims(entry)
    shown = [claim for claim in entry.claims if id(claim) in chosen or claim.value is None]
    sums = [total.of_parts for total in settled_totals(entry) if total.is_sum]
    return sorted([*shown, *sums], key=field_order)


def cells(entry: Entry, shown: list[Claim]) -> Cells:
    """Quantity's id -> cell, or the words in its place; unrecorded quantities are left out."""
    recorded: Cells = {}
    # Absent, not None: most entries lack most quantities, and the explorer's file is loaded whole.
    for quantity in QUANTITIES:
        cell = _cell(entry, quantity.id, shown)
        if cell is not None:
            recorded[quantity.id] = cell
    return recorded | _peaks(shown)


def missing(recorded: Cells, name: str) -> str:
    """What stands in place of a value: a peak of another sparsity is named, never used."""
    words = recorded.get(name)
    if isinstance(words, str):
        return words
    if not name.startswith(f"{PEAK}:"):
        return NOT_RECORDED
    _, dtype, engine, sparsity = name.split(":", 3)
    alternatives = [
        sparsity_words
        for kind, sparsity_words in SPARSITIES.items()
        if kind != sparsity and value_of(recorded, peak_id(dtype, engine, kind)) is not None
    ]
    if not alternatives:
        return NOT_RECORDED
    opening = "stated, see" if sparsity == "unstated" else "only"
    return f"{opening} {', '.join(alternatives)}"


def value_of(recorded: Cells, quantity: str) -> float | None:
    """The number of a cell, None where there is none."""
    return number_of(recorded.get(quantity))


def year_of(text: str) -> float:
    """`2022-03-22` as a year with a fraction; the middle of a month or year without a day."""
    # The middle of a year is half-way through its months, counted from 0: 5.5 of them.
    year, *month_and_day = (int(number) for number in text.split("-"))
    months = month_and_day[0] - 1 if month_and_day else 5.5
    days = (month_and_day[1] - 1) / 31 if len(month_and_day) > 1 else 0.5
    return round(year + (months + days) / 12, 3)


# Peaks.


def _peaks(shown: Iterable[Claim]) -> Cells:
    groups: dict[str, list[Claim]] = {}
    for claim in shown:
        if claim.field == PEAK:
            name = peak_id(claim.dtype, claim.engine, claim.sparsity)
            groups.setdefault(name, []).append(claim)
    return {name: _peak_cell(group) for name, group in groups.items()}


def _peak_cell(group: list[Claim]) -> Picked | str:
    claim = _total_or_best(group)
    if claim is None:
        return group[0].words or NOT_PUBLISHED
    marks = _basis(claim)
    if claim.accumulate not in _WIDE_ACCUMULATORS:
        marks += (f"accumulates in {claim.accumulate}",)
    return pick_of(claim, marks) or group[0].words or NOT_PUBLISHED


def _total_or_best(claims: list[Claim]) -> Claim | None:
    """The total that follows from the parts; where there is none, the claim of the best source."""
    usual = at_usual_point(claims)
    totals_of_parts = [claim for claim in usual if _is_total(claim)]
    return choose(totals_of_parts) or choose(usual)


def _is_total(claim: Claim) -> bool:
    # A derived value of a chip is an estimate of ours, not a sum.
    is_of_chip = claim.per in ("package", "die", "")
    return claim.basis == "derived" and not is_of_chip and bool(claim.derived_from)


def _basis(claim: Claim) -> tuple[str, ...]:
    return () if claim.basis == "printed" else (claim.basis,)


# Other quantities: how each is picked from the claims of an entry.


def _cell(entry: Entry, name: str, shown: list[Claim]) -> Picked | str | None:
    picked = _PICKERS.get(name, _plain)(entry, name, shown)
    if picked is not None:
        return picked
    fields = DATE_FIELDS if name == "date" else (name,)
    unpublished = (claim for claim in shown if claim.field in fields and claim.value is None)
    claim = next(unpublished, None)
    return claim.words if claim else None


def _of_field(name: str, shown: list[Claim]) -> list[Claim]:
    return [claim for claim in shown if claim.field == name]


def _plain(_: Entry, name: str, shown: list[Claim]) -> Picked | None:
    claim = choose(_of_field(name, shown))
    return pick_of(claim, _basis(claim)) if claim else None


# What every face shows of an entry is chosen in one place; a cell adds what the choice implies.
def _chosen_claim(entry: Entry, name: str, shown: list[Claim]) -> Claim | None:
    picked = pick_key_figure(entry, name)
    return _as_shown(picked.claim, shown) if picked else None


def _as_shown(claim: Claim, shown: list[Claim]) -> Claim:
    # A total is computed anew for whoever asks; its place on the page is that of the one shown.
    return next((listed for listed in shown if listed == claim), claim)


def _memory(entry: Entry, name: str, shown: list[Claim]) -> Picked | None:
    claim = _chosen_claim(entry, name, shown)
    if claim is None:
        return None
    kind = "kind not stated" if claim.tier == "unstated" else claim.tier.upper()
    return pick_of(claim, _basis(claim), claim.type or kind)


def _scaleup(entry: Entry, name: str, shown: list[Claim]) -> Picked | None:
    claim = _chosen_claim(entry, name, shown)
    return _one_way(claim) if claim else None


def _link(_: Entry, name: str, shown: list[Claim]) -> Picked | None:
    return _best_link([claim for claim in _of_field(name, shown) if claim.aggregate != "link"])


def _best_link(claims: list[Claim]) -> Picked | None:
    with_direction = [claim for claim in claims if claim.one_way is not None]
    claim = choose(with_direction)
    return _one_way(claim) if claim else None


def _one_way(claim: Claim) -> Picked:
    assert claim.one_way is not None
    marks = _basis(claim)
    # Many sources add both directions; links are compared by one.
    if claim.direction == "both":
        marks += (HALVED,)
    return Picked(claim.one_way, claim.si_unit, claim, marks, claim.name)


def _power(entry: Entry, name: str, shown: list[Claim]) -> Picked | None:
    claim = _chosen_claim(entry, name, shown)
    if claim is None:
        return None
    # The maximum is what a power is taken for; every other kind is said.
    kind = "" if claim.of == "maximum" else claim.of
    return pick_of(claim, _basis(claim), kind)


def _dated(_: Entry, name: str, shown: list[Claim]) -> Picked | None:
    claim = choose(_of_field(name, shown))
    return _date_cell(claim) if claim else None


def _date_cell(claim: Claim) -> Picked:
    date = str(claim.value)
    return Picked(year_of(date), "year", claim, _basis(claim), kind=date)


def _date(entry: Entry, _: str, shown: list[Claim]) -> Picked | None:
    """The launch; the announcement where no launch is recorded, which the cell says."""
    claim = choose_date(entry.claims)
    if claim is None:
        return None
    cell = _date_cell(_as_shown(claim, shown))
    if claim.field == "launched":
        return cell
    return cell._replace(notes=(*cell.notes, ANNOUNCED))


_Picker = Callable[[Entry, str, list[Claim]], Picked | None]
_PICKERS: dict[str, _Picker] = {
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
