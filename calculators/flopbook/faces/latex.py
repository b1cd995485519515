"""A formula as LaTeX: one line for each step, with the symbols that its inputs and outputs carry."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from flopbook.faces.tree import steps
from flopbook.formulas.declaration import Constant, Formula

_COMPARE = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.Eq: "=",
    ast.NotEq: r"\ne",
}
_LEVEL = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 3}


def symbols(formula: Formula) -> dict[str, str]:
    """Name -> LaTeX symbol for every input, output and step."""
    found = {name: spec.symbol for name, spec in formula.inputs.items()}
    found |= {name: spec.symbol for name, spec in formula.outputs.items()}
    found |= formula.symbols
    found["inf"] = r"\infty"
    return found


def latex(formula: Formula) -> list[str]:
    """The formula as LaTeX equations, in the order in which they are computed."""
    parsed = steps(formula)
    names = symbols(formula)
    numbers = {name: _number(value) for name, value in parsed.constants.items()}
    lines = []
    for name, expression in parsed.all():
        left = names.get(name, rf"\text{{{name}}}")
        right = print_latex(expression, {**names, **numbers})
        if left != right:  # an output that a step has computed already
            lines.append(f"{left} = {right}")
    return lines


def _number(value: float | Constant) -> str:
    text = f"{float(value):.15g}"
    if "e" in text or abs(value) >= 1e7:
        mantissa, exponent = f"{float(value):e}".split("e")
        return rf"{float(mantissa):g} \times 10^{{{int(exponent)}}}"
    return text


def print_latex(node: ast.expr, names: Mapping[str, str], outer: int = 0) -> str:
    """One expression as LaTeX, with the given text for each name."""
    if isinstance(node, ast.BinOp):
        return _binary(node, names, outer)
    if isinstance(node, ast.UnaryOp):
        return f"-{print_latex(node.operand, names, 2)}"
    if isinstance(node, ast.Compare):
        sides = print_latex(node.left, names), print_latex(node.comparators[0], names)
        return f"{sides[0]} {_COMPARE[type(node.ops[0])]} {sides[1]}"
    if isinstance(node, ast.IfExp):
        return _cases(node.test, node.body, node.orelse, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    if isinstance(node, ast.Name):
        return names.get(node.id, rf"\text{{{node.id}}}")
    assert isinstance(node, ast.Constant)
    return rf"\text{{{node.value}}}" if isinstance(node.value, str) else _number(node.value)


def _binary(node: ast.BinOp, names: Mapping[str, str], outer: int) -> str:
    if isinstance(node.op, ast.Pow):
        base = print_latex(node.left, names, 4)
        if isinstance(node.left, (ast.BinOp, ast.UnaryOp)) and not base.startswith(r"\left("):
            base = rf"\left({base}\right)"
        return f"{base}^{{{print_latex(node.right, names)}}}"
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{print_latex(node.left, names)}}}{{{print_latex(node.right, names)}}}"
    if (
        isinstance(node.op, ast.Mult)
        and isinstance(node.left, ast.Constant)
        and node.left.value == 0
    ):
        return "0"  # a zero that carries the unit of its factor
    level = _LEVEL[type(node.op)]
    left = print_latex(node.left, names, level)
    right = print_latex(node.right, names, level + (1 if isinstance(node.op, ast.Sub) else 0))
    sign = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \, "}[type(node.op)]
    if isinstance(node.op, ast.Mult) and right[:1].isdigit():
        sign = r" \times "
    text = f"{left}{sign}{right}"
    return rf"\left({text}\right)" if level < outer else text


def _call(node: ast.Call, names: Mapping[str, str]) -> str:
    assert isinstance(node.func, ast.Name)
    if node.func.id == "where":
        # A guard inside a guard only keeps the computation from dividing by zero; people need not
        # read it.
        test, then, otherwise = node.args
        return _cases(test, _unguard(then), otherwise, names)
    arguments = [print_latex(a, names) for a in node.args]
    brackets = {"floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}
    if node.func.id in brackets:
        left, right = brackets[node.func.id]
        return rf"\left{left} {arguments[0]} \right{right}"
    if node.func.id == "sqrt":
        return rf"\sqrt{{{arguments[0]}}}"
    return rf"\{node.func.id[:3]}\left({', '.join(arguments)}\right)"


def _unguard(node: ast.expr) -> ast.expr:
    class Unguard(ast.NodeTransformer):
        def visit_Call(self, call: ast.Call) -> ast.expr:
            self.generic_visit(call)
            guarded = (
                isinstance(call.func, ast.Name)
                and call.func.id == "where"
                and isinstance(call.args[1], ast.Name)
            )
            return call.args[1] if guarded else call

    return Unguard().visit(
        ast.fix_missing_locations(ast.parse(ast.unparse(node), mode="eval").body)
    )


def _cases(test: ast.expr, then: ast.expr, otherwise: ast.expr, names: Mapping[str, str]) -> str:
    """A choice as one brace; a choice between many is one brace of many lines."""
    lines = []
    while True:
        lines.append(rf"{print_latex(then, names)} & \text{{if }} {print_latex(test, names)}")
        if not isinstance(otherwise, ast.IfExp):
            break
        test, then, otherwise = otherwise.test, otherwise.body, otherwise.orelse
    lines.append(rf"{print_latex(otherwise, names)} & \text{{otherwise}}")
    inside = r" \\ ".join(lines)
    return rf"\begin{{cases}} {inside} \end{{cases}}"
