"""What the expressions of prose may do, and how much of it.

Prose is contributed, and Jinja is a programming language: two loops run for a year, and forty lines
that double a text fill the memory. So a page may use the statements, filters and attributes below;
it computes with numbers alone; and every call, operation and turn of a loop counts.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from flopbook.checks.rules.elements import expressions
from flopbook.quantities.expressions import BINARY

MOST_STEPS = 20_000
LONGEST_S = 60.0  # of processor time: a busy machine makes no page longer
MOST_CHARACTERS = 5_000_000
LONGEST_PAGE = 1_000_000
LONGEST_EXPRESSION = 2_000
# What joins two texts may make no longer one than this.
_LONGEST_TEXT = 100_000
_LONGEST_LIST = 10_000
_STATEMENTS = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign),
    *(nodes.Name, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword),
    *(nodes.Call, nodes.Filter, nodes.Test, nodes.Getattr, nodes.Getitem, nodes.CondExpr),
    *(nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Pow, nodes.Neg, nodes.Pos),
    *(nodes.And, nodes.Or, nodes.Not, nodes.Compare, nodes.Operand, nodes.Concat),
)
_FILTERS = (
    *("round", "float", "string", "first", "length", "list", "max", "min"),
    *("map", "select", "selectattr"),
)
_OPERATIONS = {
    "+": BINARY[ast.Add],
    "-": BINARY[ast.Sub],
    "*": BINARY[ast.Mult],
    "/": BINARY[ast.Div],
    "//": BINARY[ast.FloorDiv],
    "**": BINARY[ast.Pow],
}
_MOST_BITS = 1024  # of a whole number, about what a float can hold
# What Python's own texts and collections can do is not for prose; a table may keep a list.
_CLOSED = (str, bytes, tuple, set, frozenset, complex, partial)
_OF_MAPPINGS = ("items", "keys", "values", "get")
_COUNTED, _JOINED = "_counted", "_joined"


class TooMuch(SecurityError):
    """A page that asks for more work than prose needs."""


class ProseEnvironment(SandboxedEnvironment):
    """Jinja with the part of the language that prose is written in; one for each page."""

    intercepted_binops = frozenset(_OPERATIONS)

    def __init__(self, finalize: Any) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            finalize=finalize,
            keep_trailing_newline=True,
        )
        self.filters = {name: self.filters[name] for name in _FILTERS}
        self._steps, self._end = 0, time.thread_time() + LONGEST_S

    def rendered(self, text: str) -> str:
        """The page with its expressions filled in. Raises what they raise."""
        if len(text) > LONGEST_PAGE:
            raise TooMuch(f"a page of {len(text):,} characters, at most {LONGEST_PAGE:,}")
        length, line = longest_expression(text)
        if length > LONGEST_EXPRESSION:
            message = f"an expression of {length:,} characters, at most {LONGEST_EXPRESSION:,}"
            raise TemplateSyntaxError(message, line)
        ours = {_COUNTED: self._counted, _JOINED: self._joined}
        pieces, length = [], 0
        for piece in self.from_string(text, ours).generate():
            length += len(piece)
            if length > MOST_CHARACTERS:
                raise TooMuch(f"a page that becomes longer than {MOST_CHARACTERS:,} characters")
            pieces.append(piece)
        return "".join(pieces)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The tree of a page without what prose does not use, its loops counted."""
        tree: nodes.Template = super()._parse(source, name, filename)
        for node in tree.find_all(nodes.Node):
            if not isinstance(node, _STATEMENTS):
                message = f"'{type(node).__name__.lower()}' is not part of prose"
                raise TemplateSyntaxError(message, node.lineno or 1)
            if isinstance(node, nodes.For) and node.recursive:
                raise TemplateSyntaxError("a loop that calls itself", node.lineno)
        _Bounded().visit(tree)
        tree.set_environment(self)
        return tree

    def wrap_str_format(self, value: Any) -> None:
        """None of Jinja's own: `format` of a text is asked for like any other attribute."""

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch(f"more than {MOST_STEPS:,} steps of work")
        if time.thread_time() > self._end:
            raise TooMuch(f"more than {LONGEST_S:.0f} s of work")

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for element in items:
            self._step()
            yield element

    def _joined(self, *texts: Any) -> str:
        self._step()
        pieces = [str(text) for text in texts]
        if sum(map(len, pieces)) > _LONGEST_TEXT:
            raise TooMuch(f"a text of more than {_LONGEST_TEXT:,} characters")
        return "".join(pieces)

    def _listed(self, items: list[Any]) -> list[Any]:
        if len(items) > _LONGEST_LIST:
            raise TooMuch(f"a list of more than {_LONGEST_LIST:,} items")
        return items

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what an expression names, as one step."""
        self._step()
        return super().call(context, function, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute with two numbers; a text times a number may be of any length."""
        self._step()
        if operator == "+" and isinstance(left, list) and isinstance(right, list):
            return self._listed([*left, *right][: _LONGEST_LIST + 1])
        for operand in (left, right):
            if not isinstance(operand, (int, float)):
                raise TypeError(f"'{operator}' takes numbers, not {type(operand).__name__}")
        number = _OPERATIONS[operator](left, right)
        if isinstance(number, int) and number.bit_length() > _MOST_BITS:
            raise TooMuch("a number of hundreds of digits")
        return number

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """What is ours may be asked for; what Python adds to texts and lists may not."""
        if isinstance(obj, dict):
            return attr in _OF_MAPPINGS
        if isinstance(obj, list):
            return attr == "append"
        is_closed = type(obj) in _CLOSED or isinstance(obj, str)  # a named tuple is ours
        return not is_closed and super().is_safe_attribute(obj, attr, value)


def longest_expression(text: str) -> tuple[int, int]:
    """Length and line of the longest expression of a page, from 1; none is 0 long, on line 1."""
    lengths = ((end - start, start) for start, end in expressions(text))
    length, start = max(lengths, key=lambda pair: pair[0], default=(0, 0))
    return length, text.count("\n", 0, start) + 1


class _Bounded(NodeTransformer):
    """Puts calls that count into the places of loops and of joined texts."""

    def visit_For(self, loop: nodes.For) -> nodes.For:
        self.generic_visit(loop)
        loop.iter = _called(_COUNTED, loop.iter)
        return loop

    def visit_Concat(self, texts: nodes.Concat) -> nodes.Call:
        self.generic_visit(texts)
        return _called(_JOINED, *texts.nodes)


def _called(name: str, *arguments: Any) -> nodes.Call:
    return nodes.Call(nodes.Name(name, "load"), list(arguments), [], None, None)
