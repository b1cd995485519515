"""A formula as LaTeX: a line for each step, with the symbols of its inputs and outputs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from flopbook.faces.tree import copy, function_called, steps
from flopbook.formulas.declaration import Formula

_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.Eq: "=",
    ast.NotEq: r"\ne",
}
# Sign and precedence: an operand has brackets where its operator binds less than that around it.
_SIGNS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: (" + ", 1),
    ast.Sub: (" - ", 1),
    ast.Mult: (r" \, ", 2),
}
_POWER = 4  # above every precedence: the base of a power is one symbol or has brackets
_BRACKETS = {"floor": (r"\lfloor", r"\rfloor"), "ceil": (r"\lceil", r"\rceil")}
_LARGEST_PLAIN = 1e7  # more digits are counted by nobody


def symbols(formula: Formula) -> dict[str, str]:
    """Name -> LaTeX symbol for every input, output and step."""
    texts = {name: spec.symbol for name, spec in formula.inputs.items()}
    texts |= {name: spec.symbol for name, spec in formula.outputs.items()}
    return {**texts, **formula.symbols, "inf": r"\infty"}


def latex(formula: Formula) -> list[str]:
    """The formula as LaTeX equations, in the order in which they are computed."""
    return list(equations(formula).values())


def equations(formula: Formula) -> dict[str, str]:
    """The equations by the name of what they compute, in the order in which they are computed."""
    parsed = steps(formula)
    texts = symbols(formula)
    numbers = {name: _number(value) for name, value in parsed.constants.items()}
    latex_of = {}
    for name, expression in parsed.all():
        symbol = texts.get(name, rf"\text{{{name}}}")
        definition = print_latex(expression, {**texts, **numbers})
        if symbol != definition:  # an output that a step has computed already
            latex_of[name] = f"{symbol} = {definition}"
    return latex_of


def print_latex(node: ast.expr, names: Mapping[str, str], outer: int = 0) -> str:
    """One expression as LaTeX, with the given text for each name."""
    match node:
        case ast.BinOp():
            return _binary(node, names, outer)
        case ast.UnaryOp(operand=operand):
            return f"-{print_latex(operand, names, 2)}"
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            sides = print_latex(left, names), print_latex(right, names)
            return f"{sides[0]} {_COMPARE[type(sign)]} {sides[1]}"
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return _cases(test, then, otherwise, names)
        case ast.Call():
            return _call(node, names)
        case ast.Name(id=name):
            return names.get(name, rf"\text{{{name}}}")
        case ast.Constant(value=str() as word):
            return rf"\text{{{word}}}"
        case ast.Constant(value=number):
            return _number(number)
    raise TypeError(f"{type(node).__name__} is outside the subset of formulas")


def _number(value: Any) -> str:
    """A number, large ones and small ones with a power of ten; `ast` types a constant as any."""
    number = float(value)
    text = f"{number:.15g}"
    if "e" not in text and abs(number) < _LARGEST_PLAIN:
        return text
    mantissa, exponent = f"{number:e}".split("e")
    return rf"{float(mantissa):g} \times 10^{{{int(exponent)}}}"


def _binary(node: ast.BinOp, names: Mapping[str, str], outer: int) -> str:
    if isinstance(node.op, ast.Pow):
        return f"{_base(node.left, names)}^{{{print_latex(node.right, names)}}}"
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{print_latex(node.left, names)}}}{{{print_latex(node.right, names)}}}"
    is_product = isinstance(node.op, ast.Mult)
    if is_product and isinstance(node.left, ast.Constant) and node.left.value == 0:
        return "0"  # a zero that carries the unit of its factor
    sign, level = _SIGNS[type(node.op)]
    # What is subtracted keeps its brackets: a - (b - c).
    right_level = level + int(isinstance(node.op, ast.Sub))
    left, right = print_latex(node.left, names, level), print_latex(node.right, names, right_level)
    # After a thin space, a digit would read as a part of the number before it.
    if is_product and right[:1].isdigit():
        sign = r" \times "
    text = f"{left}{sign}{right}"
    return rf"\left({text}\right)" if level < outer else text


def _base(node: ast.expr, names: Mapping[str, str]) -> str:
    """What is raised to a power, in brackets where it is more than one symbol."""
    text = print_latex(node, names, _POWER)
    needs_brackets = isinstance(node, (ast.BinOp, ast.UnaryOp)) and not text.startswith(r"\left(")
    return rf"\left({text}\right)" if needs_brackets else text


def _call(node: ast.Call, names: Mapping[str, str]) -> str:
    function = function_called(node)
    if function == "where":
        test, then, otherwise = node.args
        return _cases(test, _Unguard().visit(copy(then)), otherwise, names)
    arguments = [print_latex(argument, names) for argument in node.args]
    if function in _BRACKETS:
        opening, closing = _BRACKETS[function]
        return rf"\left{opening} {arguments[0]} \right{closing}"
    if function == "sqrt":
        return rf"\sqrt{{{arguments[0]}}}"
    return rf"\{function[:3]}\left({', '.join(arguments)}\right)"  # minimum: \min


class _Unguard(ast.NodeTransformer):
    """Takes guards inside a guard away: they only keep a computation from dividing by zero."""

    def visit_Call(self, call: ast.Call) -> ast.expr:
        """The value itself in place of `where(value > 0, value, 1)`."""
        self.generic_visit(call)
        if function_called(call) == "where" and isinstance(call.args[1], ast.Name):
            return call.args[1]
        return call


def _cases(test: ast.expr, then: ast.expr, otherwise: ast.expr, names: Mapping[str, str]) -> str:
    """A choice as one brace; a choice between many is one brace of many lines."""
    lines = [rf"{print_latex(then, names)} & \text{{if }} {print_latex(test, names)}"]
    while isinstance(otherwise, ast.IfExp):
        test, then, otherwise = otherwise.test, otherwise.body, otherwise.orelse
        lines.append(rf"{print_latex(then, names)} & \text{{if }} {print_latex(test, names)}")
    lines.append(rf"{print_latex(otherwise, names)} & \text{{otherwise}}")
    inside = r" \\ ".join(lines)
    return rf"\begin{{cases}} {inside} \end{{cases}}"
