"""How wide bands are for runs unlike all that were fitted, and how many left-out runs they hold.

A chip generation, an engine, a format or a kind of work that no fitted run has is a stranger. What
strangers cost is measured on the fitted rows: all rows of one value are left out, as if nobody had
measured it yet.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.prediction.arrays import Column
from flopbook.prediction.bands import BAND_OF_STRANGERS, band_without, unlike, widest_band
from flopbook.prediction.fits import COVERAGE, left_out_errors
from flopbook.prediction.fitted import Fitted
from flopbook.prediction.models import Case, PredictionModel

# A value that fewer sound rows share is a stranger still.
FEW = 5
# Fewer values than this say nothing of another one.
LEAST_VALUES = 3
MANY = 1000  # folds, so that each value is one


class LeftOutTrait(NamedTuple):
    """The value of a trait that each case has, and its error by a fit that saw no such case."""

    group: Callable[[Case], str]
    errors: Column
    values: tuple[str, ...]


def seen_by(model: PredictionModel, cases: Sequence[Case]) -> dict[str, list[str]]:
    """The values of each trait that several sound rows share."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        for trait, value in model.traits(case.inputs).items():
            counts[trait][value] += case.is_sound
    return {
        trait: sorted(value for value, count in values.items() if count >= FEW)
        for trait, values in counts.items()
    }


def strangeness(model: PredictionModel, cases: Sequence[Case]) -> list[int]:
    """In how many traits each run is unlike those of other sources."""
    known = {
        name: seen_by(model, [case for case in cases if case.source != name])
        for name in {case.source for case in cases}
    }
    return [len(unlike(known[case.source], model.traits(case.inputs))) for case in cases]


def errors_by_trait(model: PredictionModel, cases: Sequence[Case]) -> dict[str, LeftOutTrait]:
    """Errors by fits that saw no row with the value of a trait, for each trait."""
    found = {}
    for trait in model.traits(cases[0].inputs) if cases else ():

        def group(case: Case, trait: str = trait) -> str:
            return model.traits(case.inputs)[trait]

        values = tuple(map(group, cases))
        if len(set(values)) == 1:
            continue  # nothing would be left to fit
        errors = left_out_errors(model, cases, group, MANY)
        found[trait] = LeftOutTrait(group, errors, values)
    return found


def trait_bands(by_trait: Mapping[str, LeftOutTrait], usual: float = 1.0) -> dict[str, float]:
    """The band of runs unlike in each trait, and in several, where there are values enough.

    Where few values have rows enough, all count. Nobody left out runs that nothing shares several
    traits with. Their band holds what one more value might bring, and no less than the `usual`
    error and those of two traits together.
    """
    bands, several = {}, 1.0
    for trait, one in by_trait.items():
        sizes: dict[str, list[float]] = defaultdict(list)
        for value, error in zip(one.values, one.errors, strict=True):
            sizes[value].append(abs(float(np.log1p(error))))
        large = [rows for rows in sizes.values() if len(rows) >= FEW]
        groups = large if len(large) >= LEAST_VALUES else list(sizes.values())
        if len(groups) >= LEAST_VALUES:
            bands[band_without(trait)] = round(group_band(groups), 4)
            several = max(several, group_band(groups, more=1))
    together = usual * math.prod(sorted(bands.values())[-2:])
    return {**bands, BAND_OF_STRANGERS: round(max(several, together), 4)} if bands else bands


def group_band(groups: Sequence[Sequence[float]], more: int = 0) -> float:
    """The factor that holds a share of `COVERAGE` of the rows of groups, each as much as the other.

    Rows of a group err alike, so that groups count and not rows. `more` groups lie outside.
    """
    shares = sorted((size, 1 / len(rows)) for rows in groups for size in rows)
    wanted, held = COVERAGE * (len(groups) + more), 0.0
    for size, share in shares:
        held += share
        if held >= wanted - 1e-9:
            return math.exp(size)
    return math.exp(shares[-1][0])


def covered(
    model: PredictionModel,
    cases: Sequence[Case],
    record: Mapping[str, Any],
    group: Callable[[Case], str],
    errors: Column,
) -> dict[str, int]:
    """How many sound rows of left-out groups the bands hold, of how many.

    What the other rows have seen decides how wide the band of each is.
    """
    groups = [group(case) for case in cases]
    known = {
        name: Fitted(**{**record, "seen": seen_by(model, _others(cases, groups, name))})
        for name in set(groups)
    }
    held = rows = 0
    for case, name, error in zip(cases, groups, errors, strict=True):
        if not case.is_sound:
            continue
        shown = case.shown or model.shown
        names = [shown.band or shown.quantity]
        factor = widest_band(known[name], names, model.traits(case.inputs))
        rows += 1
        held += abs(math.log1p(error)) <= math.log(factor) + 1e-9
    return {"rows": rows, "held": held}


def _others(cases: Sequence[Case], groups: Sequence[str], left_out: str) -> list[Case]:
    return [case for case, name in zip(cases, groups, strict=True) if name != left_out]
