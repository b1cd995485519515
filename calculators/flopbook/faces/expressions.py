"""Expressions of plain functions in JavaScript, for `functions.py`.

A method has the name of the node of the syntax tree that it prints.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from flopbook.errors import FlopbookError

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.BitAnd: "&&",
    ast.BitOr: "||",
}
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
    ast.Is: "===",
    ast.IsNot: "!==",
}
_UNARY: Mapping[type[ast.unaryop], str] = {
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Not: "!",
    ast.Invert: "!",
}
# Functions of NumPy, `math` and Python -> those of JavaScript; an empty name leaves the argument.
_NAMED = {
    "minimum": "Math.min",
    "maximum": "Math.max",
    "min": "Math.min",
    "max": "Math.max",
    "abs": "Math.abs",
    "sqrt": "Math.sqrt",
    "exp": "Math.exp",
    "log": "Math.log",
    "ceil": "Math.ceil",
    "floor": "Math.floor",
    "hypot": "Math.hypot",
    "any": "",
    "holds_anywhere": "",
    "float": "",
    "asarray": "",
}
_LIBRARIES = ("np", "math", "arrays")
# Names that JavaScript keeps for itself.
_RESERVED = ("case", "default", "delete", "function", "new", "switch", "this", "typeof", "var")


class UnprintableError(FlopbookError):
    """A function uses something that has no counterpart in JavaScript here."""


class Printout(Protocol):
    """What expressions need of the module that they are printed into."""

    def add(self, function: Callable[..., Any]) -> str:
        """Print a function; returns its name."""

    def add_constant(self, name: str, value: Any) -> None:
        """Print a constant."""

    def add_formula(self, name: str) -> str:
        """Print a formula; returns the object that stands for it."""

    def place(self) -> int:
        """The place of one more table that is kept."""


def literal(value: Any) -> str:
    """A constant as JavaScript writes it; a mapping keeps its order."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value).replace("inf", "Infinity").replace("nan", "NaN")
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int | float):
        return repr(float(value)) if isinstance(value, float) else repr(int(value))
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(key))}: {literal(entry)}" for key, entry in value.items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join(map(literal, value))}]"


def spelled(name: str) -> str:
    """A name that JavaScript does not keep for itself."""
    return f"{name}$" if name in _RESERVED else name


class Expressions:
    """Prints the expressions of one function, whose place it knows."""

    def __init__(self, module: Printout, file: str, start: int, names: Mapping[str, Any]) -> None:
        self._module, self._file, self._start, self._globals = module, file, start, names
        self._local: set[str] = set()

    def _refuse(self, node: ast.AST) -> UnprintableError:
        line = self._start + getattr(node, "lineno", 1) - 1
        node_kind = type(node).__name__
        return UnprintableError(f"{self._file}:{line}: {node_kind} cannot be printed as JavaScript")

    def _elements(self, node: ast.expr) -> str:
        """What a loop runs over: the keys of a mapping, the elements of all else."""
        if isinstance(node, ast.Name) and isinstance(self._globals.get(node.id), Mapping):
            return f"Object.keys({self._text(node)})"
        return self._text(node)

    def _text(self, node: ast.expr) -> str:
        """An expression, in brackets where an operator around it could take it apart."""
        printed = getattr(self, f"_{type(node).__name__}", None)
        if printed is None:
            raise self._refuse(node)
        return str(printed(node))

    def _texts(self, nodes: Iterable[ast.expr]) -> str:
        return ", ".join(map(self._text, nodes))

    def _Name(self, node: ast.Name) -> str:
        """A local name, else a constant of the module."""
        if node.id not in self._local:
            if node.id not in self._globals or callable(self._globals[node.id]):
                raise self._refuse(node)
            self._module.add_constant(node.id, self._globals[node.id])
        return spelled(node.id)

    def _Constant(self, node: ast.Constant) -> str:
        return literal(node.value)

    def _BinOp(self, node: ast.BinOp) -> str:
        return self._operation(node.op, self._text(node.left), node.right, node)

    def _UnaryOp(self, node: ast.UnaryOp) -> str:
        return f"({_UNARY[type(node.op)]}{self._text(node.operand)})"

    def _BoolOp(self, node: ast.BoolOp) -> str:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return f"({sign.join(map(self._text, node.values))})"

    def _IfExp(self, node: ast.IfExp) -> str:
        return self._chosen(node.test, node.body, node.orelse)

    def _Tuple(self, node: ast.Tuple | ast.List) -> str:
        return f"[{self._texts(node.elts)}]"

    _List = _Tuple

    def _operation(self, op: ast.operator, left: str, right: ast.expr, node: ast.AST) -> str:
        if isinstance(op, ast.Pow):
            return f"Math.pow({left}, {self._text(right)})"
        if isinstance(op, ast.FloorDiv):
            return f"Math.floor({left} / {self._text(right)})"
        if type(op) not in _BINARY:
            raise self._refuse(node)
        return f"({left} {_BINARY[type(op)]} {self._text(right)})"

    def _Compare(self, node: ast.Compare) -> str:
        sides = [node.left, *node.comparators]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        comparisons = [self._compared(left, op, right) for left, op, right in pairs]
        return comparisons[0] if len(comparisons) == 1 else f"({' && '.join(comparisons)})"

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
        if isinstance(op, ast.In | ast.NotIn):
            negated = "!" if isinstance(op, ast.NotIn) else ""
            return f"{negated}{self._elements(right)}.includes({self._text(left)})"
        return f"({self._text(left)} {_COMPARED[type(op)]} {self._text(right)})"

    def _chosen(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> str:
        return f"({self._text(test)} ? {self._text(then)} : {self._text(otherwise)})"

    def _Dict(self, node: ast.Dict) -> str:
        pairs = []
        for key, value in zip(node.keys, node.values, strict=True):
            head = "..." if key is None else f"[{self._text(key)}]: "
            pairs.append(f"{head}{self._text(value)}")
        return f"{{{', '.join(pairs)}}}"

    def _DictComp(self, node: ast.DictComp) -> str:
        """A table over constants; one that depends on the parameters alone is made once."""
        (loop,) = node.generators
        if loop.ifs or not isinstance(loop.target, ast.Name):
            raise self._refuse(node)
        name = loop.target.id
        self._local.add(name)
        pair = f"[{self._text(node.key)}, {self._text(node.value)}]"
        table = f"Object.fromEntries({self._elements(loop.iter)}.map(({name}) => {pair}))"
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if used & self._local != {"p", name}:
            return table
        return f"kept({self._module.place()}, p, () => ({table}))"

    def _JoinedStr(self, node: ast.JoinedStr) -> str:
        text = ""
        for part in node.values:
            match part:
                case ast.Constant(value=str(words)):
                    text += words
                case ast.FormattedValue(value=value, format_spec=None):
                    text += f"${{{self._text(value)}}}"
                case _:
                    raise self._refuse(node)
        return f"`{text}`"

    def _Subscript(self, node: ast.Subscript) -> str:
        table = self._text(node.value)
        match node.slice:
            case ast.Constant(value=str(name)) if name.isidentifier():
                return f"{table}.{name}"
        return f"{table}[{self._text(node.slice)}]"

    def _Attribute(self, node: ast.Attribute) -> str:
        if isinstance(node.value, ast.Name) and node.value.id in _LIBRARIES:
            if node.attr == "inf":
                return "Infinity"
            raise self._refuse(node)
        return f"{self._text(node.value)}.{node.attr}"

    def _Call(self, node: ast.Call) -> str:
        match node.func:
            case ast.Name(id="get_formula"):
                (name,) = node.args
                assert isinstance(name, ast.Constant)
                return self._module.add_formula(str(name.value))
            case ast.Name(id="getattr"):
                return f"{self._text(node.args[0])}[{self._text(node.args[1])}]"
            case ast.Name(id=name) if callable(self._globals.get(name)):
                return self._own(self._globals[name], node)
            case ast.Name(id=name):
                return self._library(name, node)
            case ast.Attribute(value=ast.Name(id="np" | "math" | "arrays"), attr=name):
                return self._library(name, node)
            case ast.Attribute(value=value, attr=method):
                return self._method(self._text(value), method, node)
        raise self._refuse(node)

    def _library(self, name: str, node: ast.Call) -> str:
        if name == "where":
            test, then, otherwise = node.args
            return self._chosen(test, then, otherwise)
        if name not in _NAMED or node.keywords:
            raise self._refuse(node)
        return f"{_NAMED[name]}({self._texts(node.args)})"

    def _method(self, whole: str, method: str, node: ast.Call) -> str:
        """The questions that a run answers of itself, a record with changes, a look-up."""
        if method == "where" and isinstance(node.args[-1], ast.Starred):
            field, words = self._text(node.args[0]), self._text(node.args[-1].value)
            return f"{words}.includes({whole}[{field}])"
        arguments = list(map(self._text, node.args))
        match method, node.args:
            case "where", [ast.Constant(value=str(field)), *_]:
                tests = (f"{whole}.{field} === {word}" for word in arguments[1:])
                return f"({' || '.join(tests)})"
            case "choose", [ast.Constant(value=str(field)), _, _]:
                return f"({arguments[1]}[{whole}.{field}] ?? {arguments[2]})"
            case "inferred", [_]:
                return f"{whole}.inferred.includes({arguments[0]})"
            case "compute", [_]:
                return f"{whole}.compute({arguments[0]})"
            case "get", [_, _]:
                return f"({whole}[{arguments[0]}] ?? {arguments[1]})"
            case "startswith", [_]:
                return f"{whole}.startsWith({arguments[0]})"
            case "_replace", []:
                return f"({{...{whole}, {self._named(node)}}})"
        raise self._refuse(node)

    def _named(self, node: ast.Call) -> str:
        pairs = (f"{each.arg}: {self._text(each.value)}" for each in node.keywords)
        return ", ".join(pairs)

    def _own(self, function: Any, node: ast.Call) -> str:
        """A call of a function of ours; a record is an object in the order of its fields."""
        if hasattr(function, "_fields"):
            arguments = dict(zip(function._fields, map(self._text, node.args), strict=False))
            arguments |= {str(each.arg): self._text(each.value) for each in node.keywords}
            pairs = (f"{name}: {arguments[name]}" for name in function._fields if name in arguments)
            return f"({{{', '.join(pairs)}}})"
        if node.keywords:
            raise self._refuse(node)
        name = self._module.add(function)
        return f"{name}({self._texts(node.args)})"
