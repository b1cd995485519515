"""How sure a prediction is: factors around it that hold four fifths of runs, and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.prediction.fitted import Fitted

THROUGHPUT_BAND = "throughput"
# What is inferred where nothing says which software runs; the answer is less sure then.
SOFTWARE = "software stack"
BAND_WITHOUT_STACK = "throughput, stack unknown"


class Adjustment(NamedTuple):
    """What calibration does to the predictions of a kind: a factor, and the widest band.

    The factor is one of speed: it multiplies rates and divides times.
    """

    factor: float = 1.0
    band: float = math.inf

    def of(self, value: float, *, is_time: bool) -> float:
        """A value once calibrated."""
        return value / self.factor if is_time else value * self.factor


AS_FITTED = Adjustment()


def band_of(known: Fitted, quantity: str) -> float:
    """The factor of the band of a quantity; the widest where the kind has none for it."""
    if not known.bands:
        raise FlopbookError("the fitted parameters have no bands; run python -m scripts.fit")
    return known.bands.get(quantity, max(known.bands.values()))


def band_name(inferred: Sequence[str]) -> str:
    """The band of a run's throughput, by what a rule had to fill in."""
    return BAND_WITHOUT_STACK if SOFTWARE in inferred else THROUGHPUT_BAND
