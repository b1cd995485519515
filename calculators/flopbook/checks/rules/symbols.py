r"""A letter of a chapter's formulas has one meaning, told in the chapter's table of symbols.

The table stands in the head of the chapter, a line for each symbol:

    symbols:
      D: width of the model
      T_\text{step}: time of one step

A subscript that is not listed is an index of its letter: `I_X` needs `I`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.checks.rules.elements import closed_part
from flopbook.checks.rules.typed import page_text
from flopbook.errors import Problem, show_path

NAME = "symbols"
FORM = Advice("a symbol and its meaning, `D: width of the model`", "write one to a line")
ONE_MEANING = Advice("one meaning for a symbol in a chapter", "give one of the two another letter")
ONE_SYMBOL = Advice("one symbol for a meaning", "write both as the one or tell them apart")
LISTED = Advice("a symbol of the table in the chapter's head", "list it under 'symbols'")
USED = Advice("a symbol that a formula of the chapter has", "remove it")

_CHAPTER = re.compile(r"\A---\n(?:.*\n)*?order:")
_TABLE = re.compile(r"^symbols:\n((?:  .*\n)+)", re.M)
_ROW = re.compile(r"  (?P<symbol>[A-Za-z\\]\S*): (?P<meaning>\S.*)")
_FORMULA = re.compile(
    r"\$\$(?P<block>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\w)", re.S
)
# Where a dollar is none of a formula: code, expressions, comments.
_OTHER = re.compile(
    r"^(?P<fence>`{3,}+).*?^(?P=fence)|`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.S | re.M
)
_WORDS = re.compile(r"\\(?:text|mathrm|operatorname|mathcal|begin|end)\{[^{}]*\}")
_GREEK = re.compile(
    r"alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho"
    r"|(?:var)?sigma|tau|(?:var)?phi|chi|psi|omega|ell"
    r"|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"
)
# A letter with its subscript, or a command that is none: `\frac`, `\max`.
_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)|(?P<letter>[A-Za-z])",
)
_SUBSCRIPT = re.compile(
    r"'*_(\\(?:text|mathrm)\{[^{}]*\}|\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z0-9])"
)
_FREE = ("d", "e")  # of a differential and of the exponential, where a chapter lists none


class Symbol(NamedTuple):
    """A line of the table: the symbol as LaTeX without dollars, what it means, its line."""

    latex: str
    meaning: str
    line: int


class Use(NamedTuple):
    """A symbol in a formula: its letter, the letter with its subscript, and the line."""

    letter: str
    whole: str
    line: int


def check(holdings: Holdings) -> Iterator[Finding]:
    """Symbols that no table explains, that it explains twice, or that no formula has."""
    for path in sorted((holdings.docs / "handbook").glob("*.md")):
        for problem in symbol_problems(page_text(path), show_path(path)):
            yield Finding(problem)


def symbol_problems(text: str, file: str) -> Iterator[Problem]:
    """What is wrong with the symbols of a chapter, with file and line."""
    table = symbols_of(text)
    if not _CHAPTER.search(text):
        return
    yield from _malformed(text, file)
    yield from _twice(table, file)
    uses = list(uses_of(text))
    listed = {symbol.latex for symbol in table}
    yield from _unknown(uses, listed, file)
    used = {use.whole for use in uses} | {use.letter for use in uses if use.whole not in listed}
    for symbol in table:
        if symbol.latex not in used:
            yield Problem(file, symbol.line, 1, NAME, f"'{symbol.latex}'", *USED)


def symbols_of(text: str) -> list[Symbol]:
    """The table of symbols in the head of a chapter, in its order; empty where there is none."""
    table = _TABLE.search(text)
    if not table:
        return []
    first = text.count("\n", 0, table.start(1)) + 1
    rows = enumerate(table[1].splitlines(), first)
    matches = ((line, _ROW.fullmatch(row)) for line, row in rows)
    return [
        Symbol(_spaced(match["symbol"]), match["meaning"], line) for line, match in matches if match
    ]


def uses_of(text: str) -> Iterator[Use]:
    """Every symbol of the formulas of a chapter, in the order of the text, its head left out."""
    body = _blank_head(_OTHER.sub(_blank, closed_part(text)))
    for formula in _FORMULA.finditer(body):
        group = "block" if formula["block"] else "inline"
        for letter, symbol, place in _symbols_in(formula[group]):
            yield Use(letter, symbol, body.count("\n", 0, formula.start(group) + place) + 1)


def _malformed(text: str, file: str) -> Iterator[Problem]:
    table = _TABLE.search(text)
    rows = table[1].splitlines() if table else []
    first = text.count("\n", 0, table.start(1)) + 1 if table else 1
    for line, row in enumerate(rows, first):
        if not _ROW.fullmatch(row):
            yield Problem(file, line, 1, NAME, f"'{row.strip()}'", *FORM)


def _twice(table: list[Symbol], file: str) -> Iterator[Problem]:
    meanings: dict[str, str] = {}
    symbols: dict[str, str] = {}
    for symbol in table:
        earlier = meanings.setdefault(symbol.latex, symbol.meaning)
        if earlier is not symbol.meaning:
            observed = f"'{symbol.latex}' as '{earlier}' and as '{symbol.meaning}'"
            yield Problem(file, symbol.line, 1, NAME, observed, *ONE_MEANING)
        first_symbol = symbols.setdefault(symbol.meaning, symbol.latex)
        if first_symbol != symbol.latex:
            observed = f"'{first_symbol}' and '{symbol.latex}' for '{symbol.meaning}'"
            yield Problem(file, symbol.line, 1, NAME, observed, *ONE_SYMBOL)


def _unknown(uses: list[Use], known: set[str], file: str) -> Iterator[Problem]:
    """The first use of each symbol that the table does not have."""
    reported: set[str] = set()
    for use in uses:
        if use.whole in known or use.letter in known or use.letter in _FREE:
            continue
        if use.whole not in reported:
            reported.add(use.whole)
            yield Problem(file, use.line, 1, NAME, f"'{use.whole}'", *LISTED)


def _symbols_in(latex: str) -> Iterator[tuple[str, str, int]]:
    """Letter, letter with subscript, and place of every symbol of a formula."""
    place = 0
    while token := _TOKEN.search(latex, place):
        words = _WORDS.match(latex, token.start())
        if words:
            place = words.end()
            continue
        place = token.end()
        if token["command"] and not _GREEK.fullmatch(token["command"]):
            continue
        subscript = _SUBSCRIPT.match(latex, place)
        symbol = token[0]
        if subscript:
            place = subscript.end()
            symbol = f"{token[0]}_{subscript[1]}"
        yield token[0], _spaced(symbol), token.start()


def _spaced(latex: str) -> str:
    """A symbol as it is compared: `T_{x}` is `T_x`."""
    return re.sub(r"_\{(\w)\}", r"_\1", latex.strip())


def _blank_head(text: str) -> str:
    return re.sub(r"\A---\n.*?^---\n", _blank, text, count=1, flags=re.S | re.M)


def _blank(match: re.Match[str]) -> str:
    """As many characters and lines as were taken away, so that places stay."""
    return re.sub(r"[^\n]", " ", match[0])
