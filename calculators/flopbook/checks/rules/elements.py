"""Prose holds no elements of HTML: it is Markdown, and what is drawn comes from expressions.

A script in a page would run for every reader. Code may show elements; the mark that says where the
book is linked, `<!-- book -->`, stands by itself. Nor does prose hold characters that hide, or that
turn the direction of reading: a reviewer would approve another text than the one that is published.

What is code is decided as Jinja and Markdown decide it, one after the other; where two readers of
Markdown could differ, the text counts as what it would be outside of code.
"""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.contributed_text import hidden_character
from flopbook.data.files import MAX_PAGE_BYTES, read_text
from flopbook.errors import Problem, shorten, show_path

NAME = "markup"
HIDDEN = "control-character"
PRINTABLE = Advice("printable text", "retype the line")
PLAIN = Advice("Markdown", "write Markdown, an expression, or code between backticks")
# Stand for what an expression prints, and for a line end inside of what Jinja takes out.
_PRINTED, _WRAP = "\ue000", "\ue001"
# What Jinja takes out before anything else is read. Between `raw` and `endraw` braces are text, and
# open no expression that hides what is behind them.
_OPENS = re.compile(r"\{[{%#]")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}")
_ENDRAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_ALLOWED = re.compile(r"^<!-- book -->$", re.MULTILINE)
# A line that begins with a fence; it opens a block of code with a language and options at most.
_FENCE = re.compile(r"(?P<before>[ \t>]*+(?:(?:[-*+:]|\d+[.)])[ \t>]++)?)(?P<marks>`{3,}|~{3,})")
_OPTIONS = re.compile(r"[ \t]*[\w#.+-]*(?:[ \t]+\w+=\"[^\"\n]*\")*[ \t]*")
# Code between fences, as part of patterns with re.S and re.M. It never goes back, so that a line of
# nothing but backticks is read once.
FENCED = r"^(?P<fence>`{3,}+|~{3,}+).*?^(?P=fence)[^\n]*$"
# Code within a line, as all readers of Markdown have it: as many backticks on both sides.
_TICKS = re.compile(r"`+")
CODE = re.compile(r"(?<![\\`])(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)")
_PARAGRAPHS = re.compile(r"(\n[ \t]*\n)")
# Formulas as the site reads them: no blank inside the dollars, no word on either side of them.
_MATHS = re.compile(
    rf"\$\$.+?\$\$"
    rf"|(?<![\\$\w{_PRINTED}{_WRAP}])\$[^\s$](?:[^$\n]*[^\s$])?\$(?!(?!th\b)[\w${_PRINTED}{_WRAP}])",
    re.DOTALL,
)
_ACTIVE = re.compile(
    rf"<\\?[a-z/!?{_PRINTED}][^>\n]*>?"  # an element, its end, a comment
    rf"|\][(\[]?{_PRINTED}"  # the address of a link
    rf"|\{{[^{{}}\n]*{_PRINTED}[^{{}}\n]*\}}"  # a list of attributes
    # a handler, an address or a style in a list of attributes
    r"|\{[^{}\n]*(?<![\w-])(?:on\w+|(?:xlink:)?href|src\w*|style|(?:form)?action|ping|poster|data)"
    r"\s*=[^{}\n]*\}"
    # a fence that is left: what stands behind it is code to one reader and none to another
    r"|^[ \t>]*(?:`{3,}|~{3,}).*",
    re.IGNORECASE | re.MULTILINE,
)
# Where a link leads, beside its text and below it.
_ADDRESS = re.compile(
    r"\]\((?=\s{0,99}<?(?P<beside>[^)\n]{0,300}))"
    r"|\[(?!\^)(?=[^\[\]\n]+\]:\s{0,99}<?(?P<below>[^\n]{0,300}))"
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SCHEMES = ("http", "https", "mailto")
_LONGEST = 60  # characters of a finding


def check(holdings: Holdings) -> Iterator[Finding]:
    """Every place of a page of prose where an element, a handler or a running address begins."""
    for path in sorted(holdings.docs.rglob("*.md")):
        # What no file is, the rule of files says; what is no text, the rule of typed numbers.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = read_text(path, MAX_PAGE_BYTES)
            for line, found in elements(text):
                yield Finding(_problem(path, line, found))
            for line, found in hidden(text):
                yield Finding(Problem(show_path(path), line, 1, HIDDEN, found, *PRINTABLE))


def elements(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of what a page would put into HTML as it is."""
    prose = _ALLOWED.sub("", _without_expressions(text))
    prose = _without_blocks(prose)
    prose = _MATHS.sub(_blank, "".join(map(_without_code, _PARAGRAPHS.split(prose))))
    for match in _ACTIVE.finditer(prose):
        yield _line(prose, match), _shown(match[0])
    for match in _ADDRESS.finditer(prose):
        address = match["beside"] or match["below"] or ""
        if _leads_elsewhere(address):
            yield _line(prose, match), _shown(match[0] + address)


def _without_expressions(text: str) -> str:
    """A page without what Jinja takes out, with a mark for each expression that prints.

    What does not end stays: Jinja refuses such a page.
    """
    pieces, end = [], 0
    while opening := _OPENS.search(text, end):
        closing = text.find(_CLOSES[opening[0]], opening.end())
        if closing < 0:
            break
        tag = text[opening.start() : closing + 2]
        before, inside = text[end : opening.start()], ""
        end = closing + 2
        if _RAW.fullmatch(tag):
            last = _ENDRAW.search(text, end)
            if last is None:
                break
            inside, end, tag = text[end : last.start()], last.end(), f"{tag}{last[0]}"
        # A hyphen takes the blanks beside it along.
        kept = before.rstrip() if tag[2] == "-" else before
        pieces += [kept, _PRINTED if tag[1] == "{" else "", inside]
        behind = len(text[end:]) - len(text[end:].lstrip()) if tag[-3] == "-" else 0
        gone = f"{before[len(kept) :]}{tag}{text[end : end + behind]}"
        pieces.append(_WRAP * gone.count("\n"))
        end += behind
    return "".join([*pieces, text[end:]])


def closed_part(text: str) -> str:
    """A page up to the first expression that does not end; Jinja refuses what follows.

    To look for the end of each of many such is slow.
    """
    end = 0
    while opening := _OPENS.search(text, end):
        closing = text.find(_CLOSES[opening[0]], opening.end())
        if closing < 0:
            return text[: opening.start()]
        end = closing + 2
    return text


def _without_blocks(text: str) -> str:
    """A page without its fenced blocks of code.

    Of a block that a reader of Markdown may end elsewhere, or that an expression prints into, the
    lines stay.
    """
    lines, begun = text.split("\n"), None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if begun is None:
            begun = (number, fence) if fence and _opens(lines, number, fence.end()) else None
            continue
        first, opening = begun
        if fence is None or fence["marks"] != opening["marks"]:
            continue
        is_end = line.rstrip() == opening[0] and not opening["before"].strip(" ")
        if is_end and _is_code(lines[first + 1 : number], opening["before"]):
            lines[first : number + 1] = [""] * (number + 1 - first)
        begun = None
    return "\n".join(lines)


def _opens(lines: list[str], number: int, end: int) -> bool:
    """Whether a fence begins a block for every reader: below a blank line, with options at most."""
    is_apart = number == 0 or not lines[number - 1].strip()
    return is_apart and _OPTIONS.fullmatch(lines[number], end) is not None


def _is_code(lines: list[str], before: str) -> bool:
    """Whether lines between two fences are one block: all as deep as they are, nothing printed."""
    return all(
        _PRINTED not in line and (line.startswith(before) or not line.strip()) for line in lines
    )


def _without_code(paragraph: str) -> str:
    """A paragraph without the code in its lines.

    Backticks without others like them on the line are code to one reader and none to another, and
    what is printed may end it: from there on everything is looked at.
    """
    end, kept = 0, []
    while ticks := _TICKS.search(paragraph, end):
        code = CODE.match(paragraph, ticks.start())
        if code is None or _PRINTED in paragraph[max(0, code.start() - 1) : code.end() + 1]:
            break
        kept.append(paragraph[end : code.start()])
        end = code.end()
    return "".join([*kept, paragraph[end:]])


def _leads_elsewhere(address: str) -> bool:
    """Whether an address, as a browser reads it, has a scheme that is not of the web."""
    target = re.sub(r"[\x00-\x20]", "", html.unescape(address).replace("\\", ""))
    if _PRINTED in re.split(r"[/?#]", target, maxsplit=1)[0]:
        return True
    scheme = _SCHEME.match(target)
    return scheme is not None and scheme[1].lower() not in _SCHEMES


def _line(text: str, match: re.Match[str]) -> int:
    before = text[: match.start()]
    return before.count("\n") + before.count(_WRAP) + 1


def _shown(found: str) -> str:
    plain = found.replace(_PRINTED, "{{ }}").replace(_WRAP, " ")
    return shorten(plain.strip(), _LONGEST)


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Lines with a character that no reviewer sees or that turns the direction, code included."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return
    for number, line in enumerate(text.split("\n"), 1):
        if character := hidden_character(line):
            yield number, character


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") + _WRAP * match[0].count(_WRAP)


def _problem(path: Path, line: int, found: str) -> Problem:
    return Problem(show_path(path), line, 1, NAME, f"'{found}'", *PLAIN)
