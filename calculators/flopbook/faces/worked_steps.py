"""A formula worked through: each step in names, with the numbers put in, and its value with unit.

A choice is shown by the side that was taken: a reader follows one calculation, not a program.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flopbook.faces.dimensions import Dim, dimensions
from flopbook.faces.tree import FUNCTIONS, Steps, steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities import ops
from flopbook.quantities.expressions import evaluate_tree
from flopbook.quantities.units import format_quantity

_SIGNS = {
    ast.Add: ("+", 1),
    ast.Sub: ("-", 1),
    ast.Mult: ("x", 2),
    ast.Div: ("/", 2),
    ast.Pow: ("**", 3),
}
_COMPARE = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "is",
    ast.NotEq: "is not",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the working."""

    name: str
    expression: str
    numbers: str
    value: Any
    unit: str


def worked(formula: Formula, inputs: Mapping[str, Any], skip: Collection[str] = ()) -> list[Step]:
    """The steps of a formula for given SI inputs, in order; `skip` names outputs that are left
    open.
    """
    parsed = steps(formula)
    wanted = _needed(parsed, skip)
    units = {name: _unit(name, formula, dim) for name, dim in dimensions(formula).items()}
    values: dict[str, Any] = {**formula.defaults, **inputs, **parsed.constants, "inf": math.inf}
    functions = {name: getattr(ops, name) for name in FUNCTIONS}
    chosen: list[tuple[str, ast.expr, set[str]]] = []
    for name, expression in parsed.all():
        if name in wanted:
            taken, asked = _taken(expression, {**functions, **values})
            values[name] = evaluate_tree(taken, {**functions, **values})
            chosen.append((name, taken, asked | _names(taken)))
    shown = {
        n: format_quantity(v, units.get(n, "1")) if not isinstance(v, str) else v
        for n, v in values.items()
    }
    names = {n: shown[n] if n in parsed.constants or n == "inf" else n for n in values}
    used = _used(chosen, {name for name, _ in parsed.outputs})
    return [
        Step(name, text(taken, names), text(taken, shown), values[name], units.get(name, "1"))
        for name, taken, _ in chosen
        if name in used
    ]


def _needed(parsed: Steps, skip: Collection[str]) -> set[str]:
    """The steps that lead to an output which is not skipped."""
    steps_ = [(name, expression, _names(expression)) for name, expression in parsed.all()]
    return _used(steps_, {name for name, _ in parsed.outputs if name not in skip})


def _used(lines: Sequence[tuple[str, ast.expr, set[str]]], outputs: set[str]) -> set[str]:
    """The outputs and all steps on the way to them; each line comes with the names that it uses."""
    used = set(outputs)
    for name, _, names in reversed(lines):
        if name in used:
            used |= names
    return used


def _names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _taken(node: ast.expr, values: Mapping[str, Any]) -> tuple[ast.expr, set[str]]:
    """An expression with the side taken in place of each choice, and the names that the choices
    asked for.
    """
    asked: set[str] = set()

    class Taken(ast.NodeTransformer):
        def visit_IfExp(self, choice: ast.IfExp) -> ast.expr:
            asked.update(_names(choice.test))
            return self.visit(choice.body if evaluate_tree(choice.test, values) else choice.orelse)

        def visit_Call(self, call: ast.Call) -> ast.expr:
            if isinstance(call.func, ast.Name) and call.func.id == "where":
                return self.visit_IfExp(ast.IfExp(*call.args))
            return self.generic_visit(call)  # type: ignore[return-value]

    return Taken().visit(ast.parse(ast.unparse(node), mode="eval").body), asked


def _unit(name: str, formula: Formula, dim: Dim) -> str:
    for table in (formula.inputs, formula.outputs):
        if name in table:
            return table[name].unit
    top = [n for n, p in dim.powers if p > 0]
    bottom = [n for n, p in dim.powers if p < 0]
    return "/".join([" ".join(top) or "1", *bottom]) if dim.powers else "1"


def text(node: ast.expr, names: Mapping[str, str], outer: int = 0) -> str:
    """An expression as plain text, with the given text for each name."""
    if isinstance(node, ast.BinOp):
        sign, level = _SIGNS[type(node.op)]
        right_level = level + (1 if isinstance(node.op, (ast.Sub, ast.Div)) else 0)
        power = isinstance(node.op, ast.Pow)
        line = (
            f"{text(node.left, names, level + power)} {sign} {text(node.right, names, right_level)}"
        )
        return f"({line})" if level < outer else line
    if isinstance(node, ast.UnaryOp):
        line = f"-{text(node.operand, names, 3)}"
        return f"({line})" if outer > 2 else line
    if isinstance(node, ast.Compare):
        sides = text(node.left, names), text(node.comparators[0], names)
        return f"{sides[0]} {_COMPARE[type(node.ops[0])]} {sides[1]}"
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return f"{node.func.id}({', '.join(text(a, names) for a in node.args)})"
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    assert isinstance(node, ast.Constant)
    return str(node.value)
