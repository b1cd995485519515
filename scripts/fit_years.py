"""How much wider bands have to be for runs that are younger than all that was fitted.

Who asks for a prediction has a run of tomorrow. So the fit is put back to the end of each year in
turn, with the bands that it would have had, and asked for the sound rows of all later years.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from flopbook.prediction.bands import unlike, widest_band
from flopbook.prediction.fits import fitted, left_out_errors, predicted
from flopbook.prediction.fitted import Fitted
from flopbook.prediction.models import Case, PredictionModel
from scripts.fit_bands import NOTHING, LeftOut, measured_bands

# Fewer sources than this make no bands, and say nothing of those of later years.
LEAST_SOURCES = 5
MANY = 1000  # folds, so that each source is one
YearOf = Callable[[Case], int]


def powers_of_years(
    model: PredictionModel, cases: Sequence[Case], year_of: YearOf
) -> dict[str, float]:
    """The power to which each band has to be raised to hold runs of later years.

    Under "" is that of all others. It is 1 where bands hold them; where too few sources tell, none
    is there. Runs unlike all older ones in more traits than usual have bands of their own, and are
    left out.
    """
    told: dict[str, list[tuple[str, float]]] = {"": []}
    for year in sorted(set(map(year_of, cases)))[:-1]:
        older = [case for case in cases if year_of(case) <= year]
        if len({case.source for case in older}) < LEAST_SOURCES:
            continue
        known = _bands_of(model, older)
        later = [case for case in cases if year_of(case) > year and case.is_sound]
        later = [case for case in later if _is_like(model, known, case)]
        for case, share in zip(later, _shares(model, known, older, later), strict=True):
            told[""].append((case.source, share))
            told.setdefault(_band_name(model, case), []).append((case.source, share))
    return {name: _power(shares) for name, shares in told.items() if _tell_enough(shares)}


def _tell_enough(shares: Sequence[tuple[str, float]]) -> bool:
    return len({source for source, _ in shares}) >= LEAST_SOURCES


def _power(shares: Sequence[tuple[str, float]]) -> float:
    sources, errors = zip(*shares, strict=True)
    return max(math.log(LeftOut(sources, np.expm1(errors)).band), 1.0)


def _band_name(model: PredictionModel, case: Case) -> str:
    shown = case.shown or model.shown
    return shown.band or shown.quantity


def _bands_of(model: PredictionModel, older: Sequence[Case]) -> Fitted:
    """The bands that some cases would have made, had they been all there were."""
    groups = tuple(case.source for case in older)
    errors = left_out_errors(model, older, lambda case: case.source, MANY)
    return Fitted(**{**NOTHING, **measured_bands(model, older, LeftOut(groups, errors), {})})


def _is_like(model: PredictionModel, known: Fitted, case: Case) -> bool:
    return len(unlike(known.seen, model.traits(case.inputs))) <= known.usual_strangeness


def _shares(
    model: PredictionModel, known: Fitted, older: Sequence[Case], later: Sequence[Case]
) -> list[float]:
    """The error of each later run over the half width of its band, both as logarithms."""
    if not later:
        return []
    measured = np.array([case.measured for case in later])
    errors = np.abs(np.log(predicted(model, later, fitted(model, older)) / measured))
    bands = [
        widest_band(known, [_band_name(model, case)], model.traits(case.inputs)) for case in later
    ]
    return list(map(float, errors / np.log(bands)))
