"""Proves a formula's units: walks its steps with dimensions in place of numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from flopbook.errors import FlopbookError
from flopbook.faces.tree import constant, function_called, statement_steps, steps
from flopbook.formulas.declaration import Constant, Formula
from flopbook.formulas.omissions import Omission
from flopbook.quantities.units import Dimensions, unit


class DimensionError(FlopbookError):
    """Two sides that are added, compared or declared equal have different dimensions."""


@dataclass(frozen=True, slots=True)
class Dim:
    """Powers of FLOP, byte, s, J, USD, m; `free` marks 0 and infinity, which fit any of them."""

    powers: Dimensions = ()
    free: bool = False

    def times(self, other: Dim, sign: int = 1) -> Dim:
        """The dimensions of a product (sign 1) or a quotient (sign -1)."""
        powers = dict(self.powers)
        for name, power in other.powers:
            powers[name] = powers.get(name, 0) + sign * power
        return Dim(tuple(sorted((name, power) for name, power in powers.items() if power)))

    def __str__(self) -> str:
        factors = [f"{name}^{power}" if power != 1 else name for name, power in self.powers]
        return " ".join(factors) or "1"


def dimensions(formula: Formula) -> dict[str, Dim]:
    """Dimensions of every input, step and output.

    Raises DimensionError when they disagree with declared units.
    """
    parsed = steps(formula)
    dimension_of = {name: _of(spec.unit) for name, spec in formula.inputs.items()}
    dimension_of |= {name: _of(constant(formula, name).unit) for name in parsed.constants}
    dimension_of["inf"] = Dim(free=True)
    for name, expression in parsed.locals:
        dimension_of[name] = _Walker(dimension_of, f"{formula.id}.{name}").dim(expression)
    for name, expression in parsed.outputs:
        walker = _Walker(dimension_of, f"{formula.id}.{name}")
        computed = walker.dim(expression)
        declared_unit = formula.outputs[name].unit
        declared = _of(declared_unit)
        _Walker(dimension_of, f"{walker.place} (declared {declared_unit})").same(computed, declared)
        dimension_of[name] = declared
    return dimension_of


def omission_dimensions(formula: Formula, omission: Omission) -> Dim:
    """Dimensions of what an omission gives: a share has none.

    Raises DimensionError where it mixes some.
    """
    parsed = statement_steps(omission)
    units = {name: spec.unit for name, spec in formula.inputs.items()}
    units |= {name: spec.unit for name, spec in formula.outputs.items()}
    dimension_of = {name: _of(units[used]) for name, used in omission.inputs.items()}
    dimension_of |= {name: _of(_unit(number)) for name, number in parsed.constants.items()}
    dimension_of["inf"] = Dim(free=True)
    walker = _Walker(dimension_of, f"{formula.id}.{omission.name}")
    for name, expression in parsed.locals:
        dimension_of[name] = walker.dim(expression)
    return walker.dim(parsed.last)


def _unit(number: float) -> str:
    assert isinstance(number, Constant)  # as the subset asks of every number with a name
    return number.unit


def _of(unit_name: str) -> Dim:
    return Dim(unit(unit_name).dimensions)


@dataclass(frozen=True, slots=True)
class _Walker:
    """Computes with dimensions; `place` is the step of the formula, for messages."""

    known: Mapping[str, Dim]
    place: str

    def dim(self, node: ast.expr) -> Dim:
        """The dimensions of an expression. Raises DimensionError where it mixes some."""
        match node:
            case ast.Name(id=name):
                return self.known[name]
            # A bare number has no unit: one that should carry a unit is a Constant.
            case ast.Constant(value=value):
                return Dim(free=value == 0)
            case ast.UnaryOp(operand=operand):
                return self.dim(operand)
            case ast.BinOp():
                return self._operation(node)
            case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                return Dim()  # a word among words
            case ast.Compare(left=left, comparators=[right]):
                self.same(self.dim(left), self.dim(right))
                return Dim()
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                self.dim(test)
                return self.same(self.dim(then), self.dim(otherwise))
            case ast.Call():
                return self._call(function_called(node), [self.dim(each) for each in node.args])
        raise TypeError(f"{type(node).__name__} is outside the subset of formulas")

    def same(self, a: Dim, b: Dim) -> Dim:
        """The dimensions that both have. Raises DimensionError where they differ."""
        if a.free or b.free:
            return b if a.free else a
        if a.powers != b.powers:
            raise self._error(f"{a} is not {b}")
        return a

    def _error(self, problem: str) -> DimensionError:
        return DimensionError(f"{self.place}: {problem}")

    def _operation(self, node: ast.BinOp) -> Dim:
        left, right = self.dim(node.left), self.dim(node.right)
        match node.op:
            case ast.Mult():
                return left.times(right)
            case ast.Div():
                return left.times(right, -1)
            case ast.Pow():
                if right.powers:
                    raise self._error(f"an exponent cannot have the unit {right}")
                return self._power(left, node.right)
        return self.same(left, right)

    def _power(self, base: Dim, exponent: ast.expr) -> Dim:
        if not base.powers:
            return base
        if not (isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)):
            raise self._error("only whole powers of a quantity with units")
        factor = exponent.value
        return Dim(tuple((name, power * factor) for name, power in base.powers))

    def _call(self, function: str, arguments: list[Dim]) -> Dim:
        match function:
            case "where":
                return self.same(arguments[1], arguments[2])
            case "minimum" | "maximum":
                return self.same(arguments[0], arguments[1])
            case "sqrt":
                return self._root(arguments[0])
        return arguments[0]  # floor, ceil

    def _root(self, square: Dim) -> Dim:
        if any(power % 2 for _, power in square.powers):
            raise self._error(f"the square root of {square} has no unit")
        return Dim(tuple((name, power // 2) for name, power in square.powers))
