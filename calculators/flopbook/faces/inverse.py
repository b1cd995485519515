"""A formula solved for one of its inputs: the closed form, where the branch that holds at a point
has one.

Every step is followed as a quotient of two sums of powers of the input; all other inputs are
numbers. Setting the quotient equal to the target leaves a sum of powers that must vanish. With two
terms, or three as in a quadratic, its roots can be written down.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.faces.tree import FUNCTIONS, steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities import ops
from flopbook.quantities.expressions import COMPARE, evaluate_tree

MOST_TERMS = 12
Terms = dict[float, float]  # exponent of the input -> coefficient


class _NoForm(Exception):
    """A step is no quotient of two sums of powers of the input."""


class _Ratio(NamedTuple):
    """A quotient of two sums of powers of the input."""

    top: Terms
    bottom: Terms

    def constant(self) -> float | None:
        """The value where the input does not occur."""
        return self.top.get(0.0, 0.0) if self.bottom == _ONE and not set(self.top) - {0.0} else None


_ONE: Terms = {0.0: 1.0}


def depends(formula: Formula, output: str, name: str) -> bool:
    """Whether the expression of an output uses an input at all, directly or through its steps."""
    parsed = steps(formula)
    used = {output}
    for step, expression in reversed([*parsed.locals, *parsed.outputs]):
        if step in used:
            used |= {part.id for part in ast.walk(expression) if isinstance(part, ast.Name)}
    return name in used


def closed_roots(
    formula: Formula, values: Mapping[str, Any], name: str, output: str, target: float
) -> list[float]:
    """The positive values of an input at which an output has a value, on the branch that holds at
    `values`.

    Empty where this branch has no closed form. Roots may lie on another branch: compute the formula
    there to see.
    """
    try:
        top, bottom = _Follower(formula, values, name).output(output)
        return _positive_roots(_add(top, _scale(bottom, -target)))
    except (_NoForm, FlopbookError, ArithmeticError, ValueError):
        return []


def _positive_roots(terms: Terms) -> list[float]:
    """Where a sum of two powers, or of three that are a quadratic in one of them, is zero."""
    powers = sorted(terms)
    if len(powers) == 2:
        low, high = powers
        found = [(-terms[low] / terms[high], high - low)]
    elif len(powers) == 3 and math.isclose(powers[2] - powers[1], powers[1] - powers[0]):
        c, b, a = (terms[power] for power in powers)
        inside = b * b - 4 * a * c
        if inside < 0:
            return []
        half = -(b + math.copysign(math.sqrt(inside), b)) / 2  # of one sign with b: nothing cancels
        found = [
            (root, powers[1] - powers[0]) for root in ((half / a, c / half) if half else (0.0,))
        ]
    else:
        return []
    return [root ** (1 / power) for root, power in found if root > 0 and math.isfinite(root)]


def _add(a: Terms, b: Terms) -> Terms:
    total = {power: a.get(power, 0.0) + b.get(power, 0.0) for power in {**a, **b}}
    return _checked({power: factor for power, factor in total.items() if factor})


def _scale(a: Terms, factor: float) -> Terms:
    return {power: value * factor for power, value in a.items()}


def _product(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for power, factor in a.items():
        for other, more in b.items():
            found[power + other] = found.get(power + other, 0.0) + factor * more
    return _checked({power: factor for power, factor in found.items() if factor})


def _checked(terms: Terms) -> Terms:
    if len(terms) > MOST_TERMS or not all(math.isfinite(factor) for factor in terms.values()):
        raise _NoForm
    return terms


class _Follower:
    """Walks the steps of a formula, with the input as a power and everything else as numbers."""

    def __init__(self, formula: Formula, values: Mapping[str, Any], name: str) -> None:
        parsed = steps(formula)
        functions = {word: getattr(ops, word) for word in FUNCTIONS}
        self.numbers: dict[str, Any] = {
            **functions,
            **formula.defaults,
            **values,
            **parsed.constants,
            "inf": math.inf,
        }
        self.forms: dict[str, _Ratio | None] = {name: _Ratio({1.0: 1.0}, _ONE)}
        self.outputs = dict(parsed.outputs)
        for step, expression in parsed.locals:
            self._note(step, expression)

    def _note(self, step: str, expression: ast.expr) -> None:
        try:
            form = self.follow(expression) if self._varies(expression) else None
        except _NoForm:
            form = _Ratio({}, {})  # only an output that needs this step is lost
        self.numbers[step] = evaluate_tree(expression, self.numbers)
        if form is not None and form.constant() is None:
            self.forms[step] = form

    def output(self, name: str) -> _Ratio:
        """An output as a quotient."""
        return self.follow(self.outputs[name])

    def _varies(self, node: ast.expr) -> bool:
        return any(isinstance(part, ast.Name) and part.id in self.forms for part in ast.walk(node))

    def follow(self, node: ast.expr) -> _Ratio:
        """An expression as a quotient of sums of powers. Raises _NoForm."""
        if isinstance(node, ast.IfExp):
            return self.follow(node.body if self._number(node.test) else node.orelse)
        if not self._varies(node):
            return _Ratio(_checked({0.0: float(self._number(node))}), _ONE)
        if isinstance(node, ast.Name):
            form = self.forms[node.id]
            if form is None or not form.bottom:
                raise _NoForm
            return form
        if isinstance(node, ast.UnaryOp):
            inner = self.follow(node.operand)
            return _Ratio(_scale(inner.top, -1.0), inner.bottom)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return self._call(node.func.id, node.args)

    def _number(self, node: ast.expr) -> Any:
        return evaluate_tree(node, self.numbers)

    def _operation(self, node: ast.BinOp) -> _Ratio:
        left, right = self._side(node.left), self._side(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(left, right.constant())
        if isinstance(node.op, ast.Mult):
            return _Ratio(_product(left.top, right.top), _product(left.bottom, right.bottom))
        if isinstance(node.op, ast.Div):
            if not right.top:
                raise _NoForm
            return _Ratio(_product(left.top, right.bottom), _product(left.bottom, right.top))
        sign = 1.0 if isinstance(node.op, ast.Add) else -1.0
        other = _scale(right.top, sign)
        if left.bottom == right.bottom:
            return _Ratio(_add(left.top, other), left.bottom)
        top = _add(_product(left.top, right.bottom), _product(other, left.bottom))
        return _Ratio(top, _product(left.bottom, right.bottom))

    def _side(self, node: ast.expr) -> _Ratio:
        """An operand; what is divided by infinity is nothing."""
        divided = (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and not self._varies(node.right)
        )
        if divided and math.isinf(self._number(node.right)):
            return _Ratio({}, _ONE)
        return self.follow(node)

    def _call(self, name: str, arguments: list[ast.expr]) -> _Ratio:
        if name == "where":
            return self.follow(arguments[1] if self._number(arguments[0]) else arguments[2])
        if name in ("minimum", "maximum"):
            first, second = (self._number(one) for one in arguments)
            wins = COMPARE[ast.LtE if name == "minimum" else ast.GtE](first, second)
            return self.follow(arguments[0] if wins else arguments[1])
        if name == "sqrt":
            return _power(self.follow(arguments[0]), 0.5)
        raise _NoForm  # floor and ceil: steps


def _power(base: _Ratio, exponent: float | None) -> _Ratio:
    if exponent is None:
        raise _NoForm
    if exponent < 0:
        return _power(_Ratio(base.bottom, base.top), -exponent)
    if len(base.top) == len(base.bottom) == 1:
        top, bottom = ({p * exponent: c**exponent for p, c in part.items()} for part in base)
        return _Ratio(_checked(top), _checked(bottom))
    if exponent not in (1.0, 2.0, 3.0):
        raise _NoForm
    found = base
    for _ in range(int(exponent) - 1):
        found = _Ratio(_product(found.top, base.top), _product(found.bottom, base.bottom))
    return found
