"""A safe evaluator for expressions in data: an allow-list over the syntax tree, never eval.

Used by the ledger of claims (`chip("nvidia/h100-sxm").peak("bf16") / 3.35e12`) and to show a
formula's steps.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from flopbook.errors import FlopbookError, shorten

# Expressions come from contributed data: none may take long or much memory to compute.
MAX_LENGTH = 2000
MAX_DEPTH = 40
MAX_EXPONENT = 400


class ExpressionError(FlopbookError):
    """An expression uses something outside the subset, or cannot be computed."""


# What an expression that is none, or that asks for too much, may raise.
_EXPECTED = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(RecursionError, MemoryError),
)


def _power(base: float, exponent: float) -> float:
    # A probability to a large power is small, so it takes no time and no memory.
    shrinks = exponent > 0 and abs(base) <= 1
    if abs(exponent) > MAX_EXPONENT and not shrinks:
        raise ExpressionError(f"the exponent {shorten(exponent)} is too large")
    power: float | complex = float(base) ** exponent
    if isinstance(power, complex):
        raise ExpressionError("a negative number has no real power with a fraction in the exponent")
    return power


BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: _power,
}
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Compute an expression with the given names.

    A callable in `names` may be called; an object that lists attribute names in
    `expression_attributes` lends those. Raises ExpressionError saying what is not allowed or why it
    cannot be computed.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text):,} characters is too long")
    try:
        with warnings.catch_warnings():
            # Python warns of "1if", which no reader of the answer needs to hear of.
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = getattr(error, "msg", error)
        raise ExpressionError(f"'{shorten(text)}' is not an expression: {problem}") from None
    return evaluate_tree(tree.body, names)


def evaluate_tree(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Compute a parsed expression. Raises ExpressionError."""
    try:
        return _Evaluator(names).visit(node, 0)
    except ZeroDivisionError:
        raise ExpressionError(f"division by zero in '{_source(node)}'") from None
    except _EXPECTED as error:
        reason = shorten(error) or type(error).__name__
        raise ExpressionError(f"'{_source(node)}': {reason}") from None


def _source(node: ast.AST) -> str:
    """An expression as text for a message."""
    try:
        return shorten(ast.unparse(node))
    except RecursionError:
        return "a deeply nested expression"


class _Evaluator:
    """Computes what an allow-listed node means: `ast.BinOp` is the method `_binop`, and so on.

    A kind of node without a method is not allowed.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def visit(self, node: ast.AST, depth: int) -> Any:
        """Compute a node. Raises ExpressionError where it is not allowed or nested too deeply."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"{type(node).__name__} is not allowed in an expression")
        if depth > MAX_DEPTH:
            raise ExpressionError("nested too deeply in an expression")
        return method(node, depth + 1)

    def _constant(self, node: ast.Constant, depth: int) -> Any:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float, str)):
            raise ExpressionError(f"{shorten(repr(node.value))} is not a number or a text")
        return node.value

    def _name(self, node: ast.Name, depth: int) -> Any:
        if node.id not in self.names:
            names = ", ".join(sorted(self.names))
            raise ExpressionError(f"unknown name '{shorten(node.id)}'; known: {names}")
        return self.names[node.id]

    def _binop(self, node: ast.BinOp, depth: int) -> Any:
        if type(node.op) not in BINARY:
            raise ExpressionError(f"operator {type(node.op).__name__} is not allowed")
        operation = BINARY[type(node.op)]
        return operation(self._number(node.left, depth), self._number(node.right, depth))

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Any:
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            raise ExpressionError(f"operator {type(node.op).__name__} is not allowed")
        number = self._number(node.operand, depth)
        return -number if isinstance(node.op, ast.USub) else number

    def _compare(self, node: ast.Compare, depth: int) -> Any:
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARE:
            raise ExpressionError("only one simple comparison at a time")
        compare = COMPARE[type(node.ops[0])]
        return compare(self.visit(node.left, depth), self.visit(node.comparators[0], depth))

    def _ifexp(self, node: ast.IfExp, depth: int) -> Any:
        taken = node.body if self.visit(node.test, depth) else node.orelse
        return self.visit(taken, depth)

    def _call(self, node: ast.Call, depth: int) -> Any:
        function = self.visit(node.func, depth)
        # A keyword without a name is `**mapping`.
        if not callable(function) or any(keyword.arg is None for keyword in node.keywords):
            raise ExpressionError(f"'{_source(node.func)}' cannot be called like this")
        positional = [self.visit(argument, depth) for argument in node.args]
        named = {str(keyword.arg): self.visit(keyword.value, depth) for keyword in node.keywords}
        return function(*positional, **named)

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        owner = self.visit(node.value, depth)
        if node.attr not in getattr(type(owner), "expression_attributes", ()):
            raise ExpressionError(f"'.{shorten(node.attr)}' is not available here")
        return getattr(owner, node.attr)

    def _subscript(self, node: ast.Subscript, depth: int) -> Any:
        owner, key = self.visit(node.value, depth), self.visit(node.slice, depth)
        if not isinstance(owner, Mapping) or key not in owner:
            raise ExpressionError(f"there is no '{shorten(key)}' here")
        return owner[key]

    def _number(self, node: ast.expr, depth: int) -> Any:
        number = self.visit(node, depth)
        if type(number) is float and not math.isnan(number):  # as nearly all are
            return number
        if isinstance(number, Mapping) and len(number):
            # A calculator's result stands for its first output.
            number = next(iter(number.values()))
        is_nan = isinstance(number, float) and math.isnan(number)
        if isinstance(number, str) or number is None or is_nan:
            raise ExpressionError(f"'{_source(node)}' is not a number")
        return number
