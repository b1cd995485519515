"""Prose holds no elements of HTML: it is Markdown, and what is drawn comes from expressions.

A script in a page would run for every reader. Code may show elements; the mark that says where the
book is linked, `<!-- book -->`, stands by itself. Nor does prose hold characters that hide, or that
turn the direction of reading: a reviewer would approve another text than the one that is published.

What is code is decided as Jinja and Markdown decide it, one after the other; where two readers of
Markdown could differ, or a branch may leave a part out, the text counts as what it would be outside
of code. Formulas count as text: an author writes `a < b`.
"""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.contributed_text import hidden_character
from flopbook.data.files import MAX_PAGE_BYTES, read_text
from flopbook.errors import Problem, shorten, show_path

NAME = "markup"
HIDDEN = "control-character"
PRINTABLE = Advice("printable text", "retype the line")
PLAIN = Advice("Markdown", "write Markdown, an expression, code between backticks, or a < b")
# Stand for what an expression prints, and for the ends of a part that Jinja may leave out.
_PRINTED, _BRANCH = "\ue000", "\ue001"
_OPEN = f"[{_PRINTED}{_BRANCH}]"
# What Jinja takes out before anything else is read. Between `raw` and `endraw` braces are text, and
# open no expression that hides what is behind them.
_OPENS = re.compile(r"\{[{%#]")
_ASSIGNS = re.compile(r"\{%[-+]?\s*(?:set|raw)\b")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}")
_ENDRAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
# Inside of an expression a text, or brackets around more, may hold what looks like its end.
_BLANKS = re.compile(r"\s*")
_TOKENS = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[()\[\]{}%]", re.DOTALL)
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
_ACTIVE = re.compile(
    rf"<\\?(?:[a-z/!?]|{_OPEN})[^>\n]*>?"  # an element, its end, a comment
    rf"|\][(\[]?{_OPEN}"  # the address of a link
    rf"|\\{_OPEN}"  # what keeps printed code from being code
    rf"|\{{[^{{}}\n]*(?:{_PRINTED}[^{{}}\n]*\}}|{_BRANCH})"  # a list of attributes
    # a handler, an address or a style in a list of attributes
    r"|\{[^{}\n]*(?<![\w-])(?:on\w+|(?:xlink:)?href|src\w*|style|(?:form)?action|ping|poster|data)"
    r"\s*=[^{}\n]*\}"
    # a fence that is left: what stands behind it is code to one reader and none to another
    rf"|(?:`(?:{_OPEN}*`){{2}}|~(?:{_OPEN}*~){{2}}).*"
    # what may become one, when a branch leaves out what parts it
    rf"|{_BRANCH}[^`~\n]*[`~].*|[`~][^`~\n]*{_BRANCH}.*",
    re.IGNORECASE | re.MULTILINE,
)
# Where a link leads, beside its text and below it.
_ADDRESS = re.compile(
    r"\]\((?=\s{0,99}<?(?P<beside>[^)\n]{0,300}))"
    r"|\[(?!\^)(?=[^\[\]]{1,300}\]:\s{0,99}<?(?P<below>[^\n]{0,300}))"
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
    rendered = _without_expressions(_ALLOWED.sub("", text))
    prose = _without_code(_without_blocks(rendered.text))
    for match in _ACTIVE.finditer(prose):
        yield rendered.line_of(prose, match), _shown(match[0])
    for match in _ADDRESS.finditer(prose):
        address = match["beside"] or match["below"] or ""
        if _leads_elsewhere(address):
            yield rendered.line_of(prose, match), _shown(match[0] + address)


class _Rendered(NamedTuple):
    """A page as Jinja leaves it, with a mark for what is not known before it has run.

    `gone` has a line of this text and the line ends that Jinja took out there, in their order.
    """

    text: str
    gone: tuple[tuple[int, int], ...]

    def line_of(self, prose: str, match: re.Match[str]) -> int:
        """The line of the file on which a match begins; `prose` has the lines of this text."""
        line = prose.count("\n", 0, match.start()) + 1
        return line + sum(count for place, count in self.gone if place <= line)


def _without_expressions(text: str) -> _Rendered:
    """A page without what Jinja takes out. What does not end stays: Jinja refuses such a page."""
    pieces: list[str] = []
    gone: list[tuple[int, int]] = []
    end, line = 0, 1
    while opening := _OPENS.search(text, end):
        close = _end_of(text, opening)
        tag = close and _tag(text, opening, close)
        if not tag:
            break
        # A hyphen takes the blanks beside it along.
        before = text[end : opening.start()]
        kept = before.rstrip() if text[opening.end()] == "-" else before
        stays = f"{kept}{tag.leaves}"
        behind = _BLANKS.match(text, tag.end) if text[tag.end - 3] == "-" else None
        begun, end = end, behind.end() if behind else tag.end
        line += stays.count("\n")
        pieces.append(stays)
        gone.append((line, text.count("\n", begun, end) - stays.count("\n")))
    return _Rendered("".join([*pieces, text[end:]]), tuple(gone))


class _Tag(NamedTuple):
    """Something that Jinja takes out: where it ends, and what of it stays on the page."""

    end: int
    leaves: str


def _tag(text: str, opening: re.Match[str], close: int) -> _Tag | None:
    """What begins at an opening and has its first end at `close`; None without its last."""
    if opening[0] == "{{":
        return _Tag(close, _PRINTED)
    if not _RAW.fullmatch(text, opening.start(), close):
        is_branch = opening[0] == "{%" and not _ASSIGNS.match(text, opening.start())
        return _Tag(close, _BRANCH if is_branch else "")
    last = _ENDRAW.search(text, close)
    if last is None:
        return None
    inside = text[close : last.start()]
    inside = inside.lstrip() if text[close - 3] == "-" else inside
    return _Tag(last.end(), inside.rstrip() if last[0][2] == "-" else inside)


def _end_of(text: str, opening: re.Match[str]) -> int | None:
    """Where what Jinja takes out has its first end; None where it has none."""
    close, depth = _CLOSES[opening[0]], 0
    if close == "#}":
        place = text.find(close, opening.end())
        return None if place < 0 else place + 2
    for token in _TOKENS.finditer(text, opening.end()):
        if depth == 0 and text.startswith(close, token.start()):
            return token.start() + 2
        depth += (token[0] in "([{") - (token[0] in ")]}")
    return None


def expressions(text: str) -> Iterator[tuple[int, int]]:
    """Where each `{{ }}` and `{% %}` of a page begins and ends, as Jinja reads it.

    What stands in a comment or between `raw` and `endraw` is none. One that does not end is the
    last, and Jinja refuses it.
    """
    end = 0
    while opening := _OPENS.search(text, end):
        close = _end_of(text, opening)
        if close is None:
            return
        if opening[0] != "{#":
            yield opening.start(), close
        tag = _tag(text, opening, close)
        end = tag.end if tag else close


def closed_part(text: str) -> str:
    """A page up to the first expression that does not end; Jinja refuses what follows.

    To look for the end of each of many such is slow.
    """
    end = 0
    while opening := _OPENS.search(text, end):
        close = _end_of(text, opening)
        if close is None:
            return text[: opening.start()]
        end = close
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
        not _is_open(line) and (line.startswith(before) or not line.strip()) for line in lines
    )


def _is_open(text: str) -> bool:
    """Whether what Jinja makes of a text is only known once it is rendered."""
    return _PRINTED in text or _BRANCH in text


def _without_code(prose: str) -> str:
    """A page without the code in its lines."""
    pieces, are_apart, is_whole = [], _BRANCH not in prose, True
    for paragraph in _PARAGRAPHS.split(prose):
        # A blank line that a branch leaves out joins two paragraphs.
        if is_whole or are_apart:
            paragraph, is_whole = _without_code_in(paragraph)
        pieces.append(paragraph)
    return "".join(pieces)


def _without_code_in(paragraph: str) -> tuple[str, bool]:
    """A paragraph without the code in its lines, and whether all of its backticks are of code.

    Backticks without others like them on the line are code to one reader and none to another, and
    what is printed may end it: from there on everything is looked at.
    """
    end, kept = 0, []
    while ticks := _TICKS.search(paragraph, end):
        code = CODE.match(paragraph, ticks.start())
        if code is None or _is_open(paragraph[max(0, code.start() - 1) : code.end() + 1]):
            break
        kept.append(paragraph[end : code.start()])
        end = code.end()
    return "".join([*kept, paragraph[end:]]), ticks is None


def _leads_elsewhere(address: str) -> bool:
    """Whether an address, as a browser reads it, has a scheme that is not of the web."""
    target = re.sub(r"[\x00-\x20]", "", html.unescape(address).replace("\\", ""))
    if _is_open(re.split(r"[/?#]", target, maxsplit=1)[0]):
        return True
    scheme = _SCHEME.match(target)
    return scheme is not None and scheme[1].lower() not in _SCHEMES


def _shown(found: str) -> str:
    plain = found.replace(_PRINTED, "{{ }}").replace(_BRANCH, "{% %}")
    return shorten(plain.strip(), _LONGEST)


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Lines with a character that no reviewer sees or that turns the direction, code included."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return
    for number, line in enumerate(text.split("\n"), 1):
        if character := hidden_character(line):
            yield number, character


def _problem(path: Path, line: int, found: str) -> Problem:
    return Problem(show_path(path), line, 1, NAME, f"'{found}'", *PLAIN)
