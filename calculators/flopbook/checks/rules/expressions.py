"""Expressions of prose can be read, and chip, model, work, row or calculator they name are there.

The build evaluates them; this is what can be said in a moment, to somebody who never builds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.files import MAX_PAGE_BYTES, read_text
from flopbook.errors import FlopbookError, Problem, UnknownName, shorten, show_path
from flopbook.formulas import CATALOGUE

if TYPE_CHECKING:
    from jinja2 import nodes

NAME = "prose"
READABLE = Advice("an expression that Jinja reads", "mend the expression")
KNOWN = Advice("names that exist", "mend the name")
_OPTIONS = ("chip", "model")
_LONGEST = 200  # characters of a name; to look for one near a longer one is slow
Fault = tuple[int, str, Advice]
Find = Callable[[str], object]


def check(holdings: Holdings) -> Iterator[Finding]:
    """Expressions that do not end, and names of nothing."""
    finders = _finders(holdings)
    for path in sorted(holdings.docs.rglob("*.md")):
        # What no file is, the rule of files says; what is no text, the rule of typed numbers.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            for line, observed, advice in _faults(read_text(path, MAX_PAGE_BYTES), finders):
                yield Finding(Problem(show_path(path), line, 1, NAME, observed, *advice))


def _finders(holdings: Holdings) -> dict[str, Find]:
    """Name of a function of prose -> what looks up its first word; raises UnknownName."""
    rows = dict.fromkeys(row.id for row in holdings.ledger)
    kinds: dict[str, dict[str, Find]] = {
        "references": {"cite": partial(_known, "reference", holdings.references)},
        "ledger": dict.fromkeys(("claim", "stated"), partial(_known, "claim", rows)),
        "models": {"model": holdings.library.model},
    }
    calculators = partial(_known, "calculator", CATALOGUE)
    finders: dict[str, Find] = {"calc": calculators, "form": calculators}
    finders |= dict.fromkeys(("chip", "entry"), holdings.library.find_id)
    for field, more in kinds.items():
        finders |= {} if field in holdings.unreadable else more
    return finders


def _known(kind: str, known: Mapping[str, object], name: str) -> None:
    if name not in known:
        raise UnknownName(kind, name, known)


def _faults(text: str, finders: dict[str, Find]) -> Iterator[Fault]:
    # Most commands need no Jinja, and the checks are loaded with some of them.
    from jinja2 import Environment, TemplateSyntaxError, nodes

    try:
        page = Environment(autoescape=True).parse(text)  # nothing is rendered
        calls = list(page.find_all(nodes.Call))
    except TemplateSyntaxError as error:
        yield error.lineno, shorten(error.message or "no expression", 160), READABLE
        return
    except (RecursionError, MemoryError, ValueError, OverflowError):
        yield 1, "an expression too deep or too large to read", READABLE
        return
    for call in calls:
        for function, word in _named(call):
            if function in finders:
                yield from _unknown(finders[function], word, call.lineno)


def _named(call: nodes.Call) -> Iterator[tuple[str, str]]:
    """The function that a call calls with its first word, and the chip and the model of it."""
    given = [(getattr(call.node, "name", ""), call.args[0])] if call.args else []
    given += [(option.key, option.value) for option in call.kwargs if option.key in _OPTIONS]
    for function, value in given:
        if isinstance(word := getattr(value, "value", None), str):
            yield function, word[:_LONGEST]


def _unknown(find: Find, word: str, line: int) -> Iterator[Fault]:
    try:
        find(word)
    except UnknownName as error:
        yield line, str(error), KNOWN
    except FlopbookError:
        return  # a file that cannot be read, which is said where it lies
