"""The fitted parameters: the one derived file that is committed, and that a test rebuilds."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("fitted.json")


class Fitted(NamedTuple):
    """Parameters of one kind, its bands by quantity, and the residual of each row of the fit.

    `left_out` has the error of each row by a fit that saw nothing of its source.
    """

    parameters: Mapping[str, float]
    bands: Mapping[str, float]
    residuals: Mapping[str, float]
    left_out: Mapping[str, float]


@functools.cache
def fitted_kinds() -> dict[str, Fitted]:
    """What was fitted, by kind."""
    kinds = json.loads(FILE.read_text(encoding="utf-8"))
    return {kind: Fitted(**{"left_out": {}, **record}) for kind, record in kinds.items()}
