"""How wide a band has to be for a source that no fit has seen, from those that were left out.

Rows of a source err alike, so that sources are what is counted. The band holds `COVERAGE` of the
errors of the sources that were left out, each with as much weight as the other, however many rows
it has. Few sources know that share poorly: Student's distribution with a degree of freedom for each
source says how much wider the band of one more source has to be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.bands import (
    BAND_OF_PARTIAL_ROWS,
    BAND_OF_STRANGERS,
    band_without,
    widest_band,
)
from flopbook.prediction.fits import COVERAGE
from flopbook.prediction.fitted import Fitted
from flopbook.prediction.models import Case, PredictionModel, no_traits
from scripts.fit_traits import FEW, seen_by, strangeness

# A quantity with fewer left-out runs than this shares the band of its kind.
ENOUGH = 10
# Fewer values than this say nothing of another one.
LEAST_VALUES = 3
HALVINGS = 60
# Sources of other kinds that count beside those of a kind. The spreads of kinds differ by no more
# than twelve sources of one would scatter (five kinds, less what their own few sources scatter).
OTHER_SOURCES = 10
# What bands do not depend on.
NOTHING: Mapping[str, Any] = {"parameters": {}, "residuals": {}, "left_out": {}, "coverage": {}}


class LeftOut(NamedTuple):
    """What was left out of the fit for each case, such as its source, and the error that it had.

    Errors are predicted over measured less one.
    """

    groups: tuple[str, ...]
    errors: Column

    def where(self, chosen: Mask) -> LeftOut:
        """The cases that are chosen."""
        return LeftOut(tuple(np.array(self.groups)[chosen]), self.errors[chosen])

    @property
    def band(self) -> float:
        """The factor that holds a share of `COVERAGE` of the runs of one more group, either way.

        Nothing is out of the question where nothing was left out.
        """
        if not self.groups:
            return math.inf
        return round(math.exp(self.size * widening(len(set(self.groups)))), 4)

    @property
    def size(self) -> float:
        """The size of error, a logarithm, that `COVERAGE` of the known groups do not exceed."""
        counts = Counter(self.groups)
        sizes = np.abs(np.log1p(self.errors))
        shares = np.array([1 / counts[name] for name in self.groups]) / len(counts)
        order = np.argsort(sizes, kind="stable")
        place = np.searchsorted(np.cumsum(shares[order]), COVERAGE - 1e-9)
        return float(sizes[order][place])

    def band_beside(self, others: float) -> float:
        """The band where sources of other kinds lie `others` apart, a logarithm.

        A few sources that agree may do so by chance. So they are taken to lie as far apart as they
        do together with those of other kinds, unless they say that it is more.
        """
        if not self.groups:
            return math.inf
        own = len(set(self.groups))
        count = own + OTHER_SOURCES
        spread = math.sqrt((own * self.size**2 + OTHER_SOURCES * others**2) / count)
        return max(self.band, round(math.exp(spread * widening(count)), 4))


def widening(groups: int) -> float:
    """Student's factor for so many degrees of freedom over that of the normal distribution."""
    low, high = 0.0, math.pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _student(middle, groups) < COVERAGE else (low, middle)
    return math.sqrt(groups) * math.tan(low) / NormalDist().inv_cdf((1 + COVERAGE) / 2)


def _student(angle: float, freedom: int) -> float:
    """The share of Student's distribution within the square root of its freedom times tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    is_odd = freedom % 2
    term, total = math.cos(angle) if is_odd else 1.0, 0.0
    for factor in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (factor - 1) / factor
    inner = math.sin(angle) * total
    return 2 / math.pi * (angle + inner) if is_odd else inner


def measured_bands(
    model: PredictionModel,
    cases: Sequence[Case],
    unseen: LeftOut,
    by_trait: Mapping[str, LeftOut],
    others: float = 0.0,
) -> dict[str, Any]:
    """The bands of a kind by its left-out errors, with what they depend on: see `Fitted`.

    `others` is how far sources of other kinds lie apart, as a logarithm.
    """
    is_sound = np.array([case.is_sound for case in cases])
    counts = np.array(strangeness(model, cases))
    usual = int(np.median(counts[is_sound])) if np.any(is_sound) else 0
    bands = _quantity_bands(model, cases, unseen, is_sound & (counts <= usual), others)
    if np.sum(~is_sound) >= ENOUGH and model.traits is not no_traits:
        bands[BAND_OF_PARTIAL_ROWS] = unseen.where(~is_sound).band
    bands |= trait_bands(by_trait, bands[""])
    return {"bands": bands, "seen": seen_by(model, cases), "usual_strangeness": usual}


def raised(bands: Mapping[str, float], powers: Mapping[str, float]) -> dict[str, float]:
    """Bands with those of quantities raised to a power each, or to that under "".

    What is measured on strangers, and on rows that are not sound, stays as it is.
    """
    fixed = BAND_OF_PARTIAL_ROWS, BAND_OF_STRANGERS
    return {
        name: band
        if name in fixed or name.startswith(band_without(""))
        else round(band ** powers.get(name, powers[""]), 4)
        for name, band in bands.items()
    }


def power_of_unseen(seen: LeftOut, unseen: LeftOut) -> float:
    """The power to which a band of fitted errors has to be raised to be that of left-out ones."""
    return max(math.log(unseen.band) / math.log(seen.band), 1.0)


def _quantity_bands(
    model: PredictionModel, cases: Sequence[Case], unseen: LeftOut, is_like: Mask, others: float
) -> dict[str, float]:
    """A band for each quantity, and one for all, of rows as like the others as half of them are.

    A quantity of which no row is sound, since all leave open what it depends on, has that of all.
    """
    shown = [case.shown or model.shown for case in cases]
    quantities = np.array([line.band or line.quantity for line in shown])
    is_sound = np.array([case.is_sound for case in cases])
    bands = {"": unseen.where(is_like).band_beside(others)}
    for quantity in sorted(set(quantities)):
        of_it = quantities == quantity
        chosen = is_like & of_it if np.any(is_sound & of_it) else of_it
        if np.sum(chosen) >= ENOUGH:
            bands[str(quantity)] = unseen.where(chosen).band_beside(others)
    return bands


def trait_bands(by_trait: Mapping[str, LeftOut], usual: float = 1.0) -> dict[str, float]:
    """The band of runs unlike in each trait, and in several, where there are values enough.

    Where few values have rows enough, all count. Nobody left out runs that nothing shares several
    traits with: their band holds the `usual` error and those of two traits together.
    """
    bands = {}
    for trait, one in by_trait.items():
        counts = Counter(one.groups)
        large = [name for name, count in counts.items() if count >= FEW]
        chosen = large if len(large) >= LEAST_VALUES else list(counts)
        if len(chosen) >= LEAST_VALUES:
            bands[band_without(trait)] = one.where(np.isin(one.groups, chosen)).band
    together = usual * math.prod(sorted(bands.values())[-2:])
    return {**bands, BAND_OF_STRANGERS: round(together, 4)} if bands else bands


def covered(
    model: PredictionModel,
    cases: Sequence[Case],
    left_out: LeftOut,
    bands_without: Callable[[Mask], Mapping[str, Any]],
) -> dict[str, int]:
    """How many sound rows of left-out groups the bands of the other groups hold, of how many.

    `bands_without` gives the bands as the cases that are chosen make them.
    """
    groups, factors = np.array(left_out.groups), np.ones(len(cases))
    for name in sorted(set(left_out.groups)):
        others = Fitted(**{**NOTHING, **bands_without(groups != name)})
        for place in map(int, np.flatnonzero(groups == name)):
            case = cases[place]
            shown = case.shown or model.shown
            names = [shown.band or shown.quantity]
            factors[place] = widest_band(others, names, model.traits(case.inputs))
    is_sound = np.array([case.is_sound for case in cases])
    is_held = np.abs(np.log1p(left_out.errors)) <= np.log(factors) + 1e-9
    return {"rows": int(np.sum(is_sound)), "held": int(np.sum(is_held & is_sound))}
