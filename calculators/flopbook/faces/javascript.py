"""A formula as a JavaScript function: the same operations in the same order, so the same doubles."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable

from flopbook.faces.tree import Steps, steps
from flopbook.formulas.declaration import Formula

_BINARY = {ast.Add: ("+", 1), ast.Sub: ("-", 1), ast.Mult: ("*", 2), ast.Div: ("/", 2)}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!=="}
_FUNCTIONS = {
    "minimum": "Math.min",
    "maximum": "Math.max",
    "floor": "Math.floor",
    "ceil": "Math.ceil",
    "sqrt": "Math.sqrt",
}


def function_name(formula: Formula) -> str:
    """The formula's id as a JavaScript name: `min-batch` -> `min_batch`."""
    return formula.id.replace("-", "_")


def javascript(formula: Formula) -> str:
    """The formula as one exported function of an object of SI inputs."""
    parsed = steps(formula)
    lines = [f"export function {function_name(formula)}({{{', '.join(formula.inputs)}}}) {{"]
    done: set[str] = set()
    for name, expression in parsed.locals:
        lines.append(f"  const {name} = {_print(expression, parsed)};")
        done.add(name)
    pairs = [
        n if isinstance(e, ast.Name) and e.id == n else f"{n}: {_print(e, parsed)}"
        for n, e in parsed.outputs
    ]
    return "\n".join([*lines, f"  return {{{', '.join(pairs)}}};", "}"])


def module(formulas: Iterable[Formula]) -> str:
    """Formulas as one JavaScript module."""
    header = "// Made from the Python formulas; a test in the browser holds both equal."
    return "\n".join([header, *(javascript(formula) for formula in formulas), ""])


def _print(node: ast.expr, parsed: Steps) -> str:
    return _text(node, parsed, 0)


def _text(node: ast.expr, parsed: Steps, outer: int) -> str:
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            return f"Math.pow({_text(node.left, parsed, 0)}, {_text(node.right, parsed, 0)})"
        sign, level = _BINARY[type(node.op)]
        # The right side of any operator keeps its brackets: doubles are not associative.
        text = f"{_text(node.left, parsed, level)} {sign} {_text(node.right, parsed, level + 1)}"
        return f"({text})" if level < outer else text
    if isinstance(node, ast.UnaryOp):
        return f"(-{_text(node.operand, parsed, 3)})"
    if isinstance(node, ast.Compare):
        sides = _text(node.left, parsed, 1), _text(node.comparators[0], parsed, 1)
        return f"({sides[0]} {_COMPARE[type(node.ops[0])]} {sides[1]})"
    if isinstance(node, ast.IfExp):
        return _choice(node.test, node.body, node.orelse, parsed)
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        if node.func.id == "where":
            return _choice(*node.args, parsed)  # type: ignore[call-arg]
        return f"{_FUNCTIONS[node.func.id]}({', '.join(_text(a, parsed, 0) for a in node.args)})"
    if isinstance(node, ast.Name):
        if node.id == "inf":
            return "Infinity"
        return repr(float(parsed.constants[node.id])) if node.id in parsed.constants else node.id
    assert isinstance(node, ast.Constant)
    return json.dumps(node.value) if isinstance(node.value, str) else repr(node.value)


def _choice(test: ast.expr, then: ast.expr, otherwise: ast.expr, parsed: Steps) -> str:
    parts = [_text(part, parsed, 0) for part in (test, then, otherwise)]
    return f"({parts[0]} ? {parts[1]} : {parts[2]})"
