"""Expressions of prose by chance: a text, or one line with its place, soon, and no more than that.

None of them reads a file, runs for long, or grows without bounds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from scripts.attack.campaign import Attempt, Campaign
from scripts.website.pages.prose import ProseError, render
from scripts.website.pages.prose_limits import MOST_CHARACTERS

NAME = "prose"
_PAGES = 3_000
_LONGEST_S = 5.0  # of processor time
_MOST_WORDS = 500  # of a message
_SECRET = "root:x:0"  # how the file begins that all of them would like to read
_VALUES = (
    *("1", "9", "-1", "1e308", "0", "9" * 300, "'a'", "''", "none", "true", "[]", "[0, 1]", "{}"),
    *("a", "b", "l", "calc", "chip", "entry", "config", "self", "cycler", "lipsum", "namespace"),
    *("chip('h100-sxm')", "chip('none')", "model('llama-3-70b')", "entry('nvidia/h100-sxm')"),
    *("calc('bubble', stages=8, microbatches=8)", "calc('params', config='/etc/passwd')"),
    *("calc('memory', config='../../etc/passwd')", "q('3 m', 'furlong')", "q('1e999 s', 's')"),
    *("figure('../x')", "cite('nobody')", "range(9**9)", "dict(a=1)", "''.__class__"),
    *("chip.__globals__", "calc.func", "(1).__add__", "''.format", "[].append", "{}.items()"),
)
_OPERATORS = ("+", "-", "*", "/", "//", "**", "%", "~", "and", "or", "in", "<", "==", "|", ".")
_FILTERS = (
    "unit('s')",
    "unit('x')",
    "round(2)",
    "list",
    "join",
    "max",
    "attr('x')",
    "map('string')",
)
_STATEMENTS = (
    *(
        "{{% set a = {0} %}}",
        "{{% set l = [{0}, {1}] %}}",
        "{{{{ {0} | unit('1') }}}}",
        "{{{{ {0} }}}}",
    ),
    *("{{% for b in {0} %}}{{{{ b }}}}{{% endfor %}}", "{{% if {0} %}}{{{{ {1} }}}}{{% endif %}}"),
    *("{{% for b in l %}}{{% for c in l %}}{{% set a = {0} %}}{{% endfor %}}{{% endfor %}}",),
    *("{{% include {0} %}}", "{{% import {0} as x %}}", "{{% macro f() %}}{0}{{% endmacro %}}"),
    *(
        "{{% set a = a ~ a %}}",
        "{{% set l = l + l %}}",
        "{{% set a = a * a %}}",
        "{{{{ {0}",
        "{0} %}}",
    ),
)


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pages of a few statements, some of them many times over."""
    for _ in range(campaign.count(_PAGES)):
        page = _page(campaign.rng)
        yield Attempt(page, _fault(page))


def _page(rng: random.Random) -> str:
    statements = []
    for _ in range(rng.randint(1, 6)):
        statement = rng.choice(_STATEMENTS).format(_expression(rng), _expression(rng))
        statements.append(statement * rng.choice((1, 1, 1, 2, 60)))
    return "{% set a = 'aaaaaaaaaa' %}{% set l = [1, 2, 3] %}\n" + "\n".join(statements)


def _expression(rng: random.Random, depth: int = 0) -> str:
    """A value, two of them joined, one behind a filter, or one in many brackets."""
    kind = rng.randrange(6) if depth < 3 else 0
    if kind < 2:
        return rng.choice(_VALUES)
    inner = _expression(rng, depth + 1)
    if kind == 2:
        return f"{inner} | {rng.choice(_FILTERS)}"
    if kind == 3:
        deep = rng.choice((1, 2, 200))
        return "(" * deep + inner + ")" * deep
    return f"{inner} {rng.choice(_OPERATORS)} {_expression(rng, depth + 1)}"


def _fault(page: str) -> str:
    begun = time.process_time()
    message = ""
    try:
        text = render(page, "attack.md", "docs/attack.md")
    except ProseError as error:
        text, message = "", str(error)
    seconds = time.process_time() - begun
    if seconds > _LONGEST_S:
        return f"took {seconds:.1f} s"
    if _SECRET in text + message:
        return "read a file"
    if len(text) > MOST_CHARACTERS:
        return f"became {len(text):,} characters"
    is_placed = message.startswith("docs/attack.md:") and "\n" not in message
    return "" if not message or (is_placed and len(message) < _MOST_WORDS) else f"says {message!r}"
