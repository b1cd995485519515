"""The subset of Python that a formula may use; everything else is refused with file and line."""

import ast
import inspect
import math
import re
from typing import Annotated, Any

import pytest

from flopbook.errors import UnknownName
from flopbook.faces.tree import FormulaSubsetError, constant, steps
from flopbook.formulas import formulas, get_formula, min_batch, printed
from flopbook.formulas.declaration import Constant, Formula, Input, Step, part
from flopbook.quantities.ops import floor, where
from tests.support.cases import every

Number = Annotated[float, Input("1", "x", "a number")]
Word = Annotated[str, Input("1", "w", "a word", choices=("first", "second", "third"))]
TWO = Constant(2.0, "1", "two")
PLAIN = 2.0


def loop(a: Number) -> dict[str, Any]:
    total = a
    for _ in range(3):  # here
        total = total + a
    return {"result": total}


def branch(a: Number) -> dict[str, Any]:
    if a > 1:  # here
        a = 1
    return {"result": a}


def while_loop(a: Number) -> dict[str, Any]:
    while a > 1:  # here
        a = a / 2
    return {"result": a}


def augmented(a: Number) -> dict[str, Any]:
    total = a
    total += a  # here
    return {"result": total}


def two_targets(a: Number) -> dict[str, Any]:
    first = second = a  # here
    return {"result": first + second}


def unpacking(a: Number) -> dict[str, Any]:
    first, second = a, a  # here
    return {"result": first + second}


def call(a: Number) -> dict[str, Any]:
    return {"result": math.log(a)}  # here


def builtin(a: Number) -> dict[str, Any]:
    size = abs(a)  # here
    return {"result": size}


def keyword(a: Number) -> dict[str, Any]:
    return {"result": where(a > 1, then=a, otherwise=1)}  # here


def attribute(a: Number) -> dict[str, Any]:
    return {"result": a.real}  # here


def unknown(a: Number) -> dict[str, Any]:
    return {"result": a * nowhere}  # noqa: F821  here


def bare_constant(a: Number) -> dict[str, Any]:
    return {"result": a * PLAIN}  # here


def comprehension(a: Number) -> dict[str, Any]:
    return {"result": [a for _ in "ab"]}  # here


def modulo(a: Number) -> dict[str, Any]:
    return {
        "result": a % 2  # here
    }


def floor_division(a: Number) -> dict[str, Any]:
    whole = a // 2  # here
    return {"result": whole}


def chained(a: Number) -> dict[str, Any]:
    return {"result": where(0 < a < 1, a, 1)}  # here


def boolean(a: Number) -> dict[str, Any]:
    return {"result": where(a > 0 and a < 1, a, 1)}  # here


def truth(a: Number) -> dict[str, Any]:
    return {"result": a * True}  # here


def function_as_value(a: Number) -> dict[str, Any]:
    step = floor  # here
    return {"result": step}


def twice(a: Number) -> dict[str, Any]:
    step = a + 1
    step = step * 2  # here
    return {"result": step}


def shadows_an_input(a: Number) -> dict[str, Any]:
    a = a + 1  # here
    return {"result": a}


def shadows_a_function(a: Number) -> dict[str, Any]:
    floor = a + 1  # here
    return {"result": floor}


def output_is_another_step(a: Number) -> dict[str, Any]:
    result = a + 1
    return {"result": result * 2}  # here


def no_dict(a: Number) -> dict[str, Any]:
    return a  # here


def spread(a: Number) -> dict[str, Any]:
    return {**a}  # here


def other_names(a: Number) -> dict[str, Any]:
    return {"answer": a}  # here


def spread_table(a: Number, word: Word) -> dict[str, Any]:
    result = {"first": a, **{}}.get(word, 0)  # here
    return {"result": result}


def open_table(a: Number, word: Word) -> dict[str, Any]:
    result = {"first": a}[word]  # here
    return {"result": result}


def computed_key(a: Number) -> dict[str, Any]:
    return {"res" + "ult": a}  # here


def late(a: Number) -> dict[str, Any]:
    first = second  # noqa: F821  here
    second = a
    return {"result": first + second}


def only_text(a: Number) -> dict[str, Any]:
    """There is nothing here."""


REFUSED = [
    loop,
    branch,
    while_loop,
    augmented,
    two_targets,
    unpacking,
    call,
    builtin,
    keyword,
    attribute,
    unknown,
    bare_constant,
    comprehension,
    modulo,
    floor_division,
    chained,
    boolean,
    truth,
    function_as_value,
    twice,
    shadows_an_input,
    shadows_a_function,
    output_is_another_step,
    no_dict,
    spread,
    other_names,
    spread_table,
    open_table,
    computed_key,
    late,
]


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_the_subset_lacks_is_refused_at_its_line(function: Any, throwaway: Any) -> None:
    formula = throwaway(function, result="1")
    lines, start = inspect.getsourcelines(function)
    line = next(start + i for i, text in enumerate(lines) if text.rstrip().endswith("here"))
    with pytest.raises(FormulaSubsetError, match=rf"^{re.escape(__file__)}:{line}: \S"):
        steps(formula)


def test_a_function_without_a_body_is_refused(throwaway: Any) -> None:
    with pytest.raises(FormulaSubsetError, match="end with"):
        steps(throwaway(only_text, result="1"))


def test_a_parameter_without_a_unit_is_refused(throwaway: Any) -> None:
    def bare(a: float) -> dict[str, Any]:
        return {"result": a}

    with pytest.raises(TypeError, match=r"bare: parameter a needs Annotated\[float, Input"):
        throwaway(bare, result="1")


def allowed(a: Number, b: Number) -> dict[str, Any]:
    """Everything that may be used."""
    half = a / TWO
    result = half if a >= b else where(a != b, -half, floor(b) ** 2)
    return {"result": result, "double": result * TWO}


def test_steps_come_in_order_with_their_constants(throwaway: Any) -> None:
    parsed = steps(throwaway(allowed, result="1", double="1"))
    assert [name for name, _ in parsed.locals] == ["half", "result"]
    assert [name for name, _ in parsed.outputs] == ["result", "double"]
    assert [name for name, _ in parsed.all()] == ["half", "result", "double"]
    assert parsed.constants == {"TWO": 2.0}


def table(a: Number, word: Word) -> dict[str, Any]:
    return {"result": {"first": a / 2, "second": a}.get(word, 2 * a) + 1}


def test_a_table_by_word_is_read_as_choices(throwaway: Any) -> None:
    """Every face sees if-expressions, and the function computes what they say."""
    made = throwaway(table, result="1")
    ((_, expression),) = steps(made).outputs
    choices = "(a / 2 if word == 'first' else a if word == 'second' else 2 * a) + 1"
    assert ast.unparse(expression) == choices
    answers = [made(a=4.0, word=word)["result"] for word in ("first", "second", "third")]
    assert answers == [3.0, 5.0, 9.0]


@every("name", printed())
def test_every_formula_is_in_the_subset(name: str) -> None:
    formula = get_formula(name)
    assert [n for n, _ in steps(formula).outputs] == list(formula.outputs)


@every("name", formulas())
def test_every_formula_says_what_it_is(name: str) -> None:
    """Title, question, derivation, limits, sources, and examples that use its own options."""
    formula: Formula = get_formula(name)
    assert formula.title and formula.question.endswith("?") and formula.summary.endswith(".")
    assert len(formula.section("Derivation")) > 200 and len(formula.section("Leaves out")) > 100
    assert "Leaves out" not in formula.section("Derivation") and formula.section("Nothing") == ""
    assert formula.sources and formula.examples
    for spec in (*formula.inputs.values(), *formula.outputs.values()):
        assert spec.unit and spec.symbol and spec.meaning


def test_constants_carry_unit_and_meaning() -> None:
    found = constant(min_batch, "FLOP_PER_WEIGHT")
    assert (found, found.unit) == (2.0, "FLOP") and found.meaning


def test_unknown_formulas_offer_the_nearest() -> None:
    with pytest.raises(UnknownName, match="nearest: min-batch"):
        get_formula("min-batches")


def test_two_modules_cannot_share_a_name(throwaway: Any) -> None:
    throwaway(allowed, result="1", double="1")

    def other(a: Number) -> dict[str, Any]:
        return {"result": a}

    other.__module__ = "elsewhere"
    with pytest.raises(TypeError, match="two formulas are called throw-away"):
        throwaway(other, result="1")


@part
def doubled(a: Number) -> dict[str, Any]:
    """A part, whose result the formula uses."""
    twice = 2 * a
    return {"twice": twice, "more": twice + 1}


def whole(more: Step, twice: Step, b: Number = 3.0) -> dict[str, Any]:
    """A formula of a part and itself."""
    return {"result": twice * more + b}


def test_parts_come_first_and_their_results_are_steps(throwaway: Any) -> None:
    made = throwaway(whole, parts=(doubled,), result="1")
    assert (list(made.inputs), made.defaults, made(a=4.0)) == (
        ["a", "b"],
        {"b": 3.0},
        {"result": 75.0},
    )
    assert [name for name, _ in steps(made).all()] == ["twice", "more", "result"]


@part
def looping(a: Number) -> dict[str, Any]:
    return {"twice": [a], "more": a}


def test_a_part_keeps_to_the_subset_too(throwaway: Any) -> None:
    with pytest.raises(FormulaSubsetError, match=r"test_tree\.py:\d+: List is outside the subset"):
        steps(throwaway(whole, parts=(looping,), result="1"))
