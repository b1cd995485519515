"""The published runs as prose names them."""

from __future__ import annotations

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
