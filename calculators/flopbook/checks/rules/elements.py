"""Prose holds no elements of HTML: it is Markdown, and what is drawn comes from expressions.

A script in a page would run for every reader. Code may show elements; the mark that says where the
book is linked, `<!-- book -->`, stands by itself. Nor does prose hold characters that hide, or that
turn the direction of reading: a reviewer would approve another text than the one that is published.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.contributed_text import hidden_character
from flopbook.data.files import NotRead, read_text
from flopbook.errors import Problem, shorten, show_path

NAME = "markup"
HIDDEN = "control-character"
PRINTABLE = Advice("printable text", "retype the line")
PLAIN = Advice("Markdown", "write Markdown, an expression, or code between backticks")
_ALLOWED = re.compile(r"^<!-- book -->$", re.MULTILINE)
# What shows its text as it is. A backtick behind a backslash opens no code.
_CODE = re.compile(
    r"^(?P<fence>```+|~~~+)[^\n]*\n.*?^(?P=fence)[ \t]*$"
    r"|(?<![\\`])(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
# Formulas as the site reads them: no blank inside the dollars, no word behind them.
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^\s$](?:[^$\n]*[^\s$])?\$(?![\w$])", re.DOTALL)
_ACTIVE = re.compile(
    r"<\\?[a-z/!?][^>\n]*>?"  # an element, its end, a comment
    r"|\{[^{}\n]*\bon\w+\s*=[^{}\n]*\}"  # a handler in a list of attributes
    r"|\]\(\s*<?\s*(?:javascript|vbscript|data):[^)\n]*"  # an address that runs
    r"|^\s*\[[^\]\n]+\]:\s*<?\s*(?:javascript|vbscript|data):.*",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST = 60  # characters of a finding


def check(holdings: Holdings) -> Iterator[Finding]:
    """Every place of a page of prose where an element, a handler or a running address begins."""
    for path in sorted(holdings.docs.rglob("*.md")):
        # What no file is, the rule of files says; what is no text, the rule of typed numbers.
        with contextlib.suppress(NotRead, UnicodeDecodeError):
            text = read_text(path)
            for line, found in elements(text):
                yield Finding(_problem(path, line, found))
            for line, found in hidden(text):
                yield Finding(Problem(show_path(path), line, 1, HIDDEN, found, *PRINTABLE))


def elements(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of what a page would put into HTML as it is."""
    prose = text
    for pattern in (_ALLOWED, _CODE, _EXPRESSION, _MATHS):
        prose = pattern.sub(_blank, prose)
    for match in _ACTIVE.finditer(prose):
        yield prose.count("\n", 0, match.start()) + 1, shorten(match[0].strip(), _LONGEST)


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Lines with a character that no reviewer sees or that turns the direction, code included."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return
    for number, line in enumerate(text.split("\n"), 1):
        if found := hidden_character(line):
            yield number, found


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _problem(path: Path, line: int, found: str) -> Problem:
    return Problem(show_path(path), line, 1, NAME, f"'{found}'", *PLAIN)
