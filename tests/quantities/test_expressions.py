"""The safe evaluator: arithmetic in, a number out, and nothing else can happen."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.quantities.expressions import MAX_LENGTH, ExpressionError, evaluate


class Lender:
    """An object that lends one attribute and keeps the others."""

    expression_attributes = ("lent",)
    kept = "secret"

    def __init__(self) -> None:
        self.lent = 5.0

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


NAMES: dict[str, Any] = {
    "x": 3.0,
    "max": max,
    "lender": Lender(),
    "result": {"first": 7.0, "second": 8.0},
    "nothing": None,
    "lend": lambda **options: options.get("value", 1.0),
    "text": "abc",
    "empty": {},
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("2 ** 10", 1024),
        ("-x + +x", 0),
        ("-2 ** 2", -4),
        ("1e3 / 4", 250),
        ("x < 4", True),
        ("x == 3", True),
        ("x != 3", False),
        ("1 if x > 2 else 1 / 0", 1),
        ("max(x, 4)", 4),
        ('result["second"]', 8),
        ("result + 1", 8),
        ("lender.lent * 2", 10),
        ("lend(value=x)", 3),
        ("  x\n", 3),
        ('"abc"', "abc"),
        ("2 ** -1", 0.5),
        ("4 ** 0.5", 2),
        ("max(1,\n 2)", 2),
        ('text == "abc"', True),
    ],
)
def test_what_is_allowed(expression: str, value: object) -> None:
    assert evaluate(expression, NAMES) == value


ATTACKS = {
    "dunder": "().__class__.__bases__[0].__subclasses__()",
    "dunder of a text": '"".__class__',
    "format": '"{0.__class__}".format(x)',
    "attribute outside the list": "lender.kept",
    "dunder of a lender": "lender.__class__",
    "lender's dict": "lender.__dict__",
    "attribute list": "lender.expression_attributes",
    "method of a dict": "result.keys()",
    "attribute of a float": "x.real",
    "lambda": "(lambda: 1)()",
    "list": "[1, 2]",
    "tuple": "(1, 2)",
    "set": "{1}",
    "dict": "{1: 2}",
    "list comprehension": "[y for y in result]",
    "generator": "max(y for y in result)",
    "dict comprehension": "{y: 1 for y in result}",
    "walrus": "(y := 1)",
    "f-string": 'f"{x}"',
    "f-string with code": 'f"{().__class__}"',
    "import": '__import__("os")',
    "builtin": 'open("/etc/passwd")',
    "eval": 'eval("1")',
    "getattr": 'getattr(x, "real")',
    "await": "await x",
    "yield": "(yield)",
    "statement": "import os",
    "two statements": "1; 2",
    "assignment": "x = 1",
    "deletion": "del x",
    "calling a text": '"abc"()',
    "calling a number": "1()",
    "calling a name that is no function": "x()",
    "keyword unpacking": "lend(**result)",
    "argument unpacking": "max(*result)",
    "slice": 'result["first":"second"]',
    "index into a text": "text[0]",
    "missing key": 'result["third"]',
    "unhashable key": "result[result]",
    "bytes": 'b"abc"',
    "true": "True",
    "none": "None",
    "ellipsis": "...",
    "complex": "1j",
    "boolean logic": "x and 1",
    "negation": "not x",
    "chained comparison": "1 < x < 4",
    "membership": '"a" in text',
    "identity": "x is x",
    "modulo": '"%s" % x',
    "number modulo": "7 % 2",
    "matrix product": "x @ x",
    "shift": "1 << 10",
    "bits": "1 | 2",
    "inversion": "~1",
    "text times number": '"a" * 1000',
    "text plus text": '"a" + "b"',
    "text in a sum": "text + 1",
    "nothing in a sum": "nothing + 1",
    "empty result": "empty + 1",
    "unknown name": "y",
    "comparison of unlike things": 'x < "a"',
    "division by zero": "1 / 0",
    "whole division by zero": "1 // 0",
    "zero to a negative power": "0 ** -1",
    "root of a negative": "(-8) ** 0.5",
    "tower": "9 ** 9 ** 9",
    "tower of floats": "9.9 ** 9.9 ** 9.9",
    "huge power": "10 ** 401",
    "overflow": "1e300 ** 400",
    "huge negative exponent": "2 ** -500",
    "not a number": "(1e999 - 1e999) + 1",
    "empty": "",
    "spaces": "   ",
    "open bracket": "(1",
    "null byte": "1\x00",
    "comment": "# nothing",
    "backslash": "\\",
    "emoji": "\N{PILE OF POO}",
    "bad escape": '"\\N{nothing}"',
    "surrogate": "\ud800",
    "decorator": "@x",
    "star": "*x",
    "wrong arguments": "max()",
    "unknown keyword": "max(1, 2, depth=3)",
}


@pytest.mark.parametrize("expression", ATTACKS.values(), ids=ATTACKS)
def test_attacks_end_in_an_expression_error(expression: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, NAMES)
    assert "\n" not in str(caught.value) and 0 < len(str(caught.value)) < 300


DEEP = {
    "brackets": "(" * 150 + "1" + ")" * 150 + "+ x" * 50,
    "too many brackets": "(" * 900 + "1" + ")" * 900,
    "minus signs": "-" * 1900 + "1",
    "sums": "1" + "+1" * 900,
    "powers": "2" + "**1" * 500,
    "calls": "max(1," * 90 + "1" + ")" * 90,
    "subscripts": "result" + "[0]" * 500,
    "attributes": "lender" + ".lent" * 300,
    "choices": "1 if 0 else " * 150 + "1",
    "an error before a deep part": "1 / 0 + " + "-" * 900 + "1",
    "a deep part that is called": "(" + "-" * 900 + "1)()",
    "a text before a deep part": "text * " + "-" * 900 + "1",
    "lists": "[" * 190 + "]" * 190,
}


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP)
def test_deep_nesting_ends_in_an_expression_error(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression, NAMES)


def test_long_texts_are_refused_before_they_are_read() -> None:
    with pytest.raises(ExpressionError, match="1,000,000 characters is too long"):
        evaluate("1" * 1_000_000, NAMES)
    assert evaluate("1" + " " * (MAX_LENGTH - 1), NAMES) == 1


def test_large_whole_numbers_stay_small_enough_to_compute() -> None:
    digits = "9" * 600
    assert evaluate(f"{digits} * {digits}", NAMES) == int(digits) ** 2
    with pytest.raises(ExpressionError):
        evaluate(f"{digits} / 3", NAMES)


def test_a_power_is_always_a_float() -> None:
    assert isinstance(evaluate("3 ** 2", NAMES), float)
    assert evaluate("2 ** 400", NAMES) == 2.0**400


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ExpressionError, match="unknown name 'y'; known: a, b"):
        evaluate("y", {"b": 1, "a": 2})


def test_errors_of_a_called_function_keep_their_words() -> None:
    def refuse() -> None:
        raise FlopbookError("there is no such chip; nearest: h100-sxm")

    with pytest.raises(FlopbookError, match="nearest: h100-sxm"):
        evaluate("f()", {"f": refuse})


def test_the_names_are_not_changed() -> None:
    names: Mapping[str, Any] = dict(NAMES)
    for expression in ("max(x, 2)", "lend(value=2)", 'result["first"]'):
        evaluate(expression, names)
    assert names == NAMES


def outcome(expression: str) -> Any:
    """The value, or None when it was refused; only an ExpressionError may refuse it."""
    try:
        return evaluate(expression, NAMES)
    except ExpressionError as error:
        assert str(error)
        return None


@given(st.text(max_size=60))
def test_garbage_raises_only_expression_errors(text: str) -> None:
    outcome(text)


@given(st.text(alphabet=string.digits + "+-*/().<>=, xe'\"[]_:{}|@%&~^\n", max_size=40))
def test_garbage_of_operators_raises_only_expression_errors(text: str) -> None:
    outcome(text)


pieces = st.sampled_from(
    [
        "x",
        "max",
        "lender",
        ".lent",
        ".kept",
        "result",
        '["first"]',
        "(",
        ")",
        "+",
        "-",
        "**",
        "/",
        "//",
        "1",
        "9e99",
        "0",
        "text",
        "lend",
        "value=",
        ",",
        " if ",
        " else ",
        "<",
        "nothing",
        "lambda: ",
        "**result",
        "*",
        ":=",
        "not ",
        " for y in ",
        "[",
        "]",
    ]
)


@given(st.lists(pieces, max_size=14))
def test_garbage_of_real_pieces_raises_only_expression_errors(parts: list[str]) -> None:
    outcome("".join(parts))


numbers = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


@given(numbers, numbers, numbers)
def test_arithmetic_agrees_with_python(a: float, b: float, c: float) -> None:
    text = f"({a!r} - {b!r}) * {c!r} + {a!r} / ({b!r} if {b!r} != 0 else 1)"
    expected = (a - b) * c + a / (b if b != 0 else 1)
    assert evaluate(text, {}) == expected


def test_a_probability_may_have_a_large_exponent() -> None:
    assert evaluate("0.97 ** 4096", {}) == pytest.approx(0.97**4096)
    with pytest.raises(ExpressionError, match="the exponent"):
        evaluate("0.97 ** -4096", {})
