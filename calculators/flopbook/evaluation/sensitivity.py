"""Which input moves an answer most: by how many percent it changes for one percent of each."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.curve import Curve

STEP = 1e-4  # of the logarithm of an input that is a number, up and down
NOTHING = 1e-9  # an elasticity below this is rounding
CORNER = 0.01  # so far apart, the two sides of a point belong to different branches
# Elasticities that agree to so many decimals count as equal, and keep the order of the inputs.
RANK_DECIMALS = 6


class Sensitivity(NamedTuple):
    """The elasticity of an output in one input, d ln(output) / d ln(input), from `low` to `high`.

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

    @property
    def strength(self) -> float:
        """The largest of its elasticities, without the sign."""
        return max(abs(self.elasticity), abs(self.below or 0), abs(self.above or 0))

    def as_json(self) -> dict[str, Any]:
        """For `--explain --json`: SI values."""
        record: dict[str, Any] = {
            "input": self.name,
            "elasticity": self.elasticity,
            "between": [self.low, self.high],
        }
        if self.below is not None:
            record |= {"below": self.below, "above": self.above}
        return record


class Sensitivities(NamedTuple):
    """The sensitivities of one output, the strongest first.

    `without_effect` are inputs that do not move it here, `held` those that a rule ties to others.
    """

    output: str
    inputs: tuple[Sensitivity, ...]
    without_effect: tuple[str, ...]
    held: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For `--explain --json`: SI values."""
        return {
            "output": self.output,
            "step": STEP,
            "inputs": [sensitivity.as_json() for sensitivity in self.inputs],
            "without_effect": list(self.without_effect),
            "held": list(self.held),
        }


class _Point(NamedTuple):
    """An input and the output there, None where the input is refused."""

    x: float
    y: Any

    @property
    def has_slope(self) -> bool:
        """Whether a logarithm of the input exists, and the output is a number."""
        return self.x > 0 and _is_finite(self.y)


def sensitivities(result: Result, output: str | None = None) -> Sensitivities:
    """The elasticities of an output in every input that is a number, at the point of an answer.

    Without a name, of the first output that has a finite value. Central differences: an input is
    changed by a ten-thousandth of itself up and down, a whole number by one; where a rule forbids
    that, to its half and its double. Raises FlopbookError for an output that is a word, open,
    unlimited or zero.

    >>> from flopbook.evaluation.calculator import calculate
    >>> moves = sensitivities(calculate("min-batch", peak=1e15, bandwidth=4e12), "tokens")
    >>> [(move.name, round(move.elasticity, 3)) for move in moves.inputs]
    [('peak', 1.0), ('bandwidth', -1.0), ('bytes_per_param', 1.0)]
    """
    formula = result.formula
    name = output or _first_output(result)
    if not name or not _can_vary(result[name]):
        raise FlopbookError(
            f"{name or 'every output'} is no number other than zero here: "
            "nothing moves it by percents"
        )
    used = {
        key: used_value.value for key, used_value in result.inputs.items() if key in formula.inputs
    }
    values = {**formula.defaults, **used}
    moving: list[Sensitivity] = []
    without_effect, held = [], []
    for key in formula.inputs:
        if not _can_vary(values.get(key)):
            continue
        point = _Point(float(values[key]), float(result[name]))
        sensitivity = _elasticity(Curve(formula, values, key, name), point)
        if sensitivity is None:
            held.append(key)
        elif sensitivity.strength < NOTHING:
            without_effect.append(key)
        else:
            moving.append(sensitivity)
    # Sorting is stable: equal ones stay in the order of the inputs.
    moving.sort(key=lambda move: -round(abs(move.elasticity), RANK_DECIMALS))
    return Sensitivities(name, tuple(moving), tuple(without_effect), tuple(held))


def _first_output(result: Result) -> str:
    """The first output that percents can be told of; empty where there is none."""
    return next((name for name, value in result.items() if _can_vary(value)), "")


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _can_vary(value: Any) -> bool:
    return _is_finite(value) and value != 0


def _elasticity(curve: Curve, point: _Point) -> Sensitivity | None:
    """The elasticity at a point, from one side if the other is refused; None where both are."""
    is_whole = curve.spec.whole
    for x_low, x_high in _steps(point.x, is_whole):
        low, high = _Point(x_low, curve(x_low)), _Point(x_high, curve(x_high))
        # Two of the three points make a slope, from one side if need be.
        usable = [candidate for candidate in (low, point, high) if candidate.has_slope]
        if len(usable) < 2:
            continue
        first, last = usable[0], usable[-1]
        elasticity = _slope(first, last, point.y) or 0.0
        below, above = _slope(low, point, point.y), _slope(point, high, point.y)
        # A whole number takes a step too long for its two sides to agree.
        if below is None or above is None or is_whole or abs(above - below) <= CORNER:
            below = above = None
        return Sensitivity(curve.name, elasticity, first.x, last.x, below, above)
    return None


def _steps(x: float, whole: bool) -> list[tuple[float, float]]:
    """The points below and above an input, first choice first."""
    # A whole number that has to be a power of two, or to divide another, has no neighbours.
    if whole:
        return [(x - 1, x + 1), (x / 2, 2 * x)]
    return [(x * math.exp(-STEP), x * math.exp(STEP))]


def _slope(first: _Point, last: _Point, y: float) -> float | None:
    """Change of the logarithm of an output over that of the input; None without two numbers.

    Where the output changes its sign it has no logarithm; its change over `y` stands for that.
    """
    if first.x <= 0 or not _is_finite(first.y) or not _is_finite(last.y):
        return None
    rise: float = (last.y - first.y) / y
    if first.y * last.y > 0:
        rise = math.log(last.y / first.y)
    return rise / math.log(last.x / first.x)
