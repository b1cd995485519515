"""What prose asks of all accelerators together: counts, families, growth, formats, systems, errors,
endings.

`{{ landscape.growth("peak", "gpu").doubling }}` and the tables are computed from the entries, so an
entry that is corrected corrects the chapter.
"""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import load_entry, source_tiers, vendor, vendor_ids
from flopbook.drawing.markup import escape, link, table
from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.explorer import Item, items, products, state_of
from scripts.website.pages.families import (
    FAMILIES,
    SERVERS,
    Family,
    by_family,
    chips,
    makers,
    peak16,
    ridge,
)
from scripts.website.pages.growth import Growth
from scripts.website.pages.number import Number
from scripts.website.pages.quantities import PEAK, Cell, value_of
from scripts.website.pages.sources import cite, html_link
from scripts.website.pages.trends import MORE_TRENDS, TRENDS, growth, points

# Server chips whose main memory is DRAM: those of which one line through all makes sense.
FITTED = tuple(name for name in SERVERS if name not in ("wafer", "sram", "near"))
# What a family is compared by: heading, unit, value.
MEASURES: dict[str, tuple[str, str, Callable[[Item], float | None]]] = {
    "peak": (
        "Peak, 16 bits",
        "FLOP/s",
        lambda item: cell.value if (cell := peak16(item.cells)) else None,
    ),
    "memory": ("Memory", "byte", lambda item: value_of(item.cells, "memory")),
    "memory_bandwidth": ("Bandwidth", "byte/s", lambda item: bandwidth(item)),
    "ridge": (
        "Ridge point",
        "FLOP/byte",
        lambda item: ridge(item.cells) if bandwidth(item) else None,
    ),
    "scaleup_domain": ("Domain", "chip", lambda item: value_of(item.cells, "scaleup_domain")),
    "power": ("Power", "W", lambda item: value_of(item.cells, "power")),
}
ENDED = re.compile(r"\b(closed|acquired|merged|licensed)\b", re.IGNORECASE)


def bandwidth(item: Item) -> float | None:
    """Bandwidth of the memory whose size stands for the chip; None where only that of another
    memory is known.
    """
    size, rate = item.cells.get("memory"), item.cells.get("memory_bandwidth")
    if not isinstance(rate, Cell):
        return None
    return rate.value if not isinstance(size, Cell) or size.claim.tier == rate.claim.tier else None


def stated(entry: Entry, fields: Sequence[str], by_vendor: bool = True) -> bool:
    """True where a source states one of the fields; by default a document of the maker."""
    tiers = source_tiers()
    return any(
        c.field in fields
        and c.published
        and not c.known_error
        and (not by_vendor or tiers.get(c.source) == "vendor")
        for c in entry.claims
    )


def trend_growth(found: Sequence[Item], name: str, families: Sequence[str]) -> Growth:
    """The growth of a quantity over the chips of some families.

    Raises FlopbookError for too few of them.
    """
    known = {trend.id: trend for trend in (*TRENDS, *MORE_TRENDS)}
    if name not in known:
        raise UnknownName("trend", name, tuple(known))
    fit = growth(points(known[name], products(chips(found, families)))[0])
    if fit is None:
        raise FlopbookError(f"too few dated chips with a value for the growth of {name}")
    return fit


class Landscape:
    """All accelerators, as a page of prose asks for them; read when it is first asked."""

    def __init__(self, page: str) -> None:
        self._page = page

    @functools.cached_property
    def _items(self) -> list[Item]:
        return items()

    @functools.cached_property
    def _claims(self) -> list[Claim]:
        return [claim for item in self._items for claim in item.entry.claims]

    def _href(self, entry_id: str) -> str:
        return html_link(self._page, entry_page(entry_id))

    def _maker(self, vendor_id: str) -> str:
        return link(
            vendor(vendor_id).name, html_link(self._page, f"accelerators/{vendor_id}/index.md")
        )

    def _count(self, found: Iterable[object]) -> Number:
        return Number(sum(1 for _ in found), "1")

    @property
    def entries(self) -> Number:
        """Number of entries."""
        return self._count(self._items)

    @property
    def vendors(self) -> Number:
        """Number of makers."""
        return self._count(vendor_ids())

    @property
    def chips(self) -> Number:
        """Number of entries that compute: chips, and cards of which no parts are recorded."""
        return self._count(chips(self._items))

    @property
    def unstated(self) -> Number:
        """Percent of matrix peaks on record of which the source does not say whether they are
        dense.
        """
        peaks = [
            c for c in self._claims if c.field == PEAK and c.engine == "tensor" and c.published
        ]
        return Number(100 * sum(c.sparsity == "unstated" for c in peaks) / len(peaks), "1")

    @property
    def undirected(self) -> Number:
        """Percent of link rates on record whose source does not say whether they count one way or
        both.
        """
        rates = [c for c in self._claims if c.field == "scaleup_bandwidth" and c.published]
        return Number(100 * sum(c.direction in ("", "unstated") for c in rates) / len(rates), "1")

    def known_errors(self, *fields: str) -> Number:
        """Number of values that are recorded as wrong, of some fields or of all."""
        return self._count(
            c for c in self._claims if c.known_error and (not fields or c.field in fields)
        )

    @property
    def conflicts(self) -> Number:
        """Number of values that are recorded as contradicting another one."""
        return self._count(c for c in self._claims if c.conflicts_with)

    def share(self, *fields: str, by_vendor: bool = True) -> Number:
        """Percent of chips for which a source states one of the fields; by default a document of
        the maker.
        """
        found = chips(self._items)
        return Number(
            100 * sum(stated(item.entry, fields, by_vendor) for item in found) / len(found), "1"
        )

    def middle(self, measure: str, *families: str) -> Number:
        """The median of a measure over the chips of some families that have it."""
        return self._of(measure, families, statistics.median)

    def least(self, measure: str, *families: str) -> Number:
        """The smallest value of a measure."""
        return self._of(measure, families, min)

    def most(self, measure: str, *families: str) -> Number:
        """The largest value of a measure."""
        return self._of(measure, families, max)

    def _of(
        self, measure: str, families: Sequence[str], pick: Callable[[list[float]], float]
    ) -> Number:
        if measure not in MEASURES:
            raise UnknownName("measure", measure, tuple(MEASURES))
        values = _values(chips(self._items, families), measure)
        if not values:
            raise FlopbookError(
                f"no chip of {', '.join(families) or 'any family'} has a value of {measure}"
            )
        return Number(pick(values), MEASURES[measure][1])

    def reached(self, name: str, dtype: str = "bf16") -> Number:
        """Percent of a chip's dense peak that somebody measured in a product of matrices."""
        item = chip(name)
        share = item.pick("measured_matmul", dtype=dtype).value / item.peak(dtype)
        return Number(100 * share, "1", self._href(item.id))

    def growth(self, name: str, *families: str) -> dict[str, Number]:
        """Yearly factor, years to double with their band, scatter and number of points; by default
        of server chips.
        """
        fit = trend_growth(self._items, name, families or FITTED)
        years = {key: Number(getattr(fit, key), "1") for key in ("doubling", "fast", "slow")}
        return years | {
            key: Number(getattr(fit, key), "1") for key in ("factor", "scatter", "count")
        }

    def makers_table(self) -> str:
        """Every family with what sets it apart and all of its makers."""
        rows = []
        for family, found in self._families():
            names = (self._maker(name) for name in makers(self._items, family))
            title = f'{escape(family.title)} <span class="fb-note">{escape(family.words)}</span>'
            rows.append((title, ", ".join(names), str(len(found))))
        return table(
            ("Family", "Makers", "#Entries"),
            rows,
            caption="Families of accelerators",
            kind="fb-families",
        )

    def ranges_table(self) -> str:
        """What the chips of each family have, from the least to the most."""
        rows = [
            [
                escape(family.title),
                *(
                    _range(_values(chips(found), name), unit)
                    for name, (_, unit, _) in MEASURES.items()
                ),
            ]
            for family, found in self._families()
        ]
        heads = (heading for heading, _, _ in MEASURES.values())
        return table(
            ("Family", *heads),
            rows,
            caption="From least to most, and of how many chips it is known",
        )

    def _families(self) -> Iterator[tuple[Family, list[Item]]]:
        grouped = by_family(self._items)
        return ((one, grouped[one.id]) for one in FAMILIES)

    def formats_table(self, *vendors: str) -> str:
        """Number formats of matrix units, in the generation of a maker that was the first to have
        them.
        """
        rows = []
        for name in vendors:
            rows += [
                (escape(vendor(name).name), escape(family), f"{int(year)}", escape(", ".join(new)))
                for family, year, new in new_formats(self._items, name)
            ]
        return table(
            ("Maker", "Generation", "#Year", "New formats of its matrix units"),
            rows,
            caption="Number formats by year",
        )

    def errors_table(self, *picked: tuple[str, str, str, str]) -> str:
        """Known errors, each as (what happened, entry, field, source): what was stated, and what is
        shown instead.
        """
        rows = [self._error(*one) for one in picked]
        return table(
            ("What happened", "Chip", "Stated", "#Stated over shown", "Source"),
            rows,
            caption="Known errors",
        )

    def _error(self, words: str, entry_id: str, field: str, source: str) -> tuple[str, ...]:
        entry = load_entry(entry_id)
        wrong = next(
            (c for c in entry.claims if c.field == field and c.source == source and c.known_error),
            None,
        )
        if wrong is None or wrong.si_value is None:
            raise FlopbookError(f"{entry_id} has no known error of {source} in {field}")
        wanted = {"dtype": wrong.dtype, "sparsity": wrong.sparsity} if field == PEAK else {}
        right = chip(entry_id).pick(field, **wanted)
        return (
            escape(words),
            link(entry.name, self._href(entry_id)),
            escape(f"{wrong.value:g} {wrong.unit}"),
            f"{wrong.si_value / right.value:.3g}",
            cite(source, self._page),
        )

    def endings_table(self) -> str:
        """Makers that closed, were bought or merged, or licensed their technology away, by date."""
        facts = [
            (name, f) for name in vendor_ids() for f in vendor(name).facts if f.field == "status"
        ]
        rows = [
            (
                self._maker(name),
                escape(fact.date or "-"),
                escape(fact.value),
                cite(fact.source, self._page),
            )
            for name, fact in sorted(facts, key=lambda pair: (pair[1].date or "9999", pair[0]))
            if ENDED.search(fact.value)
        ]
        return table(
            ("Maker", "When", "What", "Source"), rows, caption="Makers that ended or changed hands"
        )

    def systems_table(self, *ids: str) -> str:
        """Systems and pods: chips that share one fast network, and what they have together."""
        rows = [
            self._system(next(i for i in self._items if i.entry.id == load_entry(name).id))
            for name in ids
        ]
        head = ("System", "Status", "#Domain, chips", "#Peak, 16 bits", "#Memory", "#Power")
        return table(head, rows, caption="Systems with one fast network")

    def _system(self, item: Item) -> list[str]:
        peak = peak16(item.cells)
        values = [
            (peak.value if peak else None, "FLOP/s"),
            *(
                (value_of(item.cells, name), unit)
                for name, unit in (("memory", "byte"), ("power", "W"))
            ),
        ]
        size = value_of(item.cells, "scaleup_domain")
        return [
            link(item.entry.name, self._href(item.entry.id)),
            escape(state_of(item.entry)),
            f"{size:,.0f}" if size else "-",
            *(escape(format_quantity(value, unit)) if value else "-" for value, unit in values),
        ]


def _values(found: Iterable[Item], measure: str) -> list[float]:
    of = MEASURES[measure][2]
    return [value for item in found if (value := of(item))]


def _range(values: list[float], unit: str) -> str:
    """From the smallest to the largest, with their number; one value stands alone."""
    if not values:
        return "-"
    shown = "1" if unit in ("FLOP/byte", "chip") else unit
    ends = [
        format_quantity(value, shown).replace(" ", "\N{NO-BREAK SPACE}")
        for value in (min(values), max(values))
    ]
    said = " to ".join(dict.fromkeys(ends))
    return f'{escape(said)} <span class="fb-read">({len(values)})</span>'


def new_formats(found: Sequence[Item], vendor_id: str) -> list[tuple[str, float, list[str]]]:
    """Generations of a maker's server chips in order, each with the matrix formats that none before
    it had.
    """
    generations: dict[str, tuple[float, set[str]]] = {}
    for item in chips(found, SERVERS):
        year = value_of(item.cells, "date")
        if item.entry.vendor == vendor_id and year is not None and item.entry.family:
            first, formats = generations.get(item.entry.family, (year, set()))
            generations[item.entry.family] = (
                min(first, year),
                formats | _matrix_formats(item.entry),
            )
    seen: set[str] = set()
    rows = []
    for family, (year, formats) in sorted(generations.items(), key=lambda pair: pair[1][0]):
        new = sorted(formats - seen - {"unstated"})
        seen |= formats
        if new:
            rows.append((family, year, new))
    return rows


def _matrix_formats(entry: Entry) -> set[str]:
    return {
        c.dtype
        for c in entry.claims
        if c.field == PEAK and c.engine == "tensor" and c.published and not c.known_error
    }
