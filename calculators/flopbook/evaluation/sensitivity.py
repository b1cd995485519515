"""Which input moves an answer most: by how many percent it changes for one percent of each input."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.curve import Curve

STEP = 1e-4  # of the logarithm of an input that is a number, up and down
NOTHING = 1e-9  # an elasticity below this is rounding
CORNER = 0.01  # so far apart, the two sides of a point belong to different branches


class Sensitivity(NamedTuple):
    """The elasticity of an output in one input, d ln(output) / d ln(input), between `low` and
    `high`.

    At a corner, such as the point where another of two times becomes the longer one, `below` and
    `above` are those of its two sides, and the elasticity lies between them; elsewhere they are
    None.
    """

    name: str
    elasticity: float
    low: float
    high: float
    below: float | None = None
    above: float | None = None


class Sensitivities(NamedTuple):
    """Those of one output, the strongest first; inputs without effect here, and those that a rule
    does not let go.
    """

    output: str
    inputs: tuple[Sensitivity, ...]
    without_effect: tuple[str, ...]
    held: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For `--explain --json`: SI values."""
        inputs = [
            {"input": one.name, "elasticity": one.elasticity, "between": [one.low, one.high]}
            | ({} if one.below is None else {"below": one.below, "above": one.above})
            for one in self.inputs
        ]
        return {
            "output": self.output,
            "step": STEP,
            "inputs": inputs,
            "without_effect": list(self.without_effect),
            "held": list(self.held),
        }


def sensitivities(result: Result, output: str | None = None) -> Sensitivities:
    """The elasticities of an output in every input that is a number, at the point of an answer.

    Without a name, of the first output that has a finite value. Central differences: an input is
    changed by a ten-thousandth of itself up and down, a whole number by one; where a rule forbids
    that, to its half and its double. Raises FlopbookError for an output that is a word, open,
    unlimited or zero.

    >>> from flopbook.evaluation.calculator import calculate
    >>> found = sensitivities(calculate("min-batch", peak=1e15, bandwidth=4e12), "tokens")
    >>> [(one.name, round(one.elasticity, 3)) for one in found.inputs]
    [('peak', 1.0), ('bandwidth', -1.0), ('bytes_per_param', 1.0)]
    """
    formula = result.formula
    name = output or next((one for one, value in result.items() if _varies(value)), "")
    if not name or not _varies(result[name]):
        raise FlopbookError(
            f"{name or 'every output'} is no number other than zero here: nothing moves it by percents"
        )
    values = {
        **formula.defaults,
        **{key: item.value for key, item in result.inputs.items() if key in formula.inputs},
    }
    found, nothing, held = [], [], []
    for key in (one for one in formula.inputs if _varies(values.get(one))):
        one = _elasticity(
            Curve(formula, values, key, name), float(values[key]), float(result[name])
        )
        if one is None:
            held.append(key)
        elif max(abs(one.elasticity), abs(one.below or 0), abs(one.above or 0)) < NOTHING:
            nothing.append(key)
        else:
            found.append(one)
    found.sort(
        key=lambda one: -round(abs(one.elasticity), 6)
    )  # equal ones in the order of the inputs
    return Sensitivities(name, tuple(found), tuple(nothing), tuple(held))


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _varies(value: Any) -> bool:
    return _is_finite(value) and value != 0


def _elasticity(curve: Curve, x: float, y: float) -> Sensitivity | None:
    """The elasticity at a point, from one side where the other is refused; None where both are."""
    for low, high in _steps(x, curve.spec.whole):
        under, over = curve(low), curve(high)
        sides = [(a, b) for a, b in ((low, under), (x, y), (high, over)) if a > 0 and _is_finite(b)]
        if len(sides) > 1:
            (a, first), (b, last) = sides[0], sides[-1]
            below, above = _slope((low, under), (x, y), y), _slope((x, y), (high, over), y)
            corner = (
                None not in (below, above) and abs(above - below) > CORNER and not curve.spec.whole
            )
            ends = (below, above) if corner else (None, None)
            return Sensitivity(curve.name, _slope((a, first), (b, last), y) or 0.0, a, b, *ends)
    return None


def _steps(x: float, whole: bool) -> list[tuple[float, float]]:
    if whole:
        return [(x - 1, x + 1), (x / 2, 2 * x)]
    return [(x * math.exp(-STEP), x * math.exp(STEP))]


def _slope(first: tuple[float, Any], last: tuple[float, Any], y: float) -> float | None:
    """Change of the logarithm of an output over that of the input; of the output itself where it
    changes its sign.
    """
    (a, low), (b, high) = first, last
    if a <= 0 or not _is_finite(low) or not _is_finite(high):
        return None
    rise = math.log(high / low) if low * high > 0 else (high - low) / y
    return rise / math.log(b / a)
