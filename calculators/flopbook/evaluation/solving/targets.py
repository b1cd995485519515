"""What an output should be: `tokens=4M`, `seconds<=30days`, `bound=memory`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.evaluation.answers import said
from flopbook.evaluation.solving.root_search import EXACT, is_close
from flopbook.formulas.declaration import Formula, Output
from flopbook.quantities.choices import choice
from flopbook.quantities.units import UnitError, format_quantity, is_bare, parse_quantity, unit

_SIDES = {"=": "exactly", "<=": "at most", ">=": "at least"}
# A whole number or a word often cannot hit a target. Then a rate, and these outputs, should be at
# least so large; time, memory, money and all else at most.
AT_LEAST = ("free", "speedup")


class Target(NamedTuple):
    """What an output should be: SI value or word, and the relation to it: =, <= or >=."""

    output: str
    relation: str
    value: Any
    unit: str

    def met(self, value: Any) -> bool:
        """Whether a value of the output meets it, but for rounding."""
        if not isinstance(value, (int, float)) or isinstance(self.value, str):
            return bool(value == self.value)
        if is_close(value, self.value, EXACT):
            return True
        return self.relation != "=" and (value < self.value) == (self.relation == "<=")

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"{self.output} {self.value}"
        return f"{self.output} {_SIDES[self.relation]} {precise(self.value, self.unit)}"


def read_target(formula: Formula, target: str | Mapping[str, Any]) -> Target:
    """A target as people write it: `tokens=4M`, `seconds<=30days`, `bound=memory`.

    Raises FlopbookError.
    """
    if isinstance(target, Mapping):
        if len(target) != 1:
            raise FlopbookError(f"a target is one output with its value, found {len(target)}")
        output, value = next(iter(target.items()))
        target = (
            f"{output}{value}"
            if str(value).strip()[:2] in ("<=", ">=")
            else f"{output}={_plain(value)}"
        )
    match = re.fullmatch(r"\s*([^<>=\s]+)\s*(<=|>=|=)\s*(.+?)\s*", target)
    if match is None:
        raise FlopbookError(f"--target is '{shorten(target)}', expected OUTPUT=VALUE (or <= or >=)")
    output, relation, text = match[1].replace("-", "_"), match[2], match[3]
    if output not in formula.outputs:
        raise UnknownName(f"output of {formula.id}", output, formula.outputs)
    if formula.outputs[output].table:
        raise FlopbookError(
            f"{output} is a column of a table, with a value for each row, and cannot be a target"
        )
    return Target(output, relation, *_target_value(output, formula.outputs[output], relation, text))


def _plain(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (int, float)) else str(value)


def _target_value(name: str, spec: Output, relation: str, text: str) -> tuple[Any, str]:
    if spec.choices:
        word = choice(text, spec.choices)
        if word not in spec.choices:
            raise UnknownName(f"value of {name}", word, spec.choices)
        if relation != "=":
            raise FlopbookError(f"--target: {name} is a word; write {name}={word}")
        return word, "1"
    try:
        value = parse_quantity(text, spec.unit)
    except UnitError as error:
        raise FlopbookError(f"--target: {name}: {error}") from None
    # An output in days is a number of days, and reading a quantity gives seconds.
    return (value if is_bare(text) else value / unit(spec.unit).factor), spec.unit


def sided(target: Target) -> Target:
    """The target for what comes in steps: rates at least, all else at most."""
    if target.relation != "=" or isinstance(target.value, str):
        return target
    more = target.unit.endswith("/s") or target.output in AT_LEAST
    return target._replace(relation=">=" if more else "<=")


def precise(value: Any, unit_name: str) -> str:
    """A value as people read it where four digits say it all, else with as many as it takes."""
    if (
        isinstance(value, str)
        or not math.isfinite(value)
        or is_close(float(f"{value:.4g}"), value, EXACT)
    ):
        return said(value, unit_name)
    return format_quantity(value, unit_name, digits=10)
