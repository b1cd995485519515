"""Fits the models of all kinds on the rows marked for it, and measures how wrong they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from flopbook.data.runs import MeasuredRun, RunFile, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.fitting import Objective, Places, Together, fit, optimum
from flopbook.prediction.models import Case, Parameters, PredictionModel
from flopbook.prediction.named_models import MODEL_SHAPE, with_shape

# A row that lacks a part of its configuration pulls less: where their source is left out, such rows
# of training lie 2.6 times as far off as sound ones. One whose source contradicts itself pulls
# half as much as that.
INCOMPLETE, FLAGGED = 0.4, 0.2
# Of the errors of two rows of a cluster: ten rows tell as much as five that have nothing in common.
CORRELATION = 0.1
FOLDS = 12
COVERAGE = 0.8  # share of runs that a band is to hold


class Cases(NamedTuple):
    """The rows of a kind that can be predicted; of the others the id and why they cannot."""

    cases: tuple[Case, ...]
    refused: tuple[tuple[str, str], ...]


def cases_of(model: PredictionModel, files: Iterable[RunFile], use: str = "") -> Cases:
    """The rows of a model's kind in some files; of one use only where it is named."""
    cases, refused = [], []
    for file in files:
        for row in file.rows:
            if row.kind != model.kind or (use and row.use != use):
                continue
            try:
                cases.append(_case(model, row, file.sources[row.publication]))
            except FlopbookError as error:
                refused.append((row.id, str(error)))
            except ArithmeticError:
                refused.append((row.id, "its sizes are beyond what can be computed"))
    return Cases(tuple(cases), tuple(refused))


def _case(model: PredictionModel, row: MeasuredRun, source: RunSource) -> Case:
    """The case of a row; where it lacks sizes of a known model, with those on file."""
    try:
        return model.read(row, source)
    except FlopbookError:
        row_with_shape, is_named = with_shape(row)
        if not is_named:
            raise
    case = model.read(row_with_shape, source)
    return case._replace(inferred=(*case.inferred, MODEL_SHAPE))


def predicted(model: PredictionModel, cases: Sequence[Case], p: Parameters) -> Column:
    """What a model predicts for some cases, which sees their inputs alone."""
    return model.predict(model.arrange([case.inputs for case in cases]), p)


def fitted(model: PredictionModel, cases: Sequence[Case]) -> dict[str, float]:
    """The parameters of a model that fit some cases best."""
    if not model.priors:
        return {}
    return _by_name(model, fit(objective(model, cases)))


class FitWithMoves(NamedTuple):
    """The parameters that fit best, and the moves that the cases leave open.

    `moves` is a lower triangle, the square root of the covariance of the parameters' logarithms: a
    row for each parameter, how far it moves with each of as many independent unknowns.
    """

    parameters: dict[str, float]
    moves: Column


def fitted_with_moves(model: PredictionModel, cases: Sequence[Case]) -> FitWithMoves:
    """The parameters of a model that fit some cases best, and how far others fit nearly as well."""
    if not model.priors:
        return FitWithMoves({}, np.zeros((0, 0)))
    found = optimum(objective(model, cases))
    moves: Column = np.linalg.cholesky(found.covariance).astype(np.float64)
    return FitWithMoves(_by_name(model, found.point), moves)


def _by_name(model: PredictionModel, point: Column) -> dict[str, float]:
    return dict(zip(model.priors, map(float, np.exp(point)), strict=True))


def objective(
    model: PredictionModel, cases: Sequence[Case], *, with_groups: bool = True
) -> Objective:
    """What is fitted; `with_groups` where sources may lie off together, if the model says so."""
    names = tuple(model.priors)
    inputs = model.arrange([case.inputs for case in cases])

    def predict(points: Column) -> Column:
        if model.takes_arrays:
            columns = np.exp(points).T[:, :, None]
            return np.log(model.predict(inputs, dict(zip(names, columns, strict=True))))
        each = [dict(zip(names, np.exp(point), strict=True)) for point in points]
        return np.log([model.predict(inputs, parameters) for parameters in each])

    is_grouped = with_groups and model.shared
    return Objective(
        predict,
        measured=np.array([case.measured for case in cases]),
        weights=_weights(cases),
        start=np.array([prior.start for prior in model.priors.values()]),
        spread=np.array([prior.spread for prior in model.priors.values()]),
        together=Together(_places(cases), model.shared) if is_grouped else None,
    )


def _places(cases: Sequence[Case]) -> Places:
    """The place of the source of each case among all sources."""
    place_of = {name: place for place, name in enumerate(sorted({case.source for case in cases}))}
    return np.array([place_of[case.source] for case in cases])


def as_it_is(case: Case) -> Case:
    """A case with all that its row says."""
    return case


def _weights(cases: Sequence[Case]) -> Column:
    """How much each case counts: rows of a cluster err alike, so each tells less than the first."""
    sizes = Counter(case.cluster for case in cases if case.is_sound)
    alike: Column = np.array([1 + CORRELATION * max(sizes[case.cluster] - 1, 0) for case in cases])
    trust: Column = np.array([_trust(case) for case in cases])
    return trust / alike


def _trust(case: Case) -> float:
    """How much a case counts by what its row leaves out, and by what contradicts it."""
    if case.row.flags:
        return FLAGGED
    return 1.0 if case.row.complete else INCOMPLETE


def left_out_errors(
    model: PredictionModel,
    cases: Sequence[Case],
    group: Callable[[Case], str],
    folds: int = FOLDS,
    asked: Callable[[Case], Case] = as_it_is,
) -> Column:
    """Predicted over measured less one of each case, by a fit that saw nothing of its group.

    `asked` is how a case that was left out is asked for, where less is to be known of it.
    """
    names = sorted({group(case) for case in cases})
    ratios = np.empty(len(cases))
    for fold in range(min(folds, len(names))):
        left_out = set(names[fold::folds])
        kept = [case for case in cases if group(case) not in left_out]
        places = [place for place, case in enumerate(cases) if group(case) in left_out]
        p = fitted(model, kept)
        held = [asked(cases[place]) for place in places]
        measured = np.array([case.measured for case in held])
        ratios[places] = predicted(model, held, p) / measured - 1
    return ratios
