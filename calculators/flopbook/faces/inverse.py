"""A formula solved for one of its inputs in closed form, on the branch that holds at a point.

Every step is followed as a quotient of two sums of powers of the input; all other inputs are
numbers. Setting the quotient equal to the target leaves a sum of powers that must vanish. With two
terms, or three as in a quadratic, its roots can be written down.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.faces.tree import FUNCTIONS, function_called, names_in, steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities import ops
from flopbook.quantities.expressions import evaluate_tree

# Products of sums grow quickly, and only sums of two or three terms have roots written down.
MOST_TERMS = 12

Terms = dict[float, float]
"""A sum of powers of the input: exponent -> coefficient."""


# The trees of a formula are kept and never changed, and each node of one is asked about often.
_names_in = functools.cache(names_in)


class _NoForm(Exception):
    """A step is no quotient of two sums of powers of the input."""


class _Ratio(NamedTuple):
    """A quotient of two sums of powers of the input."""

    top: Terms
    bottom: Terms

    def constant(self) -> float | None:
        """The value where the input does not occur."""
        if self.bottom == _ONE and set(self.top) <= {0.0}:
            return self.top.get(0.0, 0.0)
        return None


_ONE: Terms = {0.0: 1.0}
_NOTHING = _Ratio({}, _ONE)
# Stands for a step that has no form, until an output turns out to need it.
_LOST = _Ratio({}, {})


def depends(formula: Formula, output: str, name: str) -> bool:
    """Whether the expression of an output uses an input at all, directly or through its steps."""
    parsed = steps(formula)
    used = {output}
    for step, expression in reversed([*parsed.locals, *parsed.outputs]):
        if step in used:
            used |= names_in(expression)
    return name in used


def closed_roots(
    formula: Formula, values: Mapping[str, Any], name: str, output: str, target: float
) -> list[float]:
    """The positive inputs at which an output has a value, on the branch that holds at `values`.

    Empty where this branch has no closed form. Roots may lie on another branch: compute the formula
    there to see.
    """
    try:
        top, bottom = _Follower(formula, values, name).output(output)
        return _positive_roots(_sum(top, _scaled(bottom, -target)))
    except (_NoForm, FlopbookError, ArithmeticError, ValueError):
        return []


def _positive_roots(terms: Terms) -> list[float]:
    """Where a sum of two powers, or of three that are a quadratic in one of them, is zero."""
    powers = sorted(terms)
    if len(powers) == 2:  # a x^p + b x^q = 0, so x^(q - p) = -a / b
        low, high = powers
        roots, exponent = [-terms[low] / terms[high]], high - low
    elif len(powers) == 3 and math.isclose(powers[2] - powers[1], powers[1] - powers[0]):
        c, b, a = (terms[power] for power in powers)
        roots, exponent = _quadratic_roots(a, b, c), powers[1] - powers[0]
    else:
        return []
    return [root ** (1 / exponent) for root in roots if root > 0 and math.isfinite(root)]


def _quadratic_roots(a: float, b: float, c: float) -> list[float]:
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    # Of one sign with b, so that nothing cancels; the other root follows from their product, c / a.
    half = -(b + math.copysign(math.sqrt(discriminant), b)) / 2
    return [half / a, c / half] if half else [0.0]


def _sum(a: Terms, b: Terms) -> Terms:
    terms = {power: a.get(power, 0.0) + b.get(power, 0.0) for power in {**a, **b}}
    return _checked(_without_zeros(terms))


def _scaled(terms: Terms, factor: float) -> Terms:
    return {power: coefficient * factor for power, coefficient in terms.items()}


def _product(a: Terms, b: Terms) -> Terms:
    terms: Terms = {}
    for power_a, factor_a in a.items():
        for power_b, factor_b in b.items():
            power = power_a + power_b
            terms[power] = terms.get(power, 0.0) + factor_a * factor_b
    return _checked(_without_zeros(terms))


def _without_zeros(terms: Terms) -> Terms:
    return {power: coefficient for power, coefficient in terms.items() if coefficient}


def _checked(terms: Terms) -> Terms:
    """The same terms. Raises _NoForm where they are too many or not finite."""
    if len(terms) > MOST_TERMS or not all(map(math.isfinite, terms.values())):
        raise _NoForm
    return terms


class _Follower:
    """Walks the steps of a formula, with the input as a power and everything else as numbers."""

    def __init__(self, formula: Formula, values: Mapping[str, Any], name: str) -> None:
        parsed = steps(formula)
        self._numbers: dict[str, Any] = {word: getattr(ops, word) for word in FUNCTIONS}
        self._numbers |= {**formula.defaults, **values, **parsed.constants, "inf": math.inf}
        self._forms = {name: _Ratio({1.0: 1.0}, _ONE)}
        self._outputs = dict(parsed.outputs)
        for step, expression in parsed.locals:
            self._note(step, expression)

    def output(self, name: str) -> _Ratio:
        """An output as a quotient. Raises _NoForm."""
        return self.follow(self._outputs[name])

    def follow(self, node: ast.expr) -> _Ratio:
        """An expression as a quotient of sums of powers. Raises _NoForm."""
        if isinstance(node, ast.IfExp):
            return self.follow(node.body if self._number(node.test) else node.orelse)
        if not self._varies(node):
            return _Ratio(_checked({0.0: float(self._number(node))}), _ONE)
        match node:
            case ast.Name(id=name):
                return self._form(name)
            case ast.UnaryOp(operand=operand):
                form = self.follow(operand)
                return _Ratio(_scaled(form.top, -1.0), form.bottom)
            case ast.BinOp():
                return self._operation(node)
            case ast.Call():
                return self._call(function_called(node), node.args)
        raise _NoForm

    def _note(self, step: str, expression: ast.expr) -> None:
        """Keep the number of a step, and its form where the input occurs in it."""
        self._numbers[step] = evaluate_tree(expression, self._numbers)
        if not self._varies(expression):
            return
        try:
            form = self.follow(expression)
        except _NoForm:
            form = _LOST
        if form.constant() is None:  # else the input cancels, and its number will do
            self._forms[step] = form

    def _form(self, name: str) -> _Ratio:
        form = self._forms[name]
        if not form.bottom:
            raise _NoForm
        return form

    def _varies(self, node: ast.expr) -> bool:
        return not _names_in(node).isdisjoint(self._forms)

    def _number(self, node: ast.expr) -> Any:
        return evaluate_tree(node, self._numbers)

    def _operation(self, node: ast.BinOp) -> _Ratio:
        left, right = self._operand(node.left), self._operand(node.right)
        match node.op:
            case ast.Pow():
                return _power(left, right.constant())
            case ast.Mult():
                return _Ratio(_product(left.top, right.top), _product(left.bottom, right.bottom))
            case ast.Div():
                return _quotient(left, right)
            case ast.Add():
                return _total(left, right)
        return _total(left, _Ratio(_scaled(right.top, -1.0), right.bottom))

    def _operand(self, node: ast.expr) -> _Ratio:
        """An operand; what is divided by infinity is nothing."""
        match node:
            case ast.BinOp(op=ast.Div(), right=divisor) if not self._varies(divisor):
                if math.isinf(self._number(divisor)):
                    return _NOTHING
        return self.follow(node)

    def _call(self, function: str, arguments: list[ast.expr]) -> _Ratio:
        match function, arguments:
            case "where", [test, then, otherwise]:
                return self.follow(then if self._number(test) else otherwise)
            case "minimum", [a, b]:
                return self.follow(a if self._number(a) <= self._number(b) else b)
            case "maximum", [a, b]:
                return self.follow(a if self._number(a) >= self._number(b) else b)
            case "sqrt", [square]:
                return _power(self.follow(square), 0.5)
        raise _NoForm  # floor and ceil go in steps


def _quotient(a: _Ratio, b: _Ratio) -> _Ratio:
    if not b.top:
        raise _NoForm
    return _Ratio(_product(a.top, b.bottom), _product(a.bottom, b.top))


def _total(a: _Ratio, b: _Ratio) -> _Ratio:
    if a.bottom == b.bottom:
        return _Ratio(_sum(a.top, b.top), a.bottom)
    top = _sum(_product(a.top, b.bottom), _product(b.top, a.bottom))
    return _Ratio(top, _product(a.bottom, b.bottom))


def _power(base: _Ratio, exponent: float | None) -> _Ratio:
    """A power: any of a single term, and a small whole one of a sum. Raises _NoForm."""
    if exponent is None:
        raise _NoForm
    if exponent < 0:
        return _power(_Ratio(base.bottom, base.top), -exponent)
    if len(base.top) == len(base.bottom) == 1:
        return _Ratio(_term_power(base.top, exponent), _term_power(base.bottom, exponent))
    if exponent not in (1.0, 2.0, 3.0):
        raise _NoForm
    power = base
    for _ in range(int(exponent) - 1):
        power = _Ratio(_product(power.top, base.top), _product(power.bottom, base.bottom))
    return power


def _term_power(term: Terms, exponent: float) -> Terms:
    return _checked({power * exponent: factor**exponent for power, factor in term.items()})
