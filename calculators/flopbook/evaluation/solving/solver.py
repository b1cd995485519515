"""Calculators turned round: the value of an input at which an output meets a target.

What the syntax tree allows is solved in closed form; all else by looking at the whole range between
the input's least and most and halving. Either way every answer is checked by computing the formula
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.answers import format_value
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.request import WORDS, option_names, takes
from flopbook.evaluation.results import Result
from flopbook.evaluation.solving.numeric import SolvedCurve, solve_number
from flopbook.evaluation.solving.solutions import TRIED, Solution, SolvedValue, mark_solved
from flopbook.evaluation.solving.targets import Target, one_sided, read_target
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula


def solve(
    calculator: str, name: str, target: str | Mapping[str, Any], /, **options: Any
) -> Solution:
    """The input `name` at which an output meets a target: `{"tokens": 100}`, `"seconds<=30days"`.

    Options are those of `calculate`. Raises FlopbookError where nothing meets the target, with the
    range that the output has; where the output does not depend on the input; and for what
    `calculate` refuses.

    >>> solve("min-batch", "bandwidth", {"tokens": 100}, peak=1e15).value
    10000000000000.0
    """
    formula, name = get_formula(calculator), name.replace("-", "_").strip()
    target_read = read_target(formula, target)
    given = {key: value for key, value in options.items() if value is not None}
    words = _words(formula, name)
    if not words:
        _check_number(formula, name)
    flag = name.replace("_", "-")
    if name in given:
        raise FlopbookError(f"--{flag} is given and solved for: leave one of the two out")
    if words:
        return _try_words(formula, name, words, target_read, given)
    curve = SolvedCurve(formula, name, target_read.output, given)
    return solve_number(curve, target_read, given)


def _words(formula: Formula, name: str) -> tuple[str, ...]:
    """The words that an input or option may be; none for a number."""
    if name in formula.inputs:
        return formula.inputs[name].choices
    return WORDS.get(name, ()) if name in takes(formula) else ()


def _check_number(formula: Formula, name: str) -> None:
    """Raise FlopbookError unless a name is that of an input that is a number."""
    flag = name.replace("_", "-")
    if name in formula.inputs and formula.inputs[name].is_number:
        return
    if name in formula.inputs:
        raise FlopbookError(
            f"{flag} is a text of its own: to compare several, use --sweep {flag}='ONE;OTHER'"
        )
    if name in option_names(formula):
        raise FlopbookError(
            f"--solve takes one input; to compare several, use --sweep {name}=ONE,OTHER"
        )
    flags = [input_name.replace("_", "-") for input_name in formula.inputs]
    raise UnknownName(f"input of {formula.id}", flag, flags)


def _try_words(
    formula: Formula, name: str, words: tuple[str, ...], target: Target, given: dict[str, Any]
) -> Solution:
    """Which of the words meet a target."""
    results: dict[str, Result] = {}
    notes: list[str] = []
    refusal: FlopbookError | None = None
    for word in words:
        try:
            results[word] = calculate(formula.id, **given, **{name: word})
        except FlopbookError as error:
            refusal = error
            notes.append(f"{word}: {_reason(error)}")
            continue
        value = results[word][target.output]
        answer = "no answer" if value is None else format_value(value, target.unit)
        notes.append(f"{word} gives {answer}")
    if not results:
        raise refusal or FlopbookError(f"{name} has no choices")
    # Words come in steps: if none meets the target, those that come to its better side do.
    exact = _meeting(results, target)
    looser = one_sided(target)
    met = exact or _meeting(results, looser)
    if not met:
        flag = name.replace("_", "-")
        raise FlopbookError(f"no {flag} gives {looser}: {'; '.join(notes)}")
    bound = "" if exact else str(looser)
    answers = tuple(SolvedValue(word, bound=bound, method=TRIED) for word in met)
    return Solution(name, target, answers, mark_solved(results[met[0]], name), tuple(notes))


def _reason(error: FlopbookError) -> str:
    """A message without the advice behind its semicolon."""
    return str(error).partition(";")[0]


class _Curve(Curve):
    """The output to be met, as a function of the input that is looked for."""

    def __init__(self, formula: Formula, name: str, output: str, given: dict[str, Any]) -> None:
        spec = formula.inputs[name]
        self.low = max(spec.least, 1.0 if spec.whole else ABSURDLY_SMALL)
        found = resolved(formula.id, **{**given, name: min(max(1.0, self.low), spec.most)})
        needs = formula.outputs[output].needs
        missing = [one for one in needs if one != name and found[one].origin == "default"]
        if missing:
            raise FlopbookError(
                f"{output} needs {' and '.join(f'--{_flag(one)}' for one in missing)}"
            )
        super().__init__(formula, {key: item.value for key, item in found.items()}, name, output)

    def domain(self) -> Domain:
        """Where to look for the input.

        Rules may tie it to other inputs: equal to one, or a multiple or divisor.
        """
        others = {
            key: float(value)
            for key, value in self.values.items()
            if key != self.name and not isinstance(value, str) and 0 < value < math.inf
        }
        seeds = tuple(
            v for key, v in others.items() if self.formula.inputs[key].unit == self.spec.unit
        )
        steps: set[float] = set()
        if self.spec.whole:
            for value in {2.0, *(v for key, v in others.items() if self.formula.inputs[key].whole)}:
                steps |= _divisors(int(value)) if value <= MOST_DIVIDED else {value}
        return Domain(
            self.low,
            self.spec.most,
            self.spec.whole,
            self.spec.none,
            seeds,
            tuple(sorted(steps - {1.0})),
        )

    def closed(self, x: float, target: Target) -> float | None:
        """The root in closed form nearest to one that was found by halving, where it is at least as
        good.
        """
        error = abs(self(x) - target.value)
        for root in closed_roots(
            self.formula, {**self.values, self.name: x}, self.name, self.output, target.value
        ):
            if not is_close(root, x, 1e-6):
                continue
            if self.spec.whole:
                return x if is_close(root, x, EXACT) else None
            value = self(root)
            if value is not None and abs(value - target.value) <= max(
                EXACT * abs(target.value), 8 * error
            ):
                return root
        return None


def _divisors(value: int) -> set[float]:
    small = [n for n in range(1, math.isqrt(value) + 1) if value % n == 0]
    return {float(n) for n in small} | {float(value // n) for n in small}


def _solve_number(curve: _Curve, target: Target, given: dict[str, Any]) -> Solution:
    domain = curve.domain()
    points = samples(curve, domain)
    valued = [point for point in points if point.y is not None]
    if not valued:
        curve.at(curve.values[curve.name])  # says why
        raise FlopbookError(f"no value of {_flag(curve.name)} is allowed with these inputs")
    if not all(
        isinstance(point.y, str if isinstance(target.value, str) else (int, float))
        for point in valued
    ):
        raise FlopbookError(f"{target.output} is no number and cannot be a target")
    _check_dependence(curve, valued, target)
    jumps: list[Jump] = []
    found: list[Span] = []
    wanted = target
    if not isinstance(target.value, str):
        points = with_extremes(curve, domain, points, target.value)
    if target.relation == "=" and not isinstance(target.value, str):
        found, jumps = equal(curve, domain, points, target.value)
        if jumps and not found and not domain.whole:
            found, jumps = equal(curve, domain, denser(curve, domain, points, jumps), target.value)
        wanted = target if found or not domain.whole else sided(target)
    if not found and (wanted.relation != "=" or isinstance(target.value, str)):
        found = spans(curve, domain, points, wanted.met)
    everywhere = len(found) == 1 and found[0].open_low and found[0].open_high
    if everywhere and wanted == target and found[0].low < found[0].high:
        low, high = (_said(curve, x) for x in found[0][:2])
        raise FlopbookError(
            f"every {_flag(curve.name)} from {low} to {high} gives {target}: nothing to solve for"
        )
    if not found or (everywhere and wanted != target):
        raise FlopbookError(_no_answer(curve, points, target, jumps))
    answers = tuple(_answer(curve, span, wanted) for span in found)
    result = calculate(curve.formula.id, **{**given, curve.name: answers[0].value})
    return Solution(
        curve.name,
        target,
        answers,
        _marked(result, curve.name),
        tuple(_notes(curve, answers, given)),
    )


def _check_dependence(curve: _Curve, valued: list[Sample], target: Target) -> None:
    """Raise FlopbookError where an input does not move an output, by the formula or with these
    inputs.
    """
    values = {point.y for point in valued}
    if len(values) > 1 or len(valued) == 1:
        return
    try:
        tied = depends(curve.formula, curve.output, curve.name)
    except FlopbookError:  # no formula of the subset, so only the values speak
        tied = True
    name, value = _flag(curve.name), said(valued[0].y, target.unit)
    if tied:
        raise FlopbookError(f"{curve.output} is {value} with these inputs, whatever the {name}")
    raise FlopbookError(
        f"{curve.output} of {curve.formula.id} does not depend on {name}; it is {value}"
    )


def _said(curve: _Curve, x: float) -> str:
    return format_quantity(x, curve.spec.unit)


def _no_answer(curve: _Curve, points: list[Sample], target: Target, jumps: list[Jump]) -> str:
    """Why nothing meets a target, and what could be asked for instead."""
    name = _flag(curve.name)
    if isinstance(target.value, str):
        words = ", ".join(dict.fromkeys(point.y for point in points if point.y is not None))
        return f"no {name} gives {target}; with these inputs it is {words}"
    if jumps:
        before, after = jumps[0]
        return (
            f"no {name} gives {target}: at {_said(curve, after.x)} it goes from {precise(before.y, target.unit)} to "
            f"{precise(after.y, target.unit)}; ask for {target.output}<= or {target.output}>="
        )
    valued = [point for point in points if point.y is not None]
    ends = (pick(valued, key=lambda point: point.y) for pick in (min, max))
    low, high = (f"{said(p.y, target.unit)} (at {_said(curve, p.x)})" for p in ends)
    if low == high:
        return f"no {name} gives {target}; with these inputs it is {low}"
    return f"no {name} gives {target}; with these inputs it goes from {low} to {high}"


def _answer(curve: _Curve, span: Span, target: Target) -> Answer:
    """A stretch of values as an answer: the end that the target sets, or both."""
    number = not isinstance(target.value, str)
    noun = "whole number" if curve.spec.whole else "value"
    point = number and target.relation == "=" and is_close(span.low, span.high, CLOSE)
    if span.open_low != span.open_high and not point:
        x, size = (span.high, "largest") if span.open_low else (span.low, "smallest")
        root = curve.closed(x, target) if number else None
        better = root is not None and target.met(curve(root))
        return Answer(
            root if better else x,
            None,
            f"the {size} {noun} with {target}",
            CLOSED if better else HALVED,
        )
    if is_close(span.low, span.high, CLOSE):
        middle = span.low if span.low == span.high else _best(curve, span, target)
        root = curve.closed(middle, target) if number else None
        only = "" if target.relation == "=" else f"the only {noun} with {target}"
        return Answer(
            middle if root is None else root, None, only, HALVED if root is None else CLOSED
        )
    return Answer(span.low, span.high, f"every {noun} between gives {target}")


def _best(curve: _Curve, span: Span, target: Target) -> float:
    """Of a stretch that is a point but for rounding, the value that comes nearest."""
    # Between two whole numbers that are close there is none, so the middle has no value.
    known = [x for x in (span.low, (span.low + span.high) / 2, span.high) if curve(x) is not None]
    return min(known, key=lambda x: abs(curve(x) - target.value))


def _notes(curve: _Curve, answers: tuple[Answer, ...], given: dict[str, Any]) -> list[str]:
    """What the input is otherwise, and what the next whole number would give."""
    notes = []
    if curve.spec.whole and answers[0].bound and answers[0].to is None:
        step = 1 if "largest" in answers[0].bound else -1
        beside = answers[0].value + step
        value = curve(beside)
        if value is not None:
            unit_ = curve.formula.outputs[curve.output].unit
            notes.append(f"{beside:,.0f} gives {curve.output} {precise(value, unit_)}")
    try:
        plain = resolved(curve.formula.id, **given)[curve.name]
    except FlopbookError:
        return notes
    if isinstance(plain.value, float) and 0 < plain.value < math.inf:
        notes.append(f"without --solve it is {_said(curve, plain.value)} ({plain.origin})")
    return notes
