"""What calibration on a few runs is worth, measured on sources that were left out of the fit.

Each source with enough rows is left out in turn. Some of its sound rows are drawn, the predictions
of a fit that saw nothing of the source are calibrated on them, and the other sound rows are judged.
`python -m scripts.fit_calibration` prints the errors of each source.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.measured_runs import run_files
from flopbook.prediction import training
from flopbook.prediction.arrays import Column
from flopbook.prediction.calibration import LEAST_ROWS, calibration_by
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of, fitted_with_moves, predicted
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.models import Case, PredictionModel
from flopbook.prediction.named_models import MODEL_SHAPE
from scripts.fit_moves import triangle

DRAWS = 20
SEED = 15
# Of a source with fewer rows beyond those that are drawn, the median error says little.
LEAST_JUDGED = 3
# Fewer sources than this say nothing of another one.
LEAST_SOURCES = 5


class SourceErrors(NamedTuple):
    """Sizes of errors of the rows of a source that were not drawn, a mean over draws.

    `before` and `after` are medians without and with calibration, the others means; `held` is the
    share of these rows that the calibrated band holds.
    """

    source: str
    rows: int
    before: float
    after: float
    mean_before: float
    mean_after: float
    held: float


def calibrated_sources(
    model: PredictionModel, cases: Sequence[Case], known: Fitted, runs: int = LEAST_ROWS
) -> tuple[SourceErrors, ...]:
    """The errors of each source with rows enough, calibrated on so many runs of it."""
    found = []
    for source in sorted({case.source for case in cases}):
        sound = [case for case in cases if case.source == source and case.is_sound]
        if len(sound) < runs + LEAST_JUDGED:
            continue
        parameters, moves = fitted_with_moves(
            model, [case for case in cases if case.source != source]
        )
        without = known._replace(parameters=parameters, moves=triangle(model, moves))
        found.append(_source_errors(model, without, sound, runs))
    return tuple(found)


def _source_errors(
    model: PredictionModel, known: Fitted, sound: Sequence[Case], runs: int
) -> SourceErrors:
    random = np.random.default_rng(SEED)
    draws = [_draw(model, known, random.permutation(len(sound)), sound, runs) for _ in range(DRAWS)]
    return SourceErrors(sound[0].source, len(sound), *map(float, np.mean(draws, axis=0)))


def _draw(
    model: PredictionModel, known: Fitted, order: Any, sound: Sequence[Case], runs: int
) -> tuple[float, ...]:
    """Errors of the rows behind the first few in an order, which calibrate."""
    own, others = ([sound[place] for place in part] for part in (order[:runs], order[runs:]))
    adjustment = calibration_by(model, known, own).adjustment
    before = _errors(others, predicted(model, others, known.parameters))
    values = predicted(model, others, adjustment.on(known).parameters)
    faster = [
        adjustment.of(float(value), is_time=case.is_time)
        for case, value in zip(others, values, strict=True)
    ]
    after = _errors(others, np.array(faster))
    held = np.mean(np.abs(np.log1p(after)) <= np.log(adjustment.band))
    sizes = np.abs(before), np.abs(after)
    medians, means = [np.median(size) for size in sizes], [np.mean(size) for size in sizes]
    return (*map(float, medians), *map(float, means), float(held))


def _errors(cases: Sequence[Case], values: Column) -> Column:
    measured = np.array([case.measured for case in cases])
    errors: Column = values / measured - 1
    return errors


def summary(found: Sequence[SourceErrors]) -> dict[str, float]:
    """Means over sources, and how many of them gain; nothing where they are few."""
    if len(found) < LEAST_SOURCES:
        return {}
    names = SourceErrors._fields[2:]
    return {
        "sources": len(found),
        "gain": sum(one.after < one.before for one in found),
        "mean_gain": sum(one.mean_after < one.mean_before for one in found),
        **{name: round(float(np.mean([getattr(one, name) for one in found])), 4) for name in names},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the errors of each source and of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default=training.MODEL.kind, choices=MODELS)
    parser.add_argument("--runs", type=int, default=LEAST_ROWS)
    options = parser.parse_args(arguments)
    model = MODELS[options.kind]
    readable = cases_of(model, run_files().values(), use="fit").cases
    cases = [case for case in readable if MODEL_SHAPE not in case.inferred]
    found = calibrated_sources(model, cases, fitted_kinds()[options.kind], options.runs)
    for one in found:
        shares = " ".join(f"{100 * share:6.1f}" for share in one[2:])
        print(f"{one.source:24} {one.rows:3} {shares}")
    print(summary(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
