"""Measured against predicted: the table of errors by kind, and counts for prose."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from flopbook.data.measured_runs import run_files
from flopbook.prediction import training
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import COVERAGE
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import Comparison, Validation, summary_of, validate
from flopbook.quantities.units import percent
from scripts.website.markup import Html, table
from scripts.website.pages.run_kinds import KINDS

HEAD = (
    "Kind",
    "#Fitted rows",
    "#Median",
    "#90 of 100",
    "#Other rows",
    "#Median",
    "#Mean",
    "#90 of 100",
    "#Bias",
    "#In the band",
)
FIT, CHECK = "fit", "check"


@functools.lru_cache(maxsize=1)
def validated() -> Validation:
    """All runs on file, predicted from their configuration."""
    return validate(run_files().values())


def sound_lines(kind: str, use: str) -> list[Comparison]:
    """Rows of a kind and a use that are complete and carry no flag."""
    return [
        line
        for line in validated().lines
        if line.case.row.kind == kind and line.case.row.use == use and line.case.is_sound
    ]


class PredictedProse:
    """Predictions as a page names them: `predicted.table()`, `predicted.error("inference")`."""

    def table(self) -> Html:
        """A line for each kind: errors of rows that the fit saw, and of those it did not see."""
        rows = [_row(kind) for kind in MODELS]
        caption = "Errors of predictions by kind of measurement"
        return table(HEAD, rows, caption=caption, stacked=True)

    def rows(self, use: str = CHECK) -> str:
        """How many complete rows of all kinds are compared."""
        return f"{sum(len(sound_lines(kind, use)) for kind in MODELS):,}"

    def median(self, kind: str, use: str = CHECK) -> str:
        """The median size of error of a kind, in percent."""
        return percent(_summary(sound_lines(kind, use))["median"])

    def of_rows(self, start: str) -> str:
        """The median size of error of the rows whose ids begin so, in percent."""
        lines = [line for line in validated().lines if line.case.row.id.startswith(start)]
        return percent(_summary(lines)["median"], 1)

    def promised(self) -> str:
        """The share of runs that a band is to hold, in percent."""
        return percent(COVERAGE)

    def covered(self, kind: str, use: str = CHECK) -> str:
        """The share of rows of a kind that the band holds, in percent."""
        return percent(_summary(sound_lines(kind, use))["coverage"])

    def calibrated(self, name: str) -> str:
        """An error of left-out training runs, calibrated on three of their source, in percent."""
        return _percent(fitted_kinds()[training.MODEL.kind].calibrated[name])


def _summary(lines: Sequence[Comparison]) -> dict[str, Any]:
    return summary_of(lines)


def _row(kind: str) -> tuple[str, ...]:
    fitted, never_fitted = (_summary(sound_lines(kind, use)) for use in (FIT, CHECK))
    return (
        KINDS[kind],
        str(fitted["n"]),
        *(_percent(fitted[name]) for name in ("median", "p90")),
        str(never_fitted["n"]),
        *(_percent(never_fitted[name]) for name in ("median", "mean", "p90")),
        "" if never_fitted["bias"] is None else percent(never_fitted["bias"], signed=True),
        _percent(never_fitted["coverage"]),
    )


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)
