"""A formula in a special case: what is given is put in, choices that it decides are taken, what
vanishes is left out.

The general formula of `flopbook.faces.latex` has every case in it. A page that shows one case
prints it from here, so that it is the same formula. Quantities count as positive and as given, and
there are at least two of what is counted, unless `given` says otherwise.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Collection, Mapping

from flopbook.faces.latex import print_latex, symbols
from flopbook.faces.tree import steps
from flopbook.formulas.declaration import Formula
from flopbook.quantities.expressions import COMPARE

Given = Mapping[str, float | str]


def special(
    formula: Formula, names: Collection[str], given: Given, inline: Collection[str] = ()
) -> dict[str, str]:
    """Name -> LaTeX equation of these outputs and steps in a special case; steps in `inline` are
    written out.
    """
    texts = symbols(formula)
    found = folded(formula, given, inline)
    return {name: f"{texts.get(name, name)} = {print_latex(found[name], texts)}" for name in names}


def folded(formula: Formula, given: Given, inline: Collection[str] = ()) -> dict[str, ast.expr]:
    """Name -> expression of every output and step in a special case."""
    parsed, case = steps(formula), _Case(given)
    case.known |= {name: ast.Constant(float(value)) for name, value in parsed.constants.items()}
    found: dict[str, ast.expr] = {}
    for name, expression in parsed.all():
        found[name] = made = case.visit(_copy(expression))
        alias = isinstance(made, ast.Name) and name not in formula.outputs
        if alias or isinstance(made, ast.Constant) or name in inline:
            case.known[name] = made
    return found


def of_function(function: Callable[..., float], symbol: str, texts: Mapping[str, str]) -> str:
    """The LaTeX equation of a small function of the package: what it returns, without the checks of
    its arguments.
    """
    last = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body[-1]  # type: ignore[attr-defined]
    return f"{symbol} = {print_latex(_Bare().visit(last.value), texts)}"


def _copy(expression: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(expression), mode="eval").body


class _Bare(ast.NodeTransformer):
    """Takes checks of arguments away, and writes the power one half as a root."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        checks = isinstance(node.func, ast.Name) and node.func.id.startswith("_")
        return node.args[0] if checks else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and _value(node.right) == 0.5:
            return ast.Call(ast.Name("sqrt"), [node.left], [])
        return node


class _Case(ast.NodeTransformer):
    def __init__(self, given: Given) -> None:
        self.given = given
        self.known: dict[str, ast.expr] = {
            name: ast.Constant(value) for name, value in given.items()
        }

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _copy(self.known[node.id]) if node.id in self.known else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test = self._holds(node.test)
        if test is not None:
            return self.visit(node.body if test else node.orelse)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "where" and (test := self._holds(node.args[0])) is not None:
            return self.visit(node.args[1] if test else node.args[2])
        node.args = [self.visit(one) for one in node.args]
        return _called(name, node)

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a comparison is decided: by what is given, or as everything is positive and
        finite.
        """
        assert isinstance(test, ast.Compare)
        left, right = self.visit(_copy(test.left)), self.visit(_copy(test.comparators[0]))
        sides = _value(left), _value(right)
        kind = type(test.ops[0])
        if ast.dump(left) == ast.dump(right):
            return kind in (ast.Eq, ast.LtE, ast.GtE)
        if None not in sides:
            return bool(COMPARE[kind](*sides))
        if isinstance(right, ast.Name) and right.id == "inf" and kind is ast.Lt:
            return True
        return True if sides[1] == 0 and kind is ast.Gt else None

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return _sum(node, left, right)
        if isinstance(node.op, ast.Mult) and 0 in (left, right):
            return ast.Constant(0)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            return _product(node)
        return node


def _value(node: ast.expr) -> float | str | None:
    if isinstance(node, ast.Constant):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        above, below = _value(node.left), _value(node.right)
        return (
            above / below
            if isinstance(above, (int, float)) and isinstance(below, (int, float))
            else None
        )
    return math.inf if isinstance(node, ast.Name) and node.id == "inf" else None


def _called(name: str, node: ast.Call) -> ast.expr:
    """A call with what its constants decide taken in."""
    values = [_value(one) for one in node.args]
    if name == "floor" and isinstance(values[0], (int, float)):
        return ast.Constant(math.floor(values[0]))
    if name not in ("minimum", "maximum"):
        return node
    neutral = 0 if name == "maximum" else math.inf
    if neutral in values:
        return node.args[1 - values.index(neutral)]
    if None not in values:
        return ast.Constant((min if name == "minimum" else max)(values))  # type: ignore[type-var]
    first = node.args[0]
    if values[0] == 1 and name == "minimum":
        return ast.Constant(1)
    if values[1] == 1 and name == "maximum" and isinstance(first, ast.Name):
        return first
    less = (
        isinstance(first, ast.BinOp)
        and isinstance(first.op, ast.Sub)
        and isinstance(first.left, ast.Name)
    )
    return (
        ast.Constant(1)
        if values[1] == 1 and less and name == "minimum" and _value(first.right) == 1
        else node
    )  # type: ignore[attr-defined]


def _sum(node: ast.BinOp, left: float | str | None, right: float | str | None) -> ast.expr:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return ast.Constant(left + right if isinstance(node.op, ast.Add) else left - right)
    if right == 0:
        return node.left
    (above, below), (others, under) = _factors(node.left), _factors(node.right)
    alike = [
        sorted(ast.dump(one) for one in side if _value(one) is None) for side in (above, others)
    ]
    if isinstance(node.op, ast.Add) and alike[0] == alike[1] and not (below or under):
        times = [
            math.prod(one.value for one in side if isinstance(one, ast.Constant))
            for side in (above, others)
        ]  # type: ignore[misc]
        return _times(sum(times), [one for one in above if _value(one) is None])
    return node.right if left == 0 and isinstance(node.op, ast.Add) else node


def _product(node: ast.BinOp) -> ast.expr:
    """Products and quotients as one fraction with one number in front, and nothing above and below
    the line.
    """
    above, below = _factors(node)
    number = math.prod(_value(one) for one in above if _value(one) is not None)  # type: ignore[misc]
    under = math.prod(_value(one) for one in below if _value(one) is not None)  # type: ignore[misc]
    above, below = ([one for one in side if _value(one) is None] for side in (above, below))
    for one in list(below):
        same = next((other for other in above if ast.dump(other) == ast.dump(one)), None)
        if same is not None:
            above.remove(same)
            below.remove(one)
    if number == 0:
        return ast.Constant(0)
    common = (
        math.gcd(int(number), int(under)) if number == int(number) and under == int(under) else 1
    )
    top, bottom = _times(number / common, above), _times(under / common, below)
    return top if _value(bottom) == 1 else ast.BinOp(top, ast.Div(), bottom)


def _factors(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """What is multiplied, and what divides."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))):
        return [node], []
    (a, b), (c, d) = _factors(node.left), _factors(node.right)
    return ([*a, *c], [*b, *d]) if isinstance(node.op, ast.Mult) else ([*a, *d], [*b, *c])


def inputs_of(formula: Formula, expression: ast.expr) -> tuple[str, ...]:
    """The inputs of a formula that an expression of `folded` takes, in the order of the formula."""
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    return tuple(name for name in formula.inputs if name in names)


def _times(number: float, factors: list[ast.expr]) -> ast.expr:
    made: list[ast.expr] = [] if number == 1 and factors else [ast.Constant(number)]
    for one in {ast.dump(factor): factor for factor in factors}.values():
        times = sum(ast.dump(factor) == ast.dump(one) for factor in factors)
        made.append(one if times == 1 else ast.BinOp(one, ast.Pow(), ast.Constant(times)))
    result = made[0]
    for one in made[1:]:
        result = ast.BinOp(result, ast.Mult(), one)
    return result
