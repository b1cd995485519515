"""Reads a formula's source into steps, and refuses what the subset does not have."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.faces.tables import tables_as_choices
from flopbook.formulas.declaration import Constant, Formula

FUNCTIONS = ("minimum", "maximum", "floor", "ceil", "sqrt", "where")
_ALLOWED = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Name,
    ast.Constant,
    ast.Load,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Pow,
    ast.USub,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.Eq,
    ast.NotEq,
)


class FormulaSubsetError(FlopbookError):
    """A formula uses something that cannot be printed as JavaScript and LaTeX."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A formula as named expressions, in order, and the expression of each output."""

    locals: tuple[tuple[str, ast.expr], ...]
    outputs: tuple[tuple[str, ast.expr], ...]
    constants: dict[str, float]

    def all(self) -> list[tuple[str, ast.expr]]:
        """Locals and outputs in order; an output that only repeats a local appears once."""
        seen = [*self.locals]
        seen += [(n, e) for n, e in self.outputs if not (isinstance(e, ast.Name) and e.id == n)]
        return seen


@functools.cache
def steps(formula: Formula) -> Steps:
    """Parse a formula, its parts first.

    Raises FormulaSubsetError with file and line of what the subset lacks.
    """
    found: list[tuple[str, ast.expr]] = []
    constants: dict[str, float] = {}
    names = {*formula.inputs, "inf"}
    for function in (*formula.parts, formula.function):
        named, returned, refuse = _read(function)
        if function is formula.function and [name for name, _ in returned] != list(formula.outputs):
            raise refuse(
                returned[0][1].lineno if returned else 1, "returns other names than it declares"
            )
        for name, expression in [*named, *returned]:
            if problem := _expression_problem(expression, names, function.__globals__, constants):
                raise refuse(*problem)
            if name in names | set(FUNCTIONS) and not (
                isinstance(expression, ast.Name) and expression.id == name
            ):
                raise refuse(
                    expression.lineno,
                    f"'{name}' already has a meaning; give each step its own name",
                )
            names.add(name)
        found += named
        if function is not formula.function:
            found += [
                (name, e) for name, e in returned if not (isinstance(e, ast.Name) and e.id == name)
            ]
    return Steps(tuple(found), tuple(returned), constants)


def _read(
    function: Callable[..., dict[str, Any]],
) -> tuple[
    list[tuple[str, ast.expr]], list[tuple[str, ast.expr]], Callable[[int, str], FormulaSubsetError]
]:
    """The named expressions of a function, those that it returns, and how to refuse one of its
    lines.
    """
    lines, start = inspect.getsourcelines(function)
    tree = tables_as_choices(ast.parse(textwrap.dedent("".join(lines))))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    where = f"{inspect.getsourcefile(function)}:"
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body

    def refuse(line: int, problem: str) -> FormulaSubsetError:
        return FormulaSubsetError(f"{where}{start + line - 1}: {problem}")

    named: list[tuple[str, ast.expr]] = []
    for statement in body[:-1]:
        if not (isinstance(statement, ast.Assign) and _one_name(statement.targets)):
            raise refuse(statement.lineno, "only `name = expression` is allowed")
        named.append((statement.targets[0].id, statement.value))  # type: ignore[attr-defined]
    last = body[-1] if body else definition
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Dict)):
        raise refuse(last.lineno, "end with `return {'output': expression}`")
    keys = [k.value if isinstance(k, ast.Constant) else None for k in last.value.keys]
    return named, list(zip(keys, last.value.values, strict=True)), refuse


def _one_name(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


def _expression_problem(
    expression: ast.expr, names: set[str], scope: dict[str, object], constants: dict[str, float]
) -> tuple[int, str] | None:
    """Line and text of the first thing in an expression that the subset does not have."""
    called = {id(node.func) for node in ast.walk(expression) if isinstance(node, ast.Call)}
    for node in ast.walk(expression):
        line = getattr(node, "lineno", expression.lineno)  # operators carry no line of their own
        if problem := _problem(node, names, scope, constants):
            return line, problem
        if isinstance(node, ast.Name) and node.id in FUNCTIONS and id(node) not in called:
            return line, f"'{node.id}' is a function; call it"
    return None


def _problem(
    node: ast.AST, names: set[str], scope: dict[str, object], constants: dict[str, float]
) -> str:
    """What is wrong with a node of the tree, or an empty string; constants are noted on the way."""
    if not isinstance(node, _ALLOWED):
        return f"{type(node).__name__} is outside the subset of formulas"
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
            return f"only {', '.join(FUNCTIONS)} may be called, without keywords"
    elif isinstance(node, ast.Name) and node.id not in names and node.id not in FUNCTIONS:
        value = scope.get(node.id)
        if not isinstance(value, Constant):
            return f"'{node.id}' is neither an input, nor a step, nor a Constant with a unit"
        constants[node.id] = value
    elif isinstance(node, ast.Compare) and len(node.ops) != 1:
        return "one comparison at a time"
    elif isinstance(node, ast.Constant) and (
        isinstance(node.value, bool) or not isinstance(node.value, (int, float, str))
    ):
        return f"constant {node.value!r} is outside the subset of formulas"
    return ""


def constant(formula: Formula, name: str) -> Constant:
    """A formula's named constant, with its unit."""
    scopes = [
        part.__globals__ for part in (*formula.parts, formula.function) if name in part.__globals__
    ]
    value = scopes[-1][name]
    assert isinstance(value, Constant)
    return value
