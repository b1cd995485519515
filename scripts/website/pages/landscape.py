"""What is asked of all accelerators together: measures of a family, growth, formats, statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import source_tiers
from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.picked import Picked
from scripts.website.pages.explorer import ExplorerRow, products
from scripts.website.pages.families import SERVERS, chips, peak16, ridge
from scripts.website.pages.growth import Growth
from scripts.website.pages.quantities import PEAK, value_of
from scripts.website.pages.trends import MORE_TRENDS, TRENDS, growth, points

# Server chips whose main memory is DRAM: those of which one line through all makes sense.
FITTED = tuple(name for name in SERVERS if name not in ("wafer", "sram", "near"))
# What a maker's status says when it ended or changed hands.
ENDED = re.compile(r"\b(closed|acquired|merged|licensed)\b", re.IGNORECASE)

# Notes of peaks in formats that a program may ask for and no unit multiplies in.
_NOT_BUILT_IN = re.compile(r"^Emulated|not available|lists no |has no FP8")


class Measure(NamedTuple):
    """What chips are compared by; `of` gives None for a chip of which it is not known."""

    title: str
    unit: str
    of: Callable[[ExplorerRow], float | None]


def bandwidth(row: ExplorerRow) -> float | None:
    """Bandwidth of the memory whose size stands for the chip.

    None where only that of another memory is known.
    """
    size, rate = row.cells.get("memory"), row.cells.get("memory_bandwidth")
    if not isinstance(rate, Picked):
        return None
    # A chip with HBM and DDR may publish the size of one and the rate of the other.
    if isinstance(size, Picked) and size.claim.tier != rate.claim.tier:
        return None
    return rate.value


def _peak(row: ExplorerRow) -> float | None:
    cell = peak16(row.cells)
    return cell.value if cell else None


def _memory(row: ExplorerRow) -> float | None:
    return value_of(row.cells, "memory")


def _ridge(row: ExplorerRow) -> float | None:
    # Not of another memory than the one whose size stands for the chip.
    return ridge(row.cells) if bandwidth(row) else None


def _domain(row: ExplorerRow) -> float | None:
    return value_of(row.cells, "scaleup_domain")


def _power(row: ExplorerRow) -> float | None:
    return value_of(row.cells, "power")


MEASURES = {
    "peak": Measure("Peak, 16 bits", "FLOP/s", _peak),
    "memory": Measure("Memory", "byte", _memory),
    "memory_bandwidth": Measure("Bandwidth", "byte/s", bandwidth),
    "ridge": Measure("Ridge point", "FLOP/byte", _ridge),
    "scaleup_domain": Measure("Domain", "chip", _domain),
    "power": Measure("Power", "W", _power),
}


def measured(rows: Iterable[ExplorerRow], measure: str) -> list[float]:
    """The values of a measure, of the chips that have one. Raises UnknownName."""
    if measure not in MEASURES:
        raise UnknownName("measure", measure, tuple(MEASURES))
    values_or_none = map(MEASURES[measure].of, rows)
    return [number for number in values_or_none if number]  # none of these is ever zero


def stated(entry: Entry, fields: Sequence[str], by_vendor: bool = True) -> bool:
    """True where a source states one of the fields; by default a document of the maker."""
    claims = [
        claim
        for claim in entry.claims
        if claim.field in fields and claim.published and not claim.known_error
    ]
    if not by_vendor:
        return bool(claims)
    tiers = source_tiers()
    return any(tiers.get(claim.source) == "vendor" for claim in claims)


def trend_growth(rows: Sequence[ExplorerRow], name: str, families: Sequence[str]) -> Growth:
    """The growth of a quantity over the chips of some families.

    Raises FlopbookError for too few of them.
    """
    trends = {trend.id: trend for trend in (*TRENDS, *MORE_TRENDS)}
    if name not in trends:
        raise UnknownName("trend", name, tuple(trends))
    drawn, *_ = points(trends[name], products(chips(rows, families)))
    fit = growth(drawn)
    if fit is None:
        raise FlopbookError(f"too few dated chips with a value for the growth of {name}")
    return fit


class FormatGeneration(NamedTuple):
    """A generation of a maker's chips: its family, its first year, and matrix formats."""

    family: str
    year: float
    formats: list[str]


class _Generation(NamedTuple):
    """Chips of a family that came within a year of the first of them, with their formats."""

    family: str
    year: float
    formats: set[str]

    def has(self, family: str, year: float) -> bool:
        """Whether a chip belongs here: makers keep the name of a family for years."""
        return family == self.family and year <= self.year + 1


def new_formats(rows: Sequence[ExplorerRow], vendor_id: str) -> list[FormatGeneration]:
    """A maker's server chips by generation, each with the matrix formats that it was first to have.

    A generation without such a format is left out.
    """
    # Cards for desks and chips for the edge are no generations of a maker's server chips.
    of_maker = [row for row in chips(rows, SERVERS) if row.entry.vendor == vendor_id]
    dated = [(year, row.entry) for row in of_maker if (year := value_of(row.cells, "date"))]
    generations: list[_Generation] = []
    for year, entry in sorted(dated, key=lambda chip: chip[0]):
        known = [one for one in generations if one.has(entry.family, year)]
        if entry.family and not known:
            known = [_Generation(entry.family, year, set())]
            generations += known
        for generation in known:
            generation.formats.update(_matrix_formats(entry))
    earlier = {"unstated"}  # no format of its own
    found = []
    for generation in generations:
        new = generation.formats - earlier
        earlier |= new
        if new:
            found.append(FormatGeneration(generation.family, generation.year, sorted(new)))
    return found


def _matrix_formats(entry: Entry) -> set[str]:
    return {claim.dtype for claim in matrix_peaks(entry.claims) if _is_built_in(claim)}


def _is_built_in(claim: Claim) -> bool:
    """Whether the units multiply in this format, by what the claim and its note say."""
    return not claim.known_error and not _NOT_BUILT_IN.search(claim.note)


def matrix_peaks(claims: Iterable[Claim]) -> list[Claim]:
    """The peaks of matrix engines that a source publishes."""
    return [
        claim
        for claim in claims
        if claim.field == PEAK and claim.engine == "tensor" and claim.published
    ]
