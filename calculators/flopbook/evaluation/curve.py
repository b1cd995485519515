"""An output of a calculator as a function of one of its inputs, all others held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula, check_input


class Curve:
    """The output `output` of a formula at `values` as a function of the input `name`, in SI units."""

    def __init__(self, formula: Formula, values: Mapping[str, Any], name: str, output: str) -> None:
        self.formula, self.values, self.name, self.output = formula, values, name, output
        self.spec = formula.inputs[name]

    def __call__(self, x: float) -> Any:
        """The output at a value of the input; None where the formula refuses it or has no number."""
        try:
            found = self.at(x)
        except (FlopbookError, ArithmeticError, ValueError):
            return None
        return None if isinstance(found, float) and math.isnan(found) else found

    def at(self, x: float) -> Any:
        """The same, but raises FlopbookError where the formula refuses the value.

        The other inputs are not checked again: that would be most of the time.
        """
        given = {**self.values, self.name: x}
        check_input(self.name, self.spec, x)
        for holds, message in self.formula.rules:
            if not holds(**given):
                raise FlopbookError(message)
        return self.formula.compute(given)[self.output]
