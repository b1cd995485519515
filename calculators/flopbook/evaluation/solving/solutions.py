"""What `solve` answers: the values that meet a target, as an object, as text and as JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

from flopbook.evaluation.answers import counted, format_value
from flopbook.evaluation.results import Result
from flopbook.evaluation.solving.root_search import CLOSE, EXACT
from flopbook.evaluation.solving.targets import Target, precise

CLOSED, HALVED, TRIED = "closed form", "bracketed", "each choice tried"


class SolvedValue(NamedTuple):
    """A value that meets the target; with `to`, every value from one to the other does.

    `bound` says how it ends.
    """

    value: Any
    to: float | None = None
    bound: str = ""
    method: str = HALVED


class Solution(NamedTuple):
    """The answers in order, with the calculator's whole result at the first.

    `notes` say what else is to be known.
    """

    name: str
    target: Target
    answers: tuple[SolvedValue, ...]
    result: Result
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> Any:
        """The first answer, in SI units."""
        return self.answers[0].value

    @property
    def unit(self) -> str:
        """SI unit of the input, empty for a word."""
        spec = self.result.formula.inputs.get(self.name)
        return spec.unit if spec and not spec.choices else ""

    def __str__(self) -> str:
        lines = [self._line(answer) for answer in self.answers]
        if len(lines) > 1:
            count = counted(len(lines), "answer")
            lines.insert(0, f"{count}; the whole result is that of the first")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _line(self, answer: SolvedValue) -> str:
        name = self.name.replace("_", "-")
        reason = answer.bound or self.target
        # A word needs neither unit nor digits.
        if answer.method == TRIED:
            return f"{name} = {answer.value}: {reason}"
        value = self._value_text(answer.value)
        if answer.to is not None:
            value += f" to {self._value_text(answer.to)}"
        return f"{name} = {value}: {reason} (found {self._how(answer)})"

    def _how(self, answer: SolvedValue) -> str:
        if answer.method == CLOSED:
            return "in closed form"
        if self.result.formula.inputs[self.name].whole:  # all its digits are known
            return "by halving"
        return "by halving, to 9 digits"

    def _value_text(self, x: float) -> str:
        """As people read it, and with all digits where those are not all."""
        short, full = format_value(x, self.unit), precise(x, self.unit)
        return short if short == full else f"{short} ({full})"

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`, with `solve` beside it."""
        first = self.answers[0]
        solve = {
            "input": self.name,
            "value": first.value,
            "unit": self.unit or None,
            "target": self.target._asdict(),
            "reached": self.result[self.target.output],
            "method": first.method,
            "tolerance": EXACT if first.method == CLOSED else CLOSE,
            "answers": [_answer_record(answer) for answer in self.answers],
            "notes": list(self.notes),
        }
        return self.result.as_json() | {"solve": solve}


def _answer_record(answer: SolvedValue) -> dict[str, Any]:
    return {
        "value": answer.value,
        "to": answer.to,
        "bound": answer.bound or None,
        "method": answer.method,
    }


def mark_solved(result: Result, name: str) -> Result:
    """A result that says which of its inputs was solved for."""
    if name not in result.inputs:
        return result
    inputs = {**result.inputs, name: result.inputs[name]._replace(origin="solved")}
    marked = Result(
        result.formula, inputs, result.outputs, result.remarks, result.sources, result.omitted
    )
    marked.seek_fit, marked.unshown = result.seek_fit, result.unshown
    return marked
