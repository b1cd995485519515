"""The published runs as prose names them."""

from __future__ import annotations

import statistics

from flopbook.prediction.reached import Reached
from scripts.website.figures.measured_matmuls import TimedProduct, flat, product
from scripts.website.figures.mfu_kinds import is_mixture
from scripts.website.figures.mfu_years import trained
from scripts.website.figures.reached_points import MARKS, mark_number
from scripts.website.markup import Html
from scripts.website.pages.reached import first_runs, reached_table, runs_on, shown_runs


class ReachedProse:
    """What a page says as `reached.first()`, `reached.table()` and `reached.count()`.

    `.table()` and `.here()` are of the runs whose page it is.
    """

    def __init__(self, page: str) -> None:
        self._page = page

    def first(self) -> Html:
        """The first runs, with filters for all."""
        return first_runs(self._page)

    def table(self) -> Html:
        """The runs of the page as a table. Raises KeyError for a page without."""
        return reached_table(self._page, runs_on(self._page))

    def here(self) -> Html:
        """How many runs the page has. Raises KeyError for a page without."""
        return Html("{:,} runs").format(len(runs_on(self._page)))

    def count(self, of: str = "runs") -> Html:
        """How many runs there are, or how many sources."""
        runs = shown_runs()
        if of == "sources":
            return Html("{:,} sources").format(len({run.source.source for run in runs}))
        return Html("{:,} runs").format(len(runs))

    def middle(self, bits: str, year: int, mixtures: bool) -> float:
        """Median MFU, in per cent, of a year's training runs in a format of the chart.

        Either of mixtures of experts or of dense models. Raises StatisticsError without any.
        """
        return 100 * statistics.median(
            run.rate.share or 0
            for run in _of_year(year)
            if MARKS[mark_number(run)][0] == bits and is_mixture(run) == mixtures
        )

    def product(self, *sides: int) -> TimedProduct:
        """The fastest product of matrices with these sides that was timed on an H100, in bf16.

        Raises ValueError without any.
        """
        return product(sides)

    def products(self) -> list[float]:
        """The lowest and the highest share of the peak of those products, in per cent."""
        return [100 * min(flat()), 100 * max(flat())]

    def mixtures(self, year: int) -> float:
        """How many in a hundred of a year's training runs are of mixtures of experts."""
        return 100 * statistics.mean(is_mixture(run) for run in _of_year(year))


def _of_year(year: int) -> list[Reached]:
    return [run for run in trained() if int(run.date) == year]
