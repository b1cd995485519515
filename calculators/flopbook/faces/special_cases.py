"""A formula in a special case: inputs put in, decided choices taken, vanishing terms left out.

The general formula of `flopbook.faces.latex` has every case in it. A page that shows one case
prints it from here, so that it is the same formula. Quantities count as positive and as given, and
there are at least two of what is counted, unless `given` says otherwise.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable, Mapping

from flopbook.faces.latex import print_latex, symbols
from flopbook.faces.tree import copy, function_called, names_in, steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities.expressions import COMPARE

Given = Mapping[str, float | str]


def special(
    formula: Formula, names: Collection[str], given: Given, inline: Collection[str] = ()
) -> dict[str, str]:
    """Name -> LaTeX equation of these outputs and steps in a special case.

    Steps in `inline` are written out.
    """
    texts = symbols(formula)
    expressions = folded(formula, given, inline)
    return {
        name: f"{texts.get(name, name)} = {print_latex(expressions[name], texts)}" for name in names
    }


def folded(formula: Formula, given: Given, inline: Collection[str] = ()) -> dict[str, ast.expr]:
    """Name -> expression of every output and step in a special case."""
    parsed = steps(formula)
    constants = {name: ast.Constant(float(value)) for name, value in parsed.constants.items()}
    case = _Case({**{name: ast.Constant(value) for name, value in given.items()}, **constants})
    expressions: dict[str, ast.expr] = {}
    for name, general in parsed.all():
        expression = case.fold(copy(general))
        expressions[name] = expression
        is_alias = isinstance(expression, ast.Name) and name not in formula.outputs
        if is_alias or isinstance(expression, ast.Constant) or name in inline:
            case.known[name] = expression
    return expressions


def inputs_of(formula: Formula, expression: ast.expr) -> tuple[str, ...]:
    """The inputs of a formula that an expression of `folded` takes, in the order of the formula."""
    names = names_in(expression)
    return tuple(name for name in formula.inputs if name in names)


class _Case(ast.NodeTransformer):
    """Folds expressions; `known` names are put in."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self.known = dict(known)

    def fold(self, node: ast.expr) -> ast.expr:
        """An expression in this case; the node itself may be changed."""
        expression: ast.expr = self.visit(node)
        return expression

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What is known in place of its name."""
        return copy(self.known[node.id]) if node.id in self.known else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """The side that is taken, where the choice is decided."""
        holds = self._holds(node.test)
        if holds is None:
            self.generic_visit(node)
            return node
        return self.fold(node.body if holds else node.orelse)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The side of a `where` that is taken, or a function of folded arguments."""
        function = function_called(node)
        if function == "where":
            test, then, otherwise = node.args
            holds = self._holds(test)
            if holds is not None:
                return self.fold(then if holds else otherwise)
        node.args = [self.fold(argument) for argument in node.args]
        # Whatever the condition says, both sides are the same.
        if function == "where" and ast.dump(node.args[1]) == ast.dump(node.args[2]):
            return node.args[1]
        return _called(function, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Sums, products and quotients of folded operands."""
        node.left, node.right = self.fold(node.left), self.fold(node.right)
        match node.op:
            case ast.Add() | ast.Sub():
                return _sum(node)
            case ast.Mult() if 0 in (_value(node.left), _value(node.right)):
                return ast.Constant(0)
            case ast.Mult() | ast.Div():
                return _product(node)
        return node

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a comparison is decided: by what is known, or as all are positive and finite."""
        assert isinstance(test, ast.Compare)
        left, right = self.fold(copy(test.left)), self.fold(copy(test.comparators[0]))
        kind = type(test.ops[0])
        if ast.dump(left) == ast.dump(right):
            return kind in (ast.Eq, ast.LtE, ast.GtE)  # equal to itself, whatever its value
        left_value, right_value = _value(left), _value(right)
        if left_value is not None and right_value is not None:
            return bool(COMPARE[kind](left_value, right_value))
        if (right_value == math.inf and kind is ast.Lt) or (right_value == 0 and kind is ast.Gt):
            return True
        return None


def _value(node: ast.expr) -> float | str | None:
    """The number or word of an expression without names; None of any other."""
    match node:
        case ast.Constant(value=(int() | float() | str()) as value):
            return value
        case ast.Name(id="inf"):
            return math.inf
        case ast.BinOp(left=top, op=ast.Div(), right=bottom):
            above, below = _number(top), _number(bottom)
            return None if above is None or below is None else above / below
    return None


def _number(node: ast.expr) -> float | None:
    value = _value(node)
    return None if isinstance(value, str) else value


def _called(function: str, node: ast.Call) -> ast.expr:
    """A call with what its constants decide taken in."""
    numbers = [_number(argument) for argument in node.args]
    first = numbers[0]
    if function == "floor" and first is not None:
        return ast.Constant(math.floor(first))
    if function in ("minimum", "maximum"):
        return _bound(function, node, numbers)
    return node


def _bound(function: str, node: ast.Call, numbers: list[float | None]) -> ast.expr:
    """The smaller or larger of two, where it is decided."""
    neutral = 0 if function == "maximum" else math.inf
    if neutral in numbers:  # max(x, 0) of what is positive, min(x, inf) of what is finite
        return node.args[1 - numbers.index(neutral)]
    first, second = numbers
    if first is not None and second is not None:
        smaller, larger = sorted((first, second))
        return ast.Constant(smaller if function == "minimum" else larger)
    # There are at least two of what is counted, so its minimum with 1 is 1.
    if function == "minimum" and (first == 1 or (second == 1 and _is_one_less(node.args[0]))):
        return ast.Constant(1)
    if function == "maximum" and second == 1 and isinstance(node.args[0], ast.Name):
        return node.args[0]
    return node


def _is_one_less(node: ast.expr) -> bool:
    """Whether an expression is `count - 1`, which is at least one."""
    match node:
        case ast.BinOp(left=ast.Name(), op=ast.Sub(), right=subtracted):
            return _value(subtracted) == 1
    return False


def _sum(node: ast.BinOp) -> ast.expr:
    """A sum or difference of numbers, without zero, or with alike terms counted."""
    left, right = _number(node.left), _number(node.right)
    is_sum = isinstance(node.op, ast.Add)
    if left is not None and right is not None:
        return ast.Constant(left + right if is_sum else left - right)
    if right == 0:
        return node.left
    if is_sum and (terms := _alike_terms(node)):
        return terms
    return node.right if is_sum and left == 0 else node


def _alike_terms(node: ast.BinOp) -> ast.expr | None:
    """2 a b + a b as 3 a b; None where the terms differ or one is a quotient."""
    (above, below), (above_right, below_right) = _factors(node.left), _factors(node.right)
    names, names_right = _without_numbers(above), _without_numbers(above_right)
    if below or below_right or sorted(map(ast.dump, names)) != sorted(map(ast.dump, names_right)):
        return None
    return _times(_coefficient(above) + _coefficient(above_right), names)


def _product(node: ast.BinOp) -> ast.expr:
    """Products and quotients as one fraction with one number in front, and common factors cut."""
    above, below = _factors(node)
    number, divisor = _coefficient(above), _coefficient(below)
    above, below = _without_numbers(above), _without_numbers(below)
    for factor in list(below):  # a copy, as factors are removed on the way
        same = next((each for each in above if _is_same(each, factor)), None)
        if same is not None:
            above.remove(same)
            below.remove(factor)
    if number == 0:
        return ast.Constant(0)
    common = _common_divisor(number, divisor)
    top, bottom = _times(number / common, above), _times(divisor / common, below)
    return top if _value(bottom) == 1 else ast.BinOp(top, ast.Div(), bottom)


def _common_divisor(a: float, b: float) -> int:
    are_whole = all(math.isfinite(number) and number == int(number) for number in (a, b))
    return math.gcd(int(a), int(b)) if are_whole else 1


def _factors(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """What is multiplied, and what divides."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as operator, right=right):
            (above, below), (above_right, below_right) = _factors(left), _factors(right)
            if isinstance(operator, ast.Mult):
                return [*above, *above_right], [*below, *below_right]
            return [*above, *below_right], [*below, *above_right]
    return [node], []


def _without_numbers(factors: Iterable[ast.expr]) -> list[ast.expr]:
    return [factor for factor in factors if _value(factor) is None]


def _coefficient(factors: Iterable[ast.expr]) -> float:
    numbers = (_number(factor) for factor in factors)
    return math.prod(number for number in numbers if number is not None)


def _is_same(a: ast.expr, b: ast.expr) -> bool:
    return ast.dump(a) == ast.dump(b)


def _times(number: float, factors: list[ast.expr]) -> ast.expr:
    """A product of a number and factors, equal ones as a power."""
    different = {ast.dump(factor): factor for factor in factors}
    terms: list[ast.expr] = [] if number == 1 and factors else [ast.Constant(number)]
    for factor in different.values():
        power = sum(_is_same(factor, each) for each in factors)
        terms.append(factor if power == 1 else ast.BinOp(factor, ast.Pow(), ast.Constant(power)))
    product, *further = terms
    for factor in further:
        product = ast.BinOp(product, ast.Mult(), factor)
    return product
