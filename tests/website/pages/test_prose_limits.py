"""Expressions of prose: no work without end, no way to a file, and every failure has its line."""

from __future__ import annotations

import time
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.ledger.recomputation import recompute
from scripts.website.pages import prose_limits
from scripts.website.pages.prose import ProseError, render

DOUBLED = "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a ~ a %}" * 40
SQUARED = "{% set a = 9 %}" + "{% set a = a * a %}" * 60
NESTED = "{% for a in l %}{% for b in l %}{% for c in l %}{% for d in l %}{% endfor %}" * 1
LIST = "{% set l = [" + "0," * 500 + "] %}"
HOSTILE = {
    "doubled text": (DOUBLED, "more than 100,000 characters"),
    "squared number": (SQUARED, "hundreds of digits"),
    "power of power": ("{{ (9 ** (9 ** 9)) | unit('1') }}", "exponent"),
    "power of one digit": ("{{ (9 ** 400.5) | unit('1') }}", "too large"),
    "doubled list": ("{% set a = [0] %}" + "{% set a = a + a %}" * 60, "more than 10,000 items"),
    "list times number": ("{{ [0] * 1000000000 }}", "takes numbers, not list"),
    "text times number": ("{{ 'a' * 1000000000 }}", "takes numbers, not str"),
    "text plus text": ("{{ 'a' + 'a' }}", "takes numbers, not str"),
    "percent of a text": ("{{ '%1000000000d' % 1 }}", "'mod' is not part of prose"),
    "format": ("{{ '{:1000000000}'.format(1) }}", "unsafe"),
    "ljust": ("{{ 'a'.ljust(1000000000) }}", "unsafe"),
    "center": ("{{ 'a' | center(1000000000) }}", "No filter named 'center'"),
    "replace": ("{{ 'aaa' | replace('a', 'aaa') }}", "No filter named 'replace'"),
    "attribute by filter": ("{{ 'a' | attr('join') }}", "No filter named 'attr'"),
    "class": ("{{ ''.__class__.__mro__ }}", "unsafe"),
    "code of a function": ("{{ calc.func.__globals__ }}", "unsafe"),
    "range": ("{% for i in range(9) %}{% endfor %}", "'range' is undefined"),
    "loops in loops": (LIST + NESTED + "{% endfor %}" * 3, "more than 20,000 steps"),
    "loop that fills a list": (
        LIST + "{% for a in l %}{% set x = l.append(a) %}{% endfor %}",
        "more than 20,000 steps",
    ),
    "recursive loop": ("{% for a in [1] recursive %}{% endfor %}", "a loop that calls itself"),
    "macro": ("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}", "'macro' is not part"),
    "include": ("{% include '/etc/passwd' %}", "'include' is not part of prose"),
    "import": ("{% import '/etc/passwd' as x %}", "'import' is not part of prose"),
    "inheritance": ("{% extends '/etc/passwd' %}", "'extends' is not part of prose"),
    "block": ("{% block a %}{% endblock %}", "'block' is not part of prose"),
    "filter of a block": ("{% filter string %}{% endfilter %}", "'filterblock' is not part"),
    "kept block": ("{% set a %}{% endset %}", "'assignblock' is not part of prose"),
    "unknown unit": ("{{ 3 | unit('furlong') }}", "unknown unit 'furlong'"),
    "unknown unit of a quantity": ("{{ q('3 m', 'furlong') }}", "unknown unit 'furlong'"),
    "infinite": ("{{ (1e308 * 10) | unit('s') }}", "inf is no number to print"),
    "no number": ("{{ (1e308 * 10 - 1e308 * 10) | unit('s') }}", "nan is no number to print"),
    "division by zero": ("{{ (1 / 0) | unit('1') }}", "division by zero"),
    "missing key": ("{{ calc('bubble', stages=8, microbatches=8)['nothing'] }}", "nothing"),
    "nothing in a list": ("{{ [] | max | unit('1') }}", "No aggregated item"),
    "attribute of nothing": ("{{ none.a.b }}", "no attribute"),
    "nesting": ("{{ " + "(" * 900 + "1" + ")" * 900 + " }}", "RecursionError"),
    "minus signs": ("{{ " + "-" * 1900 + "1 }}", "RecursionError"),
    "length": ("{{ " + "9" * 5000 + " }}", "an expression of 5,006 characters, at most 2,000"),
    "length behind an end in a text": ("{{ '}}' ~ '" + "a" * 5000 + "' }}", "of 5,015 characters"),
    "length behind an end in brackets": ("{{ {'a': {}} ~ '" + "a" * 5000 + "' }}", "of 5,020"),
    "file": ("{{ calc('memory', config='/etc/hostname') }}", "an expression reads no file"),
    "content of a file": ("{{ calc('memory', config={}) }}", "an expression reads no file"),
    "file of a figure": ("{{ figure('../../etc/passwd') }}", "unknown figure"),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_prose_asks_for_no_more_than_it_needs(attack: str) -> None:
    text, message = HOSTILE[attack]
    begun = time.process_time()
    with pytest.raises(ProseError) as refusal:
        render("first\n\n" + text, "a.md", "docs/a.md")
    assert time.process_time() - begun < 5
    problem = str(refusal.value)
    assert problem.startswith("docs/a.md:3:1: prose: ") and message in problem
    assert len(problem) < 500


@pytest.mark.parametrize(
    ("text", "length", "line"),
    [
        ("", 0, 1),
        ("one {{ two }} three", 9, 1),
        ("{{ a }}\n{% if 1 %}\n{{ '}}' ~ 'aaa' }}", 18, 3),
        ("{{ a }}\n{# {{ aaaaaaaaaaaa }} #}", 7, 1),
        ("{% raw %}{{ aaaaaaaaaaaa }}{% endraw %}\n{{ {'a': {}} }}", 15, 2),
        ("{{ a }}\n{{ does not end", 7, 1),
    ],
)
def test_the_longest_expression_is_that_of_jinja(text: str, length: int, line: int) -> None:
    """One ended at the first braces, in a text too, and its length was not seen."""
    assert prose_limits.longest_expression(text) == (length, line)


@pytest.mark.parametrize(
    "error", [KeyError, IndexError, AttributeError, OverflowError, MemoryError, RecursionError]
)
def test_whatever_is_raised_has_file_and_line(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error("inside")

    with pytest.raises(ProseError, match=f"a.md:2:1: prose: found {error.__name__}: .*inside"):
        render("\n{{ fail() }}", "a.md", "a.md", {"fail": fail})


def test_a_page_has_a_time_and_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose_limits, "LONGEST_S", -1.0)
    with pytest.raises(ProseError, match="of work"):
        render("{{ chip('h100-sxm') }}", "a.md", "a.md")
    monkeypatch.undo()
    monkeypatch.setattr(prose_limits, "MOST_CHARACTERS", 100)
    with pytest.raises(ProseError, match="a page that becomes longer than 100 characters"):
        render("x" * 101, "a.md", "a.md")
    monkeypatch.setattr(prose_limits, "LONGEST_PAGE", 100)
    with pytest.raises(ProseError, match="a page of 101 characters, at most 100"):
        render("x" * 101, "a.md", "a.md")


def test_waiting_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock on the wall refused chapters on a busy machine."""
    monkeypatch.setattr(prose_limits, "LONGEST_S", 0.2)
    wait = {"wait": lambda: time.sleep(0.3) or ""}
    assert render("{{ wait() }}{{ 1 + 1 > 1 }}", "a.md", "a.md", wait) == "True"


def test_what_prose_needs_is_there() -> None:
    text = (
        "{% set l = [] %}{% for a in [1, 2] + [3] %}{% set x = l.append(a) %}"
        "{% if loop.last %}{{ 'a' ~ (2 * a) }}{% endif %}{% endfor %}"
        "{{ (l | select('le', 2) | list | length) | unit('1') }}"
        "{% for name, size in {'b': 2}.items() %} {{ name }}{{ size | unit('s') }}{% endfor %}"
    )
    assert render(text, "a.md", "a.md").replace("\u00a0", " ") == "a62 b2 s"


@pytest.mark.parametrize(
    "expression",
    [
        'calc("memory", config="/etc/hostname")',
        'calc("memory", config=chip("h100-sxm"))',
        "min()",
        'q("1")[3]',
        "9 ** 400.5",
        "9 ** 9 ** 9",
        "1e308 * 10 - 1e308 * 10 + 1",
        '"a" * 1000000000',
        "-" * 1900 + "1",
        "(" * 300 + "1" + ")" * 300,
        'calc("bubble", stages=1e300, microbatches=1e300)',
        'chip("../../etc/passwd").memory()',
    ],
)
def test_an_expression_of_the_ledger_fails_in_words(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises(FlopbookError) as refusal:
        recompute(expression)
    assert time.process_time() - begun < 5 and "\n" not in str(refusal.value)
