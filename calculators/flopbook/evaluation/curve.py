"""An output of a calculator as a function of one of its inputs, all others held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula
from flopbook.formulas.input_bounds import check_input


class Curve:
    """The output `output` of a formula as a function of its input `name`, in SI units.

    `values` are all inputs; that of `name` is replaced in each call.
    """

    def __init__(self, formula: Formula, values: Mapping[str, Any], name: str, output: str) -> None:
        self.formula, self.values, self.name, self.output = formula, values, name, output
        self.spec = formula.inputs[name]

    def __call__(self, x: float) -> Any:
        """The output at a value of the input; None where it is refused or there is no number."""
        try:
            y = self.at(x)
        # Far from plausible values a formula may overflow or divide by zero.
        except (FlopbookError, ArithmeticError, ValueError):
            return None
        return None if isinstance(y, float) and math.isnan(y) else y

    def at(self, x: float) -> Any:
        """The same, but raises FlopbookError where the formula refuses the value.

        The other inputs are not checked again: that would be most of the time.
        """
        inputs = {**self.values, self.name: x}
        check_input(self.name, self.spec, x)
        for rule in self.formula.rules:
            rule.check(inputs)
        return self.formula.compute(inputs)[self.output]
