"""Solves for an input that is a number: looks at its whole range, then for a closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import format_value
from flopbook.evaluation.calculator import calculate, resolved
from flopbook.evaluation.curve import Curve
from flopbook.evaluation.results import DEFAULT
from flopbook.evaluation.solving.root_search import (
    CLOSE,
    EXACT,
    Domain,
    Jump,
    Sample,
    Span,
    denser,
    equal,
    is_close,
    samples,
    spans,
    with_extremes,
)
from flopbook.evaluation.solving.solutions import CLOSED, HALVED, Solution, SolvedValue, mark_solved
from flopbook.evaluation.solving.targets import Target, one_sided, precise
from flopbook.faces.inverse import closed_roots, depends
from flopbook.formulas.declaration import Formula
from flopbook.formulas.description import ABSURDLY_SMALL
from flopbook.quantities.units import format_quantity
from flopbook.quantities.whole_numbers import divisors

MOST_DIVIDED = 1e6  # the divisors of larger inputs are not looked for
SAME_ROOT = 1e-6  # so near, relatively, a closed root is the one that halving has found
# A closed root may miss the target by so many times the error of the halved one: both are noise.
NO_WORSE = 8


class SolvedCurve(Curve):
    """The output to be met, as a function of the input that is looked for."""

    def __init__(self, formula: Formula, name: str, output: str, given: dict[str, Any]) -> None:
        spec = formula.inputs[name]
        self.low = max(spec.least, 1.0 if spec.whole else ABSURDLY_SMALL)
        # Any value within the bounds does: it is replaced at every call.
        allowed = min(max(1.0, self.low), spec.most)
        inputs = resolved(formula.id, **{**given, name: allowed})
        needs = [needed for needed in formula.outputs[output].needs if needed != name]
        missing = [_flag(needed) for needed in needs if inputs[needed].origin == DEFAULT]
        if missing:
            raise FlopbookError(f"{output} needs {' and '.join(f'--{flag}' for flag in missing)}")
        super().__init__(formula, {key: used.value for key, used in inputs.items()}, name, output)

    @property
    def flag(self) -> str:
        """The input as the command line spells it."""
        return _flag(self.name)

    def input_text(self, x: float) -> str:
        """A value of the input with its unit."""
        return format_quantity(x, self.spec.unit)

    def domain(self) -> Domain:
        """Where to look for the input.

        Rules may tie it to other inputs: equal to one, or a multiple or divisor.
        """
        alike: list[float] = []  # of the same unit: a rule may ask for one of these
        counts: list[float] = []
        for name, number in self._other_numbers():
            spec = self.formula.inputs[name]
            if spec.unit == self.spec.unit:
                alike.append(number)
            if spec.whole:
                counts.append(number)
        steps = _divisors_of_all(counts) if self.spec.whole else set()
        return Domain(
            self.low,
            self.spec.most,
            self.spec.whole,
            self.spec.none,
            tuple(alike),
            tuple(sorted(steps)),
        )

    def _other_numbers(self) -> Iterator[tuple[str, float]]:
        """The other inputs that are positive numbers; words and open inputs tie nothing."""
        for name, value in self.values.items():
            if name != self.name and not isinstance(value, str) and 0 < value < math.inf:
                yield name, float(value)

    def closed(self, x: float, target: Target) -> float | None:
        """The root in closed form nearest to `x` from halving, where it is at least as good."""
        error = abs(self(x) - target.value)
        inputs = {**self.values, self.name: x}
        for root in closed_roots(self.formula, inputs, self.name, self.output, target.value):
            if not is_close(root, x, SAME_ROOT):
                continue
            # A closed root of a whole number confirms it, or lies between two of them.
            if self.spec.whole:
                return x if is_close(root, x, EXACT) else None
            value = self(root)
            if value is None:
                continue
            if abs(value - target.value) <= max(EXACT * abs(target.value), NO_WORSE * error):
                return root
        return None


class _Search(NamedTuple):
    """What the search for a target came to; `target` is the one that was met in the end."""

    points: list[Sample]
    spans: list[Span]
    target: Target
    jumps: list[Jump]


def solve_number(curve: SolvedCurve, target: Target, given: dict[str, Any]) -> Solution:
    """The values of an input at which its output meets a target. Raises FlopbookError."""
    domain = curve.domain()
    points = samples(curve, domain)
    _check_values(curve, points, target)
    search = _search(curve, domain, points, target)
    _check_search(curve, search, target)
    answers = tuple(_answer(curve, span, search.target) for span in search.spans)
    result = calculate(curve.formula.id, **{**given, curve.name: answers[0].value})
    notes = _notes(curve, answers[0], given)
    return Solution(curve.name, target, answers, mark_solved(result, curve.name), tuple(notes))


def _search(curve: SolvedCurve, domain: Domain, points: list[Sample], target: Target) -> _Search:
    """Where the output meets the target; of whole numbers that cannot, where it comes to one side.

    Words and "at most" need only the samples; "exactly" may be a point between two of them.
    """
    if target.is_word:
        return _Search(points, spans(curve, domain, points, target.met), target, [])
    points = with_extremes(curve, domain, points, target.value)
    if target.relation != "=":
        return _Search(points, spans(curve, domain, points, target.met), target, [])
    hits, jumps = equal(curve, domain, points, target.value)
    # A saw may jump over the target here and meet it at a tooth that no sample has hit: a ring of
    # an odd number of chips has one step less to each side.
    if jumps and not hits:
        near_jumps = denser(curve, domain, points, jumps)
        hits, jumps = equal(curve, domain, near_jumps, target.value)
    if hits or not domain.whole:
        return _Search(points, hits, target, jumps)
    target = one_sided(target)
    return _Search(points, spans(curve, domain, points, target.met), target, jumps)


def _check_values(curve: SolvedCurve, points: list[Sample], target: Target) -> None:
    """Raise FlopbookError unless the output has values of the target's kind that move at all."""
    values = [point.y for point in points if point.y is not None]
    if not values:
        curve.at(curve.values[curve.name])  # says why
        raise FlopbookError(f"no value of {curve.flag} is allowed with these inputs")
    # A tuple, for example, as a calculator in ordinary Python gives.
    kind = str if target.is_word else (int, float)
    if not all(isinstance(value, kind) for value in values):
        raise FlopbookError(f"{target.output} is no number and cannot be a target")
    if len(values) == 1 or not all(_is_same(value, values[0]) for value in values):
        return
    text = format_value(values[0], target.unit)
    if _is_tied(curve):
        raise FlopbookError(
            f"{curve.output} is {text} with these inputs, whatever the {curve.flag}"
        )
    raise FlopbookError(
        f"{curve.output} of {curve.formula.id} does not depend on {curve.flag}; it is {text}"
    )


def _is_same(value: float | str, other: float | str) -> bool:
    """Whether two values of an output are equal but for rounding, which moves it nowhere."""
    if isinstance(value, str) or isinstance(other, str):
        return value == other
    return is_close(value, other, EXACT)


def _is_tied(curve: SolvedCurve) -> bool:
    """Whether the input moves the output by the formula, with whatever other inputs."""
    try:
        return depends(curve.formula, curve.output, curve.name)
    except FlopbookError:  # no formula of the subset, so only the values speak
        return True


def _check_search(curve: SolvedCurve, search: _Search, target: Target) -> None:
    """Raise FlopbookError where nothing meets the target, or everything does."""
    stretches = search.spans
    # Both ends are those of the domain; the target sets neither.
    is_everywhere = len(stretches) == 1 and stretches[0].open_low and stretches[0].open_high
    if is_everywhere and search.target == target and stretches[0].low < stretches[0].high:
        low, high = curve.input_text(stretches[0].low), curve.input_text(stretches[0].high)
        raise FlopbookError(
            f"every {curve.flag} from {low} to {high} gives {target}: nothing to solve for"
        )
    # To meet a looser target everywhere says nothing of the one that was asked for.
    if not stretches or (is_everywhere and search.target != target):
        raise FlopbookError(f"no {curve.flag} gives {target}{_range_text(curve, search, target)}")


def _range_text(curve: SolvedCurve, search: _Search, target: Target) -> str:
    """What the output is instead, and what could be asked for."""
    valued = [point for point in search.points if point.y is not None]
    if target.is_word:
        words = dict.fromkeys(point.y for point in valued)
        return f"; with these inputs it is {', '.join(words)}"
    if search.jumps:
        before, after = search.jumps[0]
        low, high = precise(before.y, target.unit), precise(after.y, target.unit)
        return (
            f": at {curve.input_text(after.x)} it goes from {low} to {high}; "
            f"ask for {target.output}<= or {target.output}>="
        )
    low, high = (
        f"{format_value(point.y, target.unit)} (at {curve.input_text(point.x)})"
        for point in (min(valued, key=_value_of), max(valued, key=_value_of))
    )
    if low == high:
        return f"; with these inputs it is {low}"
    return f"; with these inputs it goes from {low} to {high}"


def _value_of(point: Sample) -> Any:
    return point.y


def _answer(curve: SolvedCurve, span: Span, target: Target) -> SolvedValue:
    """A stretch of values as an answer: the end that the target sets, a point, or both ends."""
    noun = "whole number" if curve.spec.whole else "value"
    is_point = is_close(span.low, span.high, CLOSE)
    is_exact = not target.is_word and target.relation == "="
    if span.open_low != span.open_high and not (is_point and is_exact):
        return _end_answer(curve, span, target, noun)
    if not is_point:
        return SolvedValue(span.low, span.high, f"every {noun} between gives {target}")
    if target.is_word:
        return SolvedValue(span.low)
    middle = span.low if span.low == span.high else _best(curve, span, target)
    root = curve.closed(middle, target)
    bound = "" if target.relation == "=" else f"the only {noun} with {target}"
    if root is None:
        return SolvedValue(middle, None, bound, HALVED)
    return SolvedValue(root, None, bound, CLOSED)


def _end_answer(curve: SolvedCurve, span: Span, target: Target, noun: str) -> SolvedValue:
    """The end of a stretch that the target sets; the domain sets the other one."""
    x, size = (span.high, "largest") if span.open_low else (span.low, "smallest")
    bound = f"the {size} {noun} with {target}"
    root = None if target.is_word else curve.closed(x, target)
    if root is not None and target.met(curve(root)):
        return SolvedValue(root, None, bound, CLOSED)
    return SolvedValue(x, None, bound, HALVED)


def _best(curve: SolvedCurve, span: Span, target: Target) -> float:
    """Of a stretch that is a point but for rounding, the value that comes nearest."""
    candidates = (span.low, (span.low + span.high) / 2, span.high)
    return min(candidates, key=lambda x: abs(curve(x) - target.value))


def _notes(curve: SolvedCurve, answer: SolvedValue, given: dict[str, Any]) -> list[str]:
    """What the input is otherwise, and what the next whole number would give."""
    notes = []
    if curve.spec.whole and answer.bound and answer.to is None:
        beside = answer.value + (1 if "largest" in answer.bound else -1)
        value = curve(beside)
        if value is not None:
            unit = curve.formula.outputs[curve.output].unit
            notes.append(f"{beside:,.0f} gives {curve.output} {precise(value, unit)}")
    try:
        used = resolved(curve.formula.id, **given)[curve.name]
    except FlopbookError:  # nothing supplies the input, so there is nothing to compare with
        return notes
    if isinstance(used.value, float) and 0 < used.value < math.inf:
        notes.append(f"without --solve it is {curve.input_text(used.value)} ({used.origin})")
    return notes


def _divisors_of_all(numbers: list[float]) -> set[float]:
    """All divisors but 1 of these whole numbers and of 2; a large number stands for itself."""
    found: set[float] = set()
    for number in {2.0, *numbers}:
        found |= set(map(float, divisors(int(number)))) if number <= MOST_DIVIDED else {number}
    return found - {1.0}


def _flag(name: str) -> str:
    return name.replace("_", "-")
