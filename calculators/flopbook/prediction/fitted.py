"""The fitted parameters: the one derived file that is committed, and that a test rebuilds."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("fitted.json")


# What kinds without it leave out.
_OPEN: Mapping[str, Any] = {
    **{
        name: {}
        for name in ("left_out", "seen", "coverage", "same_years", "years", "moves", "calibrated")
    },
    "usual_strangeness": 0,
}


class Fitted(NamedTuple):
    """Parameters of one kind, its bands by quantity, and the residual of each row of the fit.

    `left_out` has the error of each row by a fit that saw nothing of its source. `seen` has the
    values of each trait that several rows share, `coverage` how many of the rows that some fits
    did not see the bands hold, by what was left out. `years` has the powers to which runs of later
    years raise bands, where enough sources tell, and `same_years` how many rows of left-out sources
    bands hold that are not raised. `usual_strangeness` is in how many traits a
    left-out run is unlike the others, in the middle. `moves` has a row for each parameter, up to
    the diagonal: how far its logarithm moves with each of as many independent unknowns that the
    runs leave open. `calibrated` says how far off left-out sources are before and after three of
    their runs calibrate the others, where enough sources tell.
    """

    parameters: Mapping[str, float]
    bands: Mapping[str, float]
    residuals: Mapping[str, float]
    left_out: Mapping[str, float]
    seen: Mapping[str, Sequence[str]]
    coverage: Mapping[str, Mapping[str, int]]
    years: Mapping[str, float] = MappingProxyType({})
    same_years: Mapping[str, int] = MappingProxyType({})
    usual_strangeness: int = 0
    moves: Mapping[str, Sequence[float]] = MappingProxyType({})
    calibrated: Mapping[str, float] = MappingProxyType({})


@functools.cache
def fitted_kinds() -> dict[str, Fitted]:
    """What was fitted, by kind."""
    kinds = json.loads(FILE.read_text(encoding="utf-8"))
    return {kind: Fitted(**{**_OPEN, **record}) for kind, record in kinds.items()}
