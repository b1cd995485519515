"""Reads formulas, rules and omissions from their source; refuses what the subset does not have."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from flopbook.errors import FlopbookError
from flopbook.faces.tables import tables_as_choices
from flopbook.formulas.declaration import Constant, Formula
from flopbook.formulas.statements import Statement

FUNCTIONS = ("minimum", "maximum", "floor", "ceil", "sqrt", "where")

_EXPRESSIONS = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Name,
    ast.Constant,
    ast.Load,
)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_IN_FORMULAS = (*_EXPRESSIONS, *_ARITHMETIC, *_COMPARISONS)
# Rules and omissions also ask for divisibility, join conditions, and look a word up among words.
_IN_STATEMENTS = (*_IN_FORMULAS, ast.Mod, ast.BitAnd, ast.BitOr, ast.In, ast.NotIn)

Named = tuple[str, ast.expr]


class FormulaSubsetError(FlopbookError):
    """A formula uses something that cannot be printed as JavaScript and LaTeX."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A formula as named expressions, in order, and the expression of each output."""

    locals: tuple[Named, ...]
    outputs: tuple[Named, ...]
    constants: dict[str, float]

    def all(self) -> list[Named]:
        """Locals and outputs in order; an output that only repeats a local appears once."""
        return [*self.locals, *_computed(self.outputs)]


@dataclass(frozen=True, slots=True)
class StatementSteps:
    """A rule or omission as named expressions, in order, and the one in which they end."""

    locals: tuple[Named, ...]
    last: ast.expr
    constants: dict[str, float]
    words: dict[str, tuple[str, ...]]


@functools.cache
def steps(formula: Formula) -> Steps:
    """Parse a formula, its parts first.

    Raises FormulaSubsetError with file and line of what the subset lacks.
    """
    scope = _Scope({*formula.inputs, "inf"})
    named: list[Named] = []
    for function in formula.parts:
        source = _Source(function)
        returned = source.outputs()
        scope.add(source, [*source.assignments, *returned])
        named += [*source.assignments, *_computed(returned)]
    source = _Source(formula.function)
    outputs = source.outputs()
    if [name for name, _ in outputs] != list(formula.outputs):
        line = outputs[0][1].lineno if outputs else 1
        raise source.error(line, "returns other names than it declares")
    scope.add(source, [*source.assignments, *outputs])
    return Steps((*named, *source.assignments), tuple(outputs), scope.constants)


@functools.cache
def statement_steps(statement: Statement) -> StatementSteps:
    """Parse a rule or an omission.

    Raises FormulaSubsetError with file and line of what the subset lacks.
    """
    source = _Source(statement.function)
    scope = _Scope({*statement.parameters, "inf"}, allowed=_IN_STATEMENTS)
    last = source.last()
    scope.add(source, source.assignments)
    scope.check(source, last)
    return StatementSteps(tuple(source.assignments), last, scope.constants, scope.words)


def constant(formula: Formula, name: str) -> Constant:
    """A formula's named constant, with its unit."""
    functions = [*formula.parts, formula.function]
    # The function itself comes last and wins: each module has constants of its own.
    scopes = [part.__globals__ for part in functions if name in part.__globals__]
    number = scopes[-1][name]
    assert isinstance(number, Constant)
    return number


def names_in(expression: ast.AST) -> set[str]:
    """All names in an expression, functions included."""
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def copy(expression: ast.expr) -> ast.expr:
    """An expression that may be changed: parsed trees are kept and shared."""
    return ast.parse(ast.unparse(expression), mode="eval").body


def function_called(call: ast.Call) -> str:
    """The name of the function that a call of the subset calls."""
    assert isinstance(call.func, ast.Name)
    return call.func.id


def _computed(outputs: tuple[Named, ...] | list[Named]) -> list[Named]:
    """The outputs that are more than a step of the same name."""
    return [pair for pair in outputs if not _repeats(*pair)]


def _repeats(name: str, expression: ast.expr) -> bool:
    return isinstance(expression, ast.Name) and expression.id == name


class _Source:
    """The source of a function: assignments, then one `return`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        lines, self._start = inspect.getsourcelines(function)
        self._file = inspect.getsourcefile(function)
        definition = tables_as_choices(ast.parse(textwrap.dedent("".join(lines)))).body[0]
        assert isinstance(definition, ast.FunctionDef)
        body = definition.body[1:] if ast.get_docstring(definition) else definition.body
        self.globals: Mapping[str, object] = function.__globals__
        self.assignments = [self._assignment(statement) for statement in body[:-1]]
        self._last: ast.stmt = body[-1] if body else definition

    def error(self, line: int, problem: str) -> FormulaSubsetError:
        """An error at a line of the function, counted from its first one."""
        return FormulaSubsetError(f"{self._file}:{self._start + line - 1}: {problem}")

    def _assignment(self, statement: ast.stmt) -> Named:
        if isinstance(statement, ast.Assign) and _is_one_name(statement.targets):
            return statement.targets[0].id, statement.value
        raise self.error(statement.lineno, "only `name = expression` is allowed")

    def outputs(self) -> list[Named]:
        """The outputs that a formula returns, by name."""
        returned = self._last.value if isinstance(self._last, ast.Return) else None
        if not isinstance(returned, ast.Dict):
            raise self.error(self._last.lineno, "end with `return {'output': expression}`")
        keys = [key.value if isinstance(key, ast.Constant) else None for key in returned.keys]
        return [(str(key), value) for key, value in zip(keys, returned.values, strict=True)]

    def last(self) -> ast.expr:
        """The condition that a rule returns, the share that an omission returns."""
        if isinstance(self._last, ast.Return) and self._last.value is not None:
            return self._last.value
        raise self.error(self._last.lineno, "end with `return expression`")


def _is_one_name(targets: list[ast.expr]) -> TypeGuard[list[ast.Name]]:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


@dataclass(slots=True)
class _Scope:
    """The names that an expression may use; constants and words are noted where they are met."""

    names: set[str]
    allowed: tuple[type[ast.AST], ...] = _IN_FORMULAS
    constants: dict[str, float] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, source: _Source, named: list[Named]) -> None:
        """Check named expressions in order; each may use the names of those before it."""
        for name, expression in named:
            self.check(source, expression)
            taken = name in self.names or name in FUNCTIONS
            if taken and not _repeats(name, expression):
                problem = f"'{name}' already has a meaning; give each step its own name"
                raise source.error(expression.lineno, problem)
            self.names.add(name)

    def check(self, source: _Source, expression: ast.expr) -> None:
        """Raise FormulaSubsetError for the first thing that the subset does not have."""
        for node, problem in self._problems(expression, source.globals):
            # Operators carry no line of their own.
            raise source.error(getattr(node, "lineno", expression.lineno), problem)

    def _problems(
        self, expression: ast.expr, scope: Mapping[str, object]
    ) -> Iterator[tuple[ast.AST, str]]:
        nodes = list(ast.walk(expression))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if problem := self._problem(node, scope):
                yield node, problem
            if isinstance(node, ast.Name) and node.id in FUNCTIONS and id(node) not in called:
                yield node, f"'{node.id}' is a function; call it"

    def _problem(self, node: ast.AST, scope: Mapping[str, object]) -> str:
        """What the subset lacks of a node, its children apart; empty where it has it."""
        if not isinstance(node, self.allowed):
            return f"{type(node).__name__} is outside the subset of formulas"
        if isinstance(node, ast.Call):
            return _call_problem(node)
        if isinstance(node, ast.Name):
            return self._name_problem(node.id, scope)
        if isinstance(node, ast.Compare) and len(node.ops) != 1:
            return "one comparison at a time"
        if isinstance(node, ast.Constant) and not _is_number_or_text(node.value):
            return f"constant {node.value!r} is outside the subset of formulas"
        return ""

    def _name_problem(self, name: str, scope: Mapping[str, object]) -> str:
        if name in self.names or name in FUNCTIONS:
            return ""
        meaning = scope.get(name)
        if isinstance(meaning, Constant):
            self.constants[name] = meaning
            return ""
        if self.allowed is _IN_STATEMENTS and isinstance(meaning, tuple):
            self.words[name] = meaning
            return ""
        return f"'{name}' is neither an input, nor a step, nor a Constant with a unit"


def _call_problem(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name) and call.func.id in FUNCTIONS and not call.keywords:
        return ""
    return f"only {', '.join(FUNCTIONS)} may be called, without keywords"


def _is_number_or_text(value: object) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)
