"""Calibrates predictions on a few runs of one's own, and says how far to trust them.

What a fit over all sources cannot know, such as the network or the tuning of one cluster, is much
the same for all its runs. Three of them show most of it. They move the parameters in the ways that
the fitted runs leave open, and a factor beside; `flopbook.prediction.own_moves` says how.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import RunFile
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.bands import Adjustment, band_of
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import COVERAGE, cases_of, objective
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.fitting import Objective
from flopbook.prediction.models import Case, PredictionModel
from flopbook.prediction.own_moves import OwnErrors, OwnMove, moved
from flopbook.prediction.validation import usable_pairs

LEAST_ROWS = 3
# The spread of runs within a source counts as this many runs beside those of the user.
PRIOR_RUNS = 4.0
NINTH_DECILE = 1.2816  # of the normal distribution: four fifths lie within, either way
# No share is off by more; runs that ask for it are in another unit.
MOST_MOVED = math.log(1000)
ROUNDS = 3


class Calibration(NamedTuple):
    """What some runs say about the predictions of a kind.

    `factor` is how much faster the runs are predicted than before, in the middle; `adjustment` is
    what any prediction of the kind takes over; `band` is the factor of the band around it; the
    errors are medians of the rows' size of error, each predicted from the others.
    """

    kind: str
    rows: int
    factor: float
    band: float
    error_before: float
    error_after: float
    adjustment: Adjustment

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {name: one for name, one in self._asdict().items() if name != "adjustment"}


def calibrated(kind: str, files: Iterable[RunFile]) -> Calibration:
    """The calibration of a kind by the rows of some files; rows of other kinds are not read.

    Raises FlopbookError where fewer than three rows of the kind can be predicted.
    """
    model, fitted = MODELS[kind], fitted_kinds()[kind]
    cases = _usable(model, fitted, files)
    if len(cases) < LEAST_ROWS:
        usable = "none can" if not cases else f"{len(cases)} can"
        raise FlopbookError(
            f"--calibrate needs {LEAST_ROWS} or more rows of {kind} that can be predicted; "
            f"of the rows given {usable}"
        )
    return calibration_by(model, fitted, cases)


def calibrations(files: Sequence[RunFile]) -> dict[str, Calibration]:
    """The calibration of each kind of which some files have enough rows."""
    calibrated_kinds = {}
    for kind, model in MODELS.items():
        fitted = fitted_kinds()[kind]
        cases = _usable(model, fitted, files)
        if len(cases) >= LEAST_ROWS:
            calibrated_kinds[kind] = calibration_by(model, fitted, cases)
    return calibrated_kinds


def _usable(model: PredictionModel, known: Fitted, files: Iterable[RunFile]) -> list[Case]:
    """The rows of a kind that can be compared with what is predicted for them."""
    return [case for case, _ in usable_pairs(model, known, cases_of(model, files).cases)]


def calibration_by(model: PredictionModel, known: Fitted, cases: Sequence[Case]) -> Calibration:
    """The calibration of a kind by some of its rows."""
    within = _spread_within_sources(model.kind, known)
    problem = objective(model, cases, with_groups=False)
    start = np.log([known.parameters[name] for name in model.priors])
    speed = np.array([-1.0 if case.is_time else 1.0 for case in cases])
    found = _found(problem, start, known, speed)
    before, after = -problem.errors(start), -problem.errors(start + found.move)
    faster = speed * (before - after) + found.common
    freedom = len(cases) + PRIOR_RUNS
    # Each run by the others is as far off as a new one would be.
    deviation = math.sqrt((float(np.sum(found.left**2)) + PRIOR_RUNS * within**2) / freedom)
    quantile = NINTH_DECILE * (1 + (NINTH_DECILE**2 + 1) / (4 * freedom))
    band = min(math.exp(quantile * deviation), band_of(known, ""))
    moved_to = dict(zip(model.priors, map(float, np.exp(start + found.move)), strict=True))
    return Calibration(
        kind=model.kind,
        rows=len(cases),
        factor=math.exp(float(np.mean(faster))),
        band=band,
        error_before=_typical_error(before),
        error_after=_typical_error(found.left),
        adjustment=Adjustment(math.exp(found.common), band, moved_to),
    )


def _found(problem: Objective, start: Column, known: Fitted, speed: Column) -> OwnMove:
    """What some runs move, by Gauss-Newton steps: slopes change on the way."""
    open_moves = np.zeros((len(start), len(start)))
    for place, row in enumerate(known.moves.values()):
        open_moves[place, : place + 1] = row
    found = OwnMove(np.zeros(len(start)), 0.0, np.zeros(len(speed)))
    for _ in range(ROUNDS):
        point = start + found.move
        slopes = problem.slopes(point)
        errors = slopes @ found.move - problem.errors(point)
        found = moved(OwnErrors(errors, slopes, speed, open_moves))
        found = found._replace(move=np.clip(found.move, -MOST_MOVED, MOST_MOVED))
    return found


def _spread(known: Fitted) -> float:
    """The standard deviation that the band stands for, as a logarithm."""
    return math.log(band_of(known, "")) / NINTH_DECILE


def _typical_error(ratios: Column) -> float:
    """The median size of predicted over measured less one; logarithms of the inverse are given."""
    return float(np.median(np.abs(np.expm1(-ratios))))


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
