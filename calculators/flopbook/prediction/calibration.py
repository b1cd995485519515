"""Calibrates predictions on a few runs of one's own: their common factor, and a narrower band.

What a fit over all sources cannot know, such as the network or the tuning of one cluster, is much
the same for all its runs. Three of them show most of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import RunFile
from flopbook.errors import FlopbookError
from flopbook.prediction.bands import Adjustment, band_of
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import COVERAGE, cases_of
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.models import PredictionModel
from flopbook.prediction.validation import usable_pairs

LEAST_ROWS = 3
# The spread of runs within a source counts as this many runs beside those of the user.
PRIOR_RUNS = 4.0
NINTH_DECILE = 1.2816  # of the normal distribution: four fifths lie within, either way


class Calibration(NamedTuple):
    """What some runs say about the predictions of a kind.

    `factor` multiplies what is predicted and divides times; `band` is the factor of the band around
    it; the errors are medians of the rows' size of error, each predicted from the others.
    """

    kind: str
    rows: int
    factor: float
    band: float
    error_before: float
    error_after: float

    @property
    def adjustment(self) -> Adjustment:
        """What it does to a prediction; no band gets wider."""
        return Adjustment(self.factor, self.band)

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return self._asdict()


def calibrated(kind: str, files: Iterable[RunFile]) -> Calibration:
    """The calibration of a kind by the rows of some files; rows of other kinds are not read.

    Raises FlopbookError where fewer than three rows of the kind can be predicted.
    """
    model, fitted = MODELS[kind], fitted_kinds()[kind]
    ratios = _ratios(model, fitted, files)
    if len(ratios) < LEAST_ROWS:
        usable = "none can" if not ratios else f"{len(ratios)} can"
        raise FlopbookError(
            f"--calibrate needs {LEAST_ROWS} or more rows of {kind} that can be predicted; "
            f"of the rows given {usable}"
        )
    return _calibration(kind, fitted, ratios)


def calibrations(files: Sequence[RunFile]) -> dict[str, Calibration]:
    """The calibration of each kind of which some files have enough rows."""
    calibrated_kinds = {}
    for kind, model in MODELS.items():
        ratios = _ratios(model, fitted_kinds()[kind], files)
        if len(ratios) >= LEAST_ROWS:
            calibrated_kinds[kind] = _calibration(kind, fitted_kinds()[kind], ratios)
    return calibrated_kinds


def _ratios(model: PredictionModel, known: Fitted, files: Iterable[RunFile]) -> list[float]:
    """Logarithms of measured over predicted of the rows of a kind; of times, the inverse."""
    pairs = usable_pairs(model, known, cases_of(model, files).cases)
    return [
        math.log(value / case.measured if case.is_time else case.measured / value)
        for case, value in pairs
    ]


def _calibration(kind: str, known: Fitted, ratios: Sequence[float]) -> Calibration:
    within = _spread_within_sources(kind, known)
    freedom = len(ratios) - 1 + PRIOR_RUNS
    middle = math.fsum(ratios) / len(ratios)
    squares = math.fsum((ratio - middle) ** 2 for ratio in ratios) + PRIOR_RUNS * within**2
    # A new run differs by its own spread and by the error of the mean of the few.
    deviation = math.sqrt(squares / freedom * (1 + 1 / len(ratios)))
    quantile = NINTH_DECILE * (1 + (NINTH_DECILE**2 + 1) / (4 * freedom))
    between = _spread_between_sources(known, within)
    left = [
        ratio - _factor([*ratios[:place], *ratios[place + 1 :]], between)
        for place, ratio in enumerate(ratios)
    ]
    return Calibration(
        kind=kind,
        rows=len(ratios),
        factor=math.exp(_factor(ratios, between)),
        band=min(math.exp(quantile * deviation), band_of(known, "")),
        error_before=_typical_error(ratios),
        error_after=_typical_error(left),
    )


def _factor(ratios: Sequence[float], between: float) -> float:
    """The logarithm of the common factor: the mean, as far as the runs agree on it.

    Where they scatter as much as sources do, little of their mean is their own.
    """
    middle = math.fsum(ratios) / len(ratios)
    variance = math.fsum((ratio - middle) ** 2 for ratio in ratios) / (len(ratios) - 1)
    return middle * between**2 / (between**2 + variance / len(ratios))


def _spread_between_sources(known: Fitted, within: float) -> float:
    """How far sources lie apart: what the band holds beyond the spread within each."""
    return math.sqrt(max(_spread(known) ** 2 - within**2, within**2 / 4))


def _spread(known: Fitted) -> float:
    """The standard deviation that the band stands for, as a logarithm."""
    return math.log(band_of(known, "")) / NINTH_DECILE


def _typical_error(ratios: Sequence[float]) -> float:
    """The median size of predicted over measured less one."""
    return float(np.median(np.abs(np.expm1(-np.array(ratios)))))


def _spread_within_sources(kind: str, known: Fitted) -> float:
    """How far runs of one source lie apart once their common factor is known, as a logarithm."""
    by_source: dict[str, list[float]] = {}
    for file in run_files().values():
        for row in file.rows:
            if row.kind == kind and row.id in known.residuals:
                residual = math.log1p(known.residuals[row.id])
                by_source.setdefault(row.publication, []).append(residual)
    apart = [
        abs(residual - float(np.median(residuals)))
        for residuals in by_source.values()
        if len(residuals) > LEAST_ROWS
        for residual in residuals
    ]
    # Tails are heavy: what holds four fifths says more about a band than the middle does.
    return float(np.quantile(apart, COVERAGE)) / NINTH_DECILE if apart else _spread(known)
