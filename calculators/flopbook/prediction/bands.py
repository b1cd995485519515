"""How sure a prediction is: factors around it that hold four fifths of runs, and calibration."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.prediction.fitted import Fitted

THROUGHPUT_BAND = "throughput"
# What is inferred where nothing says which software runs; the answer is less sure then.
SOFTWARE = "software stack"
BAND_WITHOUT_STACK = "throughput, stack unknown"
BAND_OF_MIXTURES = "throughput, mixture"
# Of rows that leave out a part of their configuration, or contradict themselves.
BAND_OF_PARTIAL_ROWS = "partial row"
# Of runs of which no fitted one shares several traits.
BAND_OF_STRANGERS = "unlike in several traits"


class Adjustment(NamedTuple):
    """What calibration does to the predictions of a kind: a factor, the widest band, parameters.

    The factor is one of speed: it multiplies rates and divides times. Parameters that are not named
    stay as they were fitted.
    """

    factor: float = 1.0
    band: float = math.inf
    parameters: Mapping[str, float] = MappingProxyType({})

    def on(self, known: Fitted) -> Fitted:
        """What was fitted, with the parameters that calibration moved."""
        return known._replace(parameters={**known.parameters, **self.parameters})

    def of(self, value: float, *, is_time: bool) -> float:
        """A value once calibrated."""
        return value / self.factor if is_time else value * self.factor


AS_FITTED = Adjustment()


def band_of(known: Fitted, quantity: str) -> float:
    """The factor of the band of a quantity; that of its kind where too few runs have it."""
    if not known.bands:
        raise FlopbookError("the fitted parameters have no bands; run python -m scripts.fit")
    of_kind = known.bands.get("", max(known.bands.values()))
    return known.bands.get(quantity, of_kind)


def unlike(seen: Mapping[str, Collection[str]], traits: Mapping[str, str]) -> tuple[str, ...]:
    """The traits of a run that no fitted run shares, such as its chip generation."""
    return tuple(
        name for name, value in traits.items() if value and value not in seen.get(name, ())
    )


def band_without(trait: str) -> str:
    """The name of the band of runs of which no fitted one shares a trait."""
    return f"unlike in {trait}"


def widest_band(known: Fitted, names: Iterable[str], traits: Mapping[str, str]) -> float:
    """The widest of the bands of some quantities, and of what is unlike all fitted runs.

    Bands of quantities were measured on runs that are themselves unlike the others in some traits;
    more of them widen a band.
    """
    strange = unlike(known.seen, traits)
    wider: list[str] = []
    if len(strange) > known.usual_strangeness:
        wider += map(band_without, strange)
    if len(strange) > most_strange(known):
        wider.append(BAND_OF_STRANGERS)
    others = (known.bands.get(name, 1.0) for name in wider)
    return max((*(band_of(known, name) for name in names), *others))


def most_strange(known: Fitted) -> int:
    """In how many traits a run may be unlike the fitted ones before its band is that of strangers.

    In one at least, since what one costs was measured.
    """
    return max(known.usual_strangeness, 1)


def band_names(inferred: Sequence[str], *, is_mixture: bool) -> tuple[str, ...]:
    """The bands of a run's throughput, by what a rule had to fill in and by its model."""
    base = BAND_WITHOUT_STACK if SOFTWARE in inferred else THROUGHPUT_BAND
    return (base, BAND_OF_MIXTURES) if is_mixture else (base,)
