"""What an output should be: `tokens=4M`, `seconds<=30days`, `bound=memory`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.evaluation.answers import format_value
from flopbook.evaluation.solving.root_search import EXACT, is_close
from flopbook.formulas.declaration import Formula, Output
from flopbook.quantities.choices import choice
from flopbook.quantities.units import UnitError, format_quantity, is_bare, parse_quantity, unit

_SIDES = {"=": "exactly", "<=": "at most", ">=": "at least"}
# OUTPUT, relation, VALUE; "<=" and ">=" first, since "=" is a part of both.
_FORM = re.compile(r"\s*([^<>=\s]+)\s*(<=|>=|=)\s*(.+?)\s*")
# A whole number or a word often cannot hit a target. Then a rate, and these outputs, should be at
# least so large; time, memory, money and all else at most.
AT_LEAST = ("free", "speedup")


class Target(NamedTuple):
    """What an output should be: SI value or word, and the relation to it: =, <= or >=."""

    output: str
    relation: str
    value: Any
    unit: str

    @property
    def is_word(self) -> bool:
        """Whether the output is one of several words, not a number."""
        return isinstance(self.value, str)

    def met(self, value: Any) -> bool:
        """Whether a value of the output meets it, but for rounding."""
        if self.is_word or not isinstance(value, (int, float)):
            return bool(value == self.value)
        # First, so that rounding never turns "at most" into a refusal.
        if is_close(value, self.value, EXACT):
            return True
        if self.relation == "=":
            return False
        return bool((value < self.value) == (self.relation == "<="))

    def __str__(self) -> str:
        if self.is_word:
            return f"{self.output} {self.value}"
        return f"{self.output} {_SIDES[self.relation]} {precise(self.value, self.unit)}"


def read_target(formula: Formula, target: str | Mapping[str, Any]) -> Target:
    """A target as people write it: `tokens=4M`, `seconds<=30days`, `bound=memory`.

    Raises FlopbookError.
    """
    text = _mapping_text(target) if isinstance(target, Mapping) else target
    match = _FORM.fullmatch(text)
    if match is None:
        raise FlopbookError(f"--target is '{shorten(text)}', expected OUTPUT=VALUE (or <= or >=)")
    output, relation, value_text = match[1].replace("-", "_"), match[2], match[3]
    if output not in formula.outputs:
        raise UnknownName(f"output of {formula.id}", output, formula.outputs)
    spec = formula.outputs[output]
    if spec.table:
        raise FlopbookError(
            f"{output} is a column of a table, with a value for each row, and cannot be a target"
        )
    if spec.choices:
        return Target(output, relation, _read_word(output, spec, relation, value_text), "1")
    return Target(output, relation, _read_number(output, spec, value_text), spec.unit)


def _mapping_text(target: Mapping[str, Any]) -> str:
    """`{"tokens": 100}` or `{"seconds": "<=30days"}` as it is written in one word."""
    if len(target) != 1:
        raise FlopbookError(f"a target is one output with its value, found {len(target)}")
    output, value = next(iter(target.items()))
    if str(value).strip()[:2] in ("<=", ">="):
        return f"{output}{value}"
    if isinstance(value, (int, float)):  # all digits; an int of Python is read as a float
        value = repr(float(value))
    return f"{output}={value}"


def _read_word(name: str, spec: Output, relation: str, text: str) -> str:
    word: str = choice(text, spec.choices)
    if word not in spec.choices:
        raise UnknownName(f"value of {name}", word, spec.choices)
    if relation != "=":
        raise FlopbookError(f"--target: {name} is a word; write {name}={word}")
    return word


def _read_number(name: str, spec: Output, text: str) -> float:
    try:
        amount = parse_quantity(text, spec.unit)
    except UnitError as error:
        raise FlopbookError(f"--target: {name}: {error}") from None
    # An output in days is a number of days, and reading a quantity gives seconds.
    return amount if is_bare(text) else amount / unit(spec.unit).factor


def one_sided(target: Target) -> Target:
    """The target for what comes in steps: rates at least, all else at most."""
    if target.relation != "=" or target.is_word:
        return target
    is_better_large = target.unit.endswith("/s") or target.output in AT_LEAST
    return target._replace(relation=">=" if is_better_large else "<=")


def precise(value: Any, unit_name: str) -> str:
    """A value as people read it where four digits say it all, else with as many as it takes."""
    if isinstance(value, str) or not math.isfinite(value):
        return format_value(value, unit_name)
    if is_close(float(f"{value:.4g}"), value, EXACT):
        return format_value(value, unit_name)
    return format_quantity(value, unit_name, digits=10)
