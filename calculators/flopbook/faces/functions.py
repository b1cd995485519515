"""Plain functions of the package in JavaScript, for what a page has to compute beyond one formula.

The search on a page times thousands of layouts with the parts that `prediction` wrote for arrays.
A printed function takes one run as an object in place of arrays of runs, and keeps the order of all
operations: sums and products are the same doubles, powers differ in their last bits at most.

Printed are assignments, choices, loops over constants, calls of functions nearby, records made by
name, and the few functions of NumPy and `math` that parts use. All else is refused with its place.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from flopbook.faces.expressions import Expressions, literal, spelled
from flopbook.faces.javascript import function_name, javascript
from flopbook.formulas import get_formula

_HEADER = "// Made from the Python functions; a test in the browser holds both equal."
# What a table that depends on the parameters alone costs is paid once for all layouts.
_KEEPER = """\
const $kept = [];
function kept(place, p, make) {
  if ($kept[place]?.p !== p) $kept[place] = {p, made: make()};
  return $kept[place].made;
}"""


def functions_module(entries: Iterable[Callable[..., Any]]) -> str:
    """Some functions, with all that they call and all constants, as one JavaScript module.

    Raises UnprintableError with file and line of what cannot be printed.
    """
    printed = _Module()
    names = [printed.add(entry) for entry in entries]
    exports = f"export {{{', '.join(names)}}};"
    return "\n".join([_HEADER, *printed.code(), exports, ""])


class _Module:
    """What is printed so far: formulas, constants and functions by name."""

    def __init__(self) -> None:
        self.formulas: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.tables = 0

    def code(self) -> list[str]:
        """The pieces of the module in an order in which they can be read."""
        keeper = [_KEEPER] if self.tables else []
        return [
            *keeper,
            *self.formulas.values(),
            *self.constants.values(),
            *self.functions.values(),
        ]

    def add(self, function: Callable[..., Any]) -> str:
        """Print a function or class with all that it needs; returns its name."""
        name = function.__name__
        if name not in self.functions:
            self.functions[name] = ""  # it may call itself
            self.functions[name] = _Function(self, function).code()
        return name

    def add_constant(self, name: str, value: Any) -> None:
        """Print a constant of the Python module."""
        self.constants[name] = f"const {name} = {literal(value)};"

    def add_formula(self, name: str) -> str:
        """Print a formula; returns the object that stands for it."""
        formula = get_formula(name)
        script_name = function_name(formula)
        if name not in self.formulas:
            defaults = json.dumps(dict(formula.defaults))
            record = f"const ${script_name} = {{defaults: {defaults}, compute: {script_name}}};"
            self.formulas[name] = f"{javascript(formula)}\n{record}"
        return f"${script_name}"

    def place(self) -> int:
        """The place of one more table that is kept."""
        self.tables += 1
        return self.tables - 1


class _Function(Expressions):
    """One function or class; a class is what its `__init__` makes of `self`."""

    def __init__(self, module: _Module, function: Callable[..., Any]) -> None:
        self._name = function.__name__
        self._is_class = inspect.isclass(function)
        body_function = function.__init__ if inspect.isclass(function) else function
        lines, start = inspect.getsourcelines(body_function)
        super().__init__(
            module, str(inspect.getsourcefile(body_function)), start, body_function.__globals__
        )
        definition = ast.parse(textwrap.dedent("".join(lines))).body[0]
        assert isinstance(definition, ast.FunctionDef)
        self._definition = definition

    def code(self) -> str:
        """The function in JavaScript."""
        arguments = [each.arg for each in self._definition.args.args]
        inner = map(spelled, arguments[1:] if self._is_class else arguments)
        self._local = {*arguments, *_assigned(self._definition)}
        named = sorted(map(spelled, self._local - set(arguments)))
        lines = [f"  let {', '.join(named)};"] if named else []
        if self._is_class:
            lines.append("  const self = {};")
        lines += [line for each in self._definition.body for line in self._statement(each)]
        if self._is_class:
            lines.append("  return self;")
        return "\n".join([f"function {self._name}({', '.join(inner)}) {{", *lines, "}"])

    def _statement(self, node: ast.stmt) -> list[str]:
        """The lines of a statement, indented by two."""
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return []  # a docstring
            case ast.Assign(targets=[target]):
                return [f"  {self._target(target)} = {self._text(node.value)};"]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [f"  {self._target(target)} = {self._text(value)};"]
            case ast.AugAssign():
                name = self._target(node.target)
                return [f"  {name} = {self._operation(node.op, name, node.value, node)};"]
            case ast.Return(value=ast.expr() as value):
                return [f"  return {self._text(value)};"]
            case ast.Continue():
                return ["  continue;"]
            case ast.If():
                return self._choice(node)
            case ast.For(target=ast.Name(id=name)):
                return [
                    f"  for ({spelled(name)} of {self._elements(node.iter)}) {{",
                    *self._block(node.body),
                    "  }",
                ]
        raise self._refuse(node)

    def _block(self, body: Iterable[ast.stmt]) -> list[str]:
        return [f"  {line}" for each in body for line in self._statement(each)]

    def _choice(self, node: ast.If) -> list[str]:
        lines = [f"  if ({self._text(node.test)}) {{", *self._block(node.body)]
        if node.orelse:
            lines += ["  } else {", *self._block(node.orelse)]
        return [*lines, "  }"]

    def _target(self, node: ast.expr) -> str:
        if isinstance(node, ast.Tuple):
            return f"[{', '.join(map(self._target, node.elts))}]"
        if isinstance(node, ast.Name | ast.Attribute):
            return self._text(node)
        raise self._refuse(node)


def _assigned(definition: ast.FunctionDef) -> set[str]:
    """The names that a function gives values to."""
    return {
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - _comprehended(definition)


def _comprehended(definition: ast.FunctionDef) -> set[str]:
    """The names that live inside a comprehension alone."""
    return {
        node.target.id
        for node in ast.walk(definition)
        if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Name)
    }
