"""The moves of parameters that a fit leaves open, as they are written into a file."""

from __future__ import annotations

import re

from flopbook.prediction.arrays import Column
from flopbook.prediction.models import PredictionModel

DIGITS = 5  # behind the point: a parameter that is known best is known to a hundredth


def triangle(model: PredictionModel, moves: Column) -> dict[str, list[float]]:
    """The rows of a lower triangle by parameter, each up to its diagonal."""
    return {
        name: [round(float(value), DIGITS) for value in moves[place, : place + 1]]
        for place, name in enumerate(model.priors)
    }


def with_short_rows(text: str) -> str:
    """JSON with each list of numbers on a line of its own."""
    return re.sub(r"\[[-\d.e,\s]+\]", lambda found: " ".join(found[0].split()), text)
