"""What predictions of training are held against: later runs, and the starts of the fit."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from flopbook.prediction.fits import COVERAGE
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.parameters import PRIORS
from scripts.fit_ablation import NOT_ALONE, PIECES, without
from scripts.website.pages.predicted import CHECK, sound_lines

KIND = "training_throughput"


def widths_moved(name: str) -> float:
    """How many widths of its prior a parameter ends from where it started, up or down."""
    prior = PRIORS[name]
    return math.log(float(fitted_kinds()[KIND].parameters[name]) / prior.start) / prior.spread


def strayed() -> list[str]:
    """The parameters that ended more than one width from their start, the farthest first."""
    far = [name for name in PRIORS if abs(widths_moved(name)) > 1]
    return sorted(far, key=lambda name: -abs(widths_moved(name)))


def covering_factor(share: float = COVERAGE) -> float:
    """The factor up and down that would have held so large a share of the later runs."""
    factors = [math.exp(abs(math.log1p(line.error))) for line in sound_lines(KIND, CHECK)]
    return _quantile(factors, share)


def later_error(share: float = 0.5) -> float:
    """The size of error that so large a share of the later runs stays within."""
    return _quantile([abs(line.error) for line in sound_lines(KIND, CHECK)], share)


@functools.cache
def constant_error(of_peak: float, share: float = 0.5) -> float:
    """The same for the FLOPs of the weights over a constant share of the peak, and no more."""
    lines = sound_lines(KIND, CHECK)
    bare = without([piece for piece in PIECES if piece.name not in NOT_ALONE])
    runs = bare.arrange([line.case.inputs for line in lines])
    parameters = dict(fitted_kinds()[KIND].parameters) | {"matrix": of_peak}
    rates = bare.predict(runs, parameters)
    errors = [
        abs(float(rate) / line.case.measured - 1) for line, rate in zip(lines, rates, strict=True)
    ]
    return _quantile(errors, share)


def _quantile(sizes: Sequence[float], share: float) -> float:
    """The smallest of some sizes that so large a share of them does not exceed."""
    return sorted(sizes)[max(math.ceil(share * len(sizes)), 1) - 1]
