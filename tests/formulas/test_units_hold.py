"""Every formula has the units that it declares: proved from its steps, not from numbers."""

from __future__ import annotations

import pytest

from flopbook.faces.dimensions import dimensions
from flopbook.faces.tree import steps
from flopbook.formulas import get_formula, printed


@pytest.mark.parametrize("name", printed())
def test_every_formula_has_the_units_that_it_declares(name: str) -> None:
    formula = get_formula(name)
    found = dimensions(formula)
    assert set(found) >= {*formula.inputs, *formula.outputs, *(n for n, _ in steps(formula).locals)}
