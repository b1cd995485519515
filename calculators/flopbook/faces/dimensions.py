"""Proves a formula's units: walks its steps with dimensions in place of numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from flopbook.errors import FlopbookError
from flopbook.faces.tree import constant, steps
from flopbook.formulas.declaration import Formula
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
        return Dim(tuple(sorted((n, p) for n, p in powers.items() if p)))

    def __str__(self) -> str:
        return " ".join(f"{n}^{p}" if p != 1 else n for n, p in self.powers) or "1"


def dimensions(formula: Formula) -> dict[str, Dim]:
    """Dimensions of every input, step and output.

    Raises DimensionError when they disagree with declared units.
    """
    parsed = steps(formula)
    known = {name: Dim(_of(spec.unit)) for name, spec in formula.inputs.items()}
    known |= {name: Dim(_of(constant(formula, name).unit)) for name in parsed.constants}
    known["inf"] = Dim(free=True)
    for name, expression in parsed.locals:
        known[name] = _dim(expression, known, f"{formula.id}.{name}")
    for name, expression in parsed.outputs:
        found = _dim(expression, known, f"{formula.id}.{name}")
        declared = Dim(_of(formula.outputs[name].unit))
        _same(found, declared, f"{formula.id}.{name} (declared {formula.outputs[name].unit})")
        known[name] = declared
    return known


def _of(name: str) -> Dimensions:
    return unit(name).dimensions


def _same(a: Dim, b: Dim, where: str) -> Dim:
    if a.free or b.free:
        return b if a.free else a
    if a.powers != b.powers:
        raise DimensionError(f"{where}: {a} is not {b}")
    return a


def _dim(node: ast.expr, known: Mapping[str, Dim], where: str) -> Dim:
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Constant):
        return Dim(free=node.value == 0)
    if isinstance(node, ast.UnaryOp):
        return _dim(node.operand, known, where)
    if isinstance(node, ast.BinOp):
        left, right = _dim(node.left, known, where), _dim(node.right, known, where)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            return left.times(right, 1 if isinstance(node.op, ast.Mult) else -1)
        if isinstance(node.op, ast.Pow):
            if right.powers:
                raise DimensionError(f"{where}: an exponent cannot have the unit {right}")
            return _power(left, node.right, where)
        return _same(left, right, where)
    if isinstance(node, ast.Compare):
        _same(_dim(node.left, known, where), _dim(node.comparators[0], known, where), where)
        return Dim()
    if isinstance(node, ast.IfExp):
        _dim(node.test, known, where)
        return _same(_dim(node.body, known, where), _dim(node.orelse, known, where), where)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return _call(node.func.id, [_dim(argument, known, where) for argument in node.args], where)


def _power(base: Dim, exponent: ast.expr, where: str) -> Dim:
    if not base.powers:
        return base
    if not (isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)):
        raise DimensionError(f"{where}: only whole powers of a quantity with units")
    return Dim(tuple((n, p * exponent.value) for n, p in base.powers))


def _call(name: str, arguments: list[Dim], where: str) -> Dim:
    if name == "where":
        return _same(arguments[1], arguments[2], where)
    if name in ("minimum", "maximum"):
        return _same(arguments[0], arguments[1], where)
    if name == "sqrt":
        if any(power % 2 for _, power in arguments[0].powers):
            raise DimensionError(f"{where}: the square root of {arguments[0]} has no unit")
        return Dim(tuple((n, p // 2) for n, p in arguments[0].powers))
    return arguments[0]  # floor, ceil
