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
from flopbook.evaluation.request import WORDS, option_names, takes, tensors
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
    fixed = {key: value for key, value in options.items() if value is not None}
    words = _words(formula, name)
    if not words:
        _check_number(formula, name)
    flag = name.replace("_", "-")
    if name in fixed:
        raise FlopbookError(f"--{flag} is given and solved for: leave one of the two out")
    if words:
        return _try_words(formula, name, words, target_read, fixed)
    curve = SolvedCurve(formula, name, target_read.output, fixed)
    return solve_number(curve, target_read, fixed)


def _words(formula: Formula, name: str) -> tuple[str, ...]:
    """The words that an input or option may be; none for a number."""
    if name in formula.inputs:
        return formula.inputs[name].choices
    return WORDS.get(name, ()) if name in (*takes(formula), *tensors(formula)) else ()


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


def _meeting(results: Mapping[str, Result], target: Target) -> list[str]:
    return [word for word, result in results.items() if target.met(result[target.output])]
