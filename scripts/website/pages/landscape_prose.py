"""What prose asks of all accelerators: counts, families, growth, formats, systems, errors.

`{{ landscape.growth("peak", "gpu").doubling }}` and the tables are computed from the entries, so an
entry that is corrected corrects the chapter.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Sequence, Sized

from flopbook.data.claims import Claim
from flopbook.data.library import load_entry, vendor, vendor_ids
from flopbook.data.vendors import Fact
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, link, table
from scripts.website.pages.accelerators import date_or_last, entry_page
from scripts.website.pages.explorer import ExplorerRow, items, state_of
from scripts.website.pages.families import FAMILIES, SERVERS, by_family, chips, makers, peak16
from scripts.website.pages.landscape import (
    ENDED,
    FITTED,
    MEASURES,
    matrix_peaks,
    measured,
    new_formats,
    stated,
    trend_growth,
)
from scripts.website.pages.number import Number
from scripts.website.pages.quantities import PEAK, value_of
from scripts.website.pages.sources import cite, html_link


class Landscape:
    """All accelerators, as a page of prose asks for them; read when it is first asked."""

    def __init__(self, page: str) -> None:
        self._page = page

    @functools.cached_property
    def _items(self) -> tuple[ExplorerRow, ...]:
        return items()

    @functools.cached_property
    def _claims(self) -> list[Claim]:
        return [claim for row in self._items for claim in row.entry.claims]

    def _entry_link(self, entry_id: str) -> Html:
        return link(load_entry(entry_id).name, self._href(entry_id))

    def _href(self, entry_id: str) -> Html:
        return html_link(self._page, entry_page(entry_id))

    def _maker_link(self, vendor_id: str) -> Html:
        href = html_link(self._page, f"accelerators/{vendor_id}/index.md")
        return link(vendor(vendor_id).name, href)

    # Counts and shares.

    @property
    def entries(self) -> Number:
        """Number of entries."""
        return _count(self._items)

    @property
    def vendors(self) -> Number:
        """Number of makers."""
        return _count(vendor_ids())

    @property
    def chips(self) -> Number:
        """Number of entries that compute: chips, and cards of which no parts are recorded."""
        return _count(chips(self._items))

    @property
    def unstated(self) -> Number:
        """Percent of recorded matrix peaks whose source does not say whether they are dense."""
        return _percent([peak.sparsity == "unstated" for peak in matrix_peaks(self._claims)])

    @property
    def undirected(self) -> Number:
        """Percent of recorded link rates whose source does not say whether one way or both."""
        return _percent(
            [
                claim.direction in ("", "unstated")
                for claim in self._claims
                if claim.field == "scaleup_bandwidth" and claim.published
            ]
        )

    def known_errors(self, *fields: str) -> Number:
        """Number of values that are recorded as wrong, of some fields or of all."""
        errors = [claim for claim in self._claims if claim.known_error]
        if fields:
            errors = [claim for claim in errors if claim.field in fields]
        return _count(errors)

    @property
    def conflicts(self) -> Number:
        """Number of values that are recorded as contradicting another one."""
        return _count([claim for claim in self._claims if claim.conflicts_with])

    def share(self, *fields: str, by_vendor: bool = True) -> Number:
        """Percent of chips for which a source (by default the maker) states one of the fields."""
        return _percent([stated(row.entry, fields, by_vendor) for row in chips(self._items)])

    # Measures and growth.

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
        numbers = measured(chips(self._items, families), measure)
        if not numbers:
            group = ", ".join(families) or "any family"
            raise FlopbookError(f"no chip of {group} has a value of {measure}")
        return Number(pick(numbers), MEASURES[measure].unit)

    def work_for_a_joule(self, least: float, most: float, first: int, last: int) -> Number:
        """The median of 16-bit peak over power (FLOP/J), by power (W) and year of server chips."""
        works = []
        for row in chips(self._items, SERVERS):
            peak, power, date = (
                peak16(row.cells),
                value_of(row.cells, "power"),
                value_of(row.cells, "date"),
            )
            if peak is None or power is None or date is None:
                continue
            if least <= power <= most and first <= date < last + 1:
                works.append(peak.value / power)
        if not works:
            raise FlopbookError(f"no server chip of {first} to {last} has {least} to {most} W")
        return Number(statistics.median(works), "FLOP/J")

    def reached(self, name: str, dtype: str = "bf16") -> Number:
        """Percent of a chip's dense peak that somebody measured in a product of matrices."""
        accelerator = chip(name)
        fastest = accelerator.pick("measured_matmul", dtype=dtype).value
        percent = 100 * (fastest / accelerator.peak(dtype))
        return Number(percent, "1", self._href(accelerator.id))

    def growth(self, name: str, *families: str) -> dict[str, Number]:
        """Yearly factor, years to double with their band, scatter and number of points.

        Of server chips unless another choice is given.
        """
        fit = trend_growth(self._items, name, families or FITTED)
        return {
            "doubling": Number(fit.doubling, "1"),
            "fast": Number(fit.fast, "1"),
            "slow": Number(fit.slow, "1"),
            "factor": Number(fit.factor, "1"),
            "scatter": Number(fit.scatter, "1"),
            "count": Number(fit.count, "1"),
        }

    def doubling_band(self, name: str, *families: str) -> str:
        """The years to double between which the growth lies; the slow end may be open."""
        fit = trend_growth(self._items, name, families or FITTED)
        if math.isinf(fit.slow):
            return f"{fit.fast:.1f} at the fastest; the other end of the band allows no growth"
        return f"{fit.fast:.1f} to {fit.slow:.0f}"

    # Tables.

    def makers_table(self) -> Html:
        """Every family with what sets it apart and all of its makers."""
        grouped = by_family(self._items)
        rows = [
            (
                Html('{} <span class="fb-note">{}</span>').format(family.title, family.words),
                Html(", ").join(map(self._maker_link, makers(self._items, family))),
                str(len(grouped[family.id])),
            )
            for family in FAMILIES
        ]
        head = ("Family", "Makers", "#Entries")
        return table(
            head, rows, caption="Families of accelerators", kind="fb-families", stacked=True
        )

    def ranges_table(self, *names: str) -> Html:
        """Some measures of the chips of each family, from the least to the most.

        A family without any value has no row. Raises UnknownName.
        """
        grouped = by_family(self._items)
        rows = []
        for family in FAMILIES:
            of_family = chips(grouped[family.id])
            ranges = [_range(measured(of_family, name), MEASURES[name].unit) for name in names]
            if set(ranges) != {"-"}:
                rows.append((family.title, *ranges))
        head = ("Family", *(MEASURES[name].title for name in names))
        caption = "Lowest to highest value, with the number of chips that have one"
        return table(head, rows, caption=caption, stacked=True)

    def formats_table(self, *vendors: str) -> Html:
        """Number formats of matrix units, each in the first generation of a maker to have it."""
        rows = []
        for name in vendors:
            for family, year, formats in new_formats(self._items, name):
                rows.append((vendor(name).name, family, f"{int(year)}", ", ".join(formats)))
        head = ("Maker", "Generation", "#Year", "New formats of its matrix units")
        return table(head, rows, caption="Number formats by year", stacked=True)

    def errors_table(self, *picked: tuple[str, str, str, str]) -> Html:
        """Known errors as (what happened, entry, field, source): what was stated, what is shown."""
        rows = [self._error_row(*error) for error in picked]
        head = ("What happened", "Chip", "Stated", "#Stated over shown", "Source")
        return table(head, rows, caption="Known errors", stacked=True)

    def _error_row(self, words: str, entry_id: str, field: str, source: str) -> tuple[str, ...]:
        errors = (
            claim
            for claim in load_entry(entry_id).claims
            if claim.field == field and claim.source == source and claim.known_error
        )
        wrong = next(errors, None)
        if wrong is None or wrong.si_value is None:
            raise FlopbookError(f"{entry_id} has no known error of {source} in {field}")
        conditions = {}
        if field == PEAK:
            conditions = {"dtype": wrong.dtype, "sparsity": wrong.sparsity}
        correct = chip(entry_id).pick(field, **conditions).value
        return (
            words,
            self._entry_link(entry_id),
            f"{wrong.value:g} {wrong.unit}",
            f"{wrong.si_value / correct:.3g}",
            cite(source, self._page),
        )

    def endings_table(self) -> Html:
        """Makers that closed, were bought or merged, or licensed their technology away, by date."""
        endings = [(fact, maker_id) for maker_id in vendor_ids() for fact in _endings(maker_id)]
        endings.sort(key=lambda ending: (date_or_last(ending[0]), ending[1]))
        rows = [self._ending_row(maker_id, fact) for fact, maker_id in endings]
        head = ("Maker", "When", "What", "Source")
        return table(head, rows, caption="Makers that ended or changed hands", stacked=True)

    def _ending_row(self, vendor_id: str, fact: Fact) -> tuple[str, ...]:
        source = cite(fact.source, self._page)
        return self._maker_link(vendor_id), fact.date or "-", str(fact.value), source

    def systems_table(self, *ids: str) -> Html:
        """Systems and pods: chips that share one fast network, and what they have together."""
        by_id = {row.entry.id: row for row in self._items}
        rows = [self._system_row(by_id[load_entry(name).id]) for name in ids]
        head = ("System", "Status", "#Domain, chips", "#Peak, 16 bits", "#Memory", "#Power")
        return table(head, rows, caption="Systems with one fast network", stacked=True)

    def _system_row(self, system: ExplorerRow) -> tuple[str, ...]:
        peak = peak16(system.cells)
        size = value_of(system.cells, "scaleup_domain")
        return (
            self._entry_link(system.entry.id),
            state_of(system.entry),
            f"{size:,.0f}" if size else "-",
            _quantity(peak.value if peak else None, "FLOP/s"),
            _quantity(value_of(system.cells, "memory"), "byte"),
            _quantity(value_of(system.cells, "power"), "W"),
        )


def _endings(vendor_id: str) -> list[Fact]:
    """The statuses of a maker by which it ended or changed hands."""
    facts = vendor(vendor_id).facts
    return [fact for fact in facts if fact.field == "status" and ENDED.search(fact.value)]


def _count(collection: Sized) -> Number:
    return Number(len(collection), "1")


def _percent(answers: Sequence[bool]) -> Number:
    return Number(100 * sum(answers) / len(answers), "1")


def _quantity(amount: float | None, unit: str) -> str:
    return format_quantity(amount, unit) if amount else "-"


def _range(numbers: list[float], unit: str) -> str:
    """From the smallest to the largest, in three digits, with their number; one stands alone."""
    if not numbers:
        return "-"
    printed_unit = "1" if unit in ("FLOP/byte", "chip") else unit  # the head of the column says it
    limits = dict.fromkeys(
        format_quantity(float(f"{limit:.3g}"), printed_unit).replace(" ", "\N{NO-BREAK SPACE}")
        for limit in (min(numbers), max(numbers))
    )
    return Html('{} <span class="fb-read">({})</span>').format(" to ".join(limits), len(numbers))
