"""A formula worked through: each step in names, with the numbers put in, and its value with unit.

A choice is shown by the side that was taken: a reader follows one calculation, not a program.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flopbook.faces.dimensions import Dim, dimensions
from flopbook.faces.tree import FUNCTIONS, Steps, copy, function_called, names_in, steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities import ops
from flopbook.quantities.expressions import evaluate_tree
from flopbook.quantities.units import format_quantity

# Sign and precedence of each operator.
_SIGNS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 1),
    ast.Sub: ("-", 1),
    ast.Mult: ("x", 2),
    ast.Div: ("/", 2),
    ast.Pow: ("**", 3),
}
_BRACKETED = 3  # what a minus in front of it binds
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "is",
    ast.NotEq: "is not",
}
_CALLABLE = {name: getattr(ops, name) for name in FUNCTIONS}


@dataclass(frozen=True, slots=True)
class WorkedStep:
    """One line of the working."""

    name: str
    expression: str
    numbers: str
    value: Any
    unit: str


class _Line(NamedTuple):
    """A step with the side taken of each choice, and the names that it and its choices use."""

    name: str
    expression: ast.expr
    uses: set[str]


def worked(
    formula: Formula, inputs: Mapping[str, Any], skip: Collection[str] = ()
) -> list[WorkedStep]:
    """The steps of a formula for given SI inputs, in order.

    `skip` names outputs that are left open.
    """
    parsed = steps(formula)
    # A step of an open output may have no number, so those of no other output are not computed.
    needed = _needed(parsed, skip)
    values: dict[str, Any] = {**formula.defaults, **inputs, **parsed.constants, "inf": math.inf}
    lines: list[_Line] = []
    for name, expression in parsed.all():
        if name in needed:
            scope = {**_CALLABLE, **values}
            line = _taken(name, expression, scope)
            values[name] = evaluate_tree(line.expression, scope)
            lines.append(line)
    units = {name: _unit(name, formula, dim) for name, dim in dimensions(formula).items()}
    shown = {name: _shown(value, units.get(name, "1")) for name, value in values.items()}
    # A constant has no name that a reader would know: its number stands in the formula, too.
    unnamed = {*parsed.constants, "inf"}
    names = {name: shown[name] if name in unnamed else name for name in values}
    # A step that only the other side of a choice needs is computed, but not shown.
    used = _used(lines, {name for name, _ in parsed.outputs})
    return [
        WorkedStep(
            line.name,
            text(line.expression, names),
            text(line.expression, shown),
            values[line.name],
            units.get(line.name, "1"),
        )
        for line in lines
        if line.name in used
    ]


def _shown(value: Any, unit: str) -> str:
    return value if isinstance(value, str) else format_quantity(value, unit)


def _needed(parsed: Steps, skip: Collection[str]) -> set[str]:
    """The steps that lead to an output which is not skipped."""
    lines = [_Line(name, expression, names_in(expression)) for name, expression in parsed.all()]
    return _used(lines, {name for name, _ in parsed.outputs if name not in skip})


def _used(lines: Sequence[_Line], outputs: set[str]) -> set[str]:
    """The outputs and all steps on the way to them."""
    used = set(outputs)
    for line in reversed(lines):
        if line.name in used:
            used |= line.uses
    return used


def _taken(name: str, expression: ast.expr, values: Mapping[str, Any]) -> _Line:
    """A step with the side taken in place of each choice."""
    taking = _Taking(values)
    taken: ast.expr = taking.visit(copy(expression))
    return _Line(name, taken, taking.asked | names_in(taken))


class _Taking(ast.NodeTransformer):
    """Puts the side that is taken in place of each choice; `asked` are the names it depends on."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.asked: set[str] = set()

    def visit_IfExp(self, choice: ast.IfExp) -> ast.expr:
        """One side of `a if test else b`."""
        return self._side(choice.test, choice.body, choice.orelse)

    def visit_Call(self, call: ast.Call) -> ast.expr:
        """One side of `where(test, a, b)`."""
        if function_called(call) == "where":
            return self._side(*call.args)
        self.generic_visit(call)
        return call

    def _side(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.expr:
        self.asked |= names_in(test)
        side: ast.expr = self.visit(then if evaluate_tree(test, self.values) else otherwise)
        return side


def _unit(name: str, formula: Formula, dim: Dim) -> str:
    """The declared unit of an input or output; that of a step follows from its dimensions."""
    declared = formula.inputs.get(name) or formula.outputs.get(name)
    if declared is not None:
        return declared.unit
    top = [base for base, power in dim.powers if power > 0]
    bottom = [base for base, power in dim.powers if power < 0]
    return "/".join([" ".join(top) or "1", *bottom])


def text(node: ast.expr, names: Mapping[str, str], outer: int = 0) -> str:
    """An expression as plain text, with the given text for each name."""
    match node:
        case ast.BinOp():
            return _operation(node, names, outer)
        case ast.UnaryOp(operand=operand):
            line = f"-{text(operand, names, _BRACKETED)}"
            return f"({line})" if outer >= _BRACKETED else line
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return f"{text(left, names)} {_COMPARE[type(sign)]} {text(right, names)}"
        case ast.Call():
            arguments = ", ".join(text(argument, names) for argument in node.args)
            return f"{function_called(node)}({arguments})"
        case ast.Name(id=name):
            return names.get(name, name)
        case ast.Constant(value=value):
            return str(value)
    raise TypeError(f"{type(node).__name__} is outside the subset of formulas")


def _operation(node: ast.BinOp, names: Mapping[str, str], outer: int) -> str:
    sign, level = _SIGNS[type(node.op)]
    # a - (b - c) and (a ** b) ** c keep their brackets.
    left_level = level + int(isinstance(node.op, ast.Pow))
    right_level = level + int(isinstance(node.op, (ast.Sub, ast.Div)))
    line = f"{text(node.left, names, left_level)} {sign} {text(node.right, names, right_level)}"
    return f"({line})" if level < outer else line
