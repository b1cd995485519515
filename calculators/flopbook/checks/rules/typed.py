"""Prose types no number with a unit: an expression computes it.

So a corrected value corrects every sentence. Small counts that define something or go on fingers
may be typed. Any other typed number needs its reason on its line,
`{# typed: the title of a talk #}`, which the build removes; a reason that nothing needs is a
problem too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.checks.rules.elements import FENCED, closed_part
from flopbook.data.files import MAX_PAGE_BYTES, NotRead, read_text
from flopbook.errors import Problem, reason_of, shorten, show_path

NAME = "typed"
COMPUTED = Advice(
    "an expression that computes it", "write {{ ... }}, or {# typed: why #} on this line"
)
REASON = Advice("one that is needed", "remove it: this line types no number with a unit")
READABLE = Advice("text in UTF-8", "save the page as UTF-8")
# The largest count that may be typed: of bytes, bits, tokens, chips ... but never of GB or FLOP/s.
FINGERS = 16
EXEMPT = ("contributing",)  # shows how values are written

_COUNTS = (
    r"bits?|bytes?|FLOP|OP|tokens?|param(?:eter)?s?|weights?|chips?|devices?|GPUs?|TPUs?|cards?"
    r"|nodes?|layers?|heads?|experts?|sequences?|operations?|instructions?|cycles?|elements?"
    r"|stages?|micro-batches|steps?"
)
_MEASURES = (
    r"[kMGTPEZ]i?(?:B|bit|FLOP|OP)(?:/s)?|[kMGT]?Wh?|[kMGT]?Hz|[kMGTm]?J|[nµm]s|(?<=\s)s"
    r"|(?:bit|byte|FLOP|OP)s?/(?:s|byte)|TFLOPS|PF-days?|percent|%"
    r"|(?:nano|micro|milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|dollars?|mm|nm"
)
_TYPED = re.compile(
    rf"(?<![\w.$-])(?P<number>\d[\d,]{{0,40}}(?:\.\d+)?)"
    rf"(?P<size>\s(?:thousand|million|billion|trillion))?[\s\u00a0]?"
    rf"(?:(?P<count>{_COUNTS})|(?P<measure>{_MEASURES}))(?![\w/])"
)
_REASON = re.compile(r"\{#-?\s*typed:\s*(?P<why>[^#]*?)\s*-?#\}")
# What is not prose: code, expressions, maths, comments, addresses, tags.
_OTHER = re.compile(
    FENCED + r"|`[^`\n]*`"
    r"|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}"
    r"|\$\$.*?\$\$|\$[^$\n]+\$"
    r"|\]\([^()\n]{0,999}\)|<[^<>\n]{0,999}>",
    re.S | re.M,
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.S)
# Expressions that print no number: names, links, pictures, forms.
_WORDS = re.compile(
    r"\{\{-?\s*(?:(?:cite|form|figure|exercise|chapters|roofline|entry)\(.*"
    r"|(?:chip|model)\([^()]*\)\s*"
    r"|\"[^\"]*\"\s*)-?\}\}",
    re.S,
)
_RAW = re.compile(r"\{% raw %\}.*?\{% endraw %\}", re.S)


class Share(NamedTuple):
    """Numbers of the prose: how many are computed, how many typed, how many of those excused."""

    bound: int
    typed: int
    excused: int

    def __str__(self) -> str:
        total = self.bound + self.typed
        share = 100 * self.bound / total if total else 100.0
        computed = f"{self.bound:,} of {total:,} numbers with units in docs/ are computed"
        return f"{computed} ({share:.1f} %)"


def typed_numbers(text: str) -> list[tuple[int, str]]:
    """Line and words of every number with a unit that a page of prose types."""
    prose = _OTHER.sub(_blank, closed_part(text))
    return [
        (_line_of(prose, match), " ".join(match[0].split()))
        for match in _TYPED.finditer(prose)
        if not _goes_on_fingers(match)
    ]


def _goes_on_fingers(match: re.Match[str]) -> bool:
    is_plain_count = match["count"] and not match["size"] and match["number"].isdigit()
    return bool(is_plain_count) and int(match["number"]) <= FINGERS


def _line_of(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def _blank(match: re.Match[str]) -> str:
    """As many lines as were taken away, behind a mark.

    Without the mark a number before and a unit after would join.
    """
    return "|" + "\n" * match[0].count("\n")


def bound_numbers(text: str) -> int:
    """How many places of a page of prose are expressions that print a number."""
    expressions = _EXPRESSION.findall(_without_raw(closed_part(text)))
    return sum(not _WORDS.fullmatch(expression) for expression in expressions)


def _without_raw(text: str) -> str:
    """A page without what it shows of Jinja; looking for an end that is not there takes long."""
    return _RAW.sub("", text) if "{% endraw %}" in text else text


def share_of(docs: Path) -> Share | None:
    """Computed and typed numbers of all prose below a folder; None where there are none."""
    bound = typed = excused = 0
    for path in _pages(docs):
        text = page_text(path)
        reasons = _reasons(text)
        lines = [line for line, _ in typed_numbers(text)]
        bound += bound_numbers(text)
        typed += len(lines)
        excused += sum(line in reasons for line in lines)
    return Share(bound, typed, excused) if bound + typed else None


def check(holdings: Holdings) -> Iterator[Finding]:
    """Typed numbers without a reason, and reasons without a typed number."""
    for path in _pages(holdings.docs):
        try:
            yield from _of_page(read_text(path, MAX_PAGE_BYTES), show_path(path))
        except NotRead:  # what no file is, the rule of files says
            continue
        except (OSError, UnicodeDecodeError) as error:
            yield at_file(NAME, show_path(path), shorten(reason_of(error)), READABLE)


def page_text(path: Path) -> str:
    """The text of a page; nothing of one that cannot be read, of which `check` speaks."""
    try:
        return read_text(path, MAX_PAGE_BYTES)
    except (OSError, UnicodeDecodeError):
        return ""


def _of_page(text: str, file: str) -> Iterator[Finding]:
    reasons, numbers = _reasons(text), typed_numbers(text)
    for line, words in numbers:
        if not reasons.get(line):
            yield Finding(Problem(file, line, 1, NAME, f"the typed number '{words}'", *COMPUTED))
    for line in reasons.keys() - {line for line, _ in numbers}:
        yield Finding(Problem(file, line, 1, NAME, "a reason for a typed number", *REASON))


def _reasons(text: str) -> dict[int, str]:
    """Line -> reason."""
    return {_line_of(text, match): match["why"] for match in _REASON.finditer(text)}


def _pages(docs: Path) -> list[Path]:
    pages = sorted(docs.rglob("*.md"))
    return [path for path in pages if path.relative_to(docs).parts[0] not in EXEMPT]
