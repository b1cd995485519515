"""Prose types no number with a unit: an expression computes it, so that a corrected value corrects
every sentence.

Small counts that define something or go on fingers may be typed. Any other typed number needs its
reason on its line, `{# typed: the title of a talk #}`, which the build removes; a reason that
nothing needs is a problem too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.library import library
from flopbook.errors import Problem, show_path

NAME = "typed"
FINGERS = 16  # the largest count that may be typed: of bytes, bits, tokens, chips ... but never of GB or FLOP/s
EXEMPT = ("contributing",)  # shows how values are written

_COUNTS = (
    r"bits?|bytes?|FLOP|OP|tokens?|param(?:eter)?s?|weights?|chips?|devices?|GPUs?|TPUs?|cards?|nodes?|layers?|heads?"
    r"|experts?|sequences?|operations?|instructions?|cycles?|elements?|stages?|micro-batches|steps?"
)
_MEASURES = (
    r"[kMGTPEZ]i?(?:B|bit|FLOP|OP)(?:/s)?|[kMGT]?Wh?|[kMGT]?Hz|[kMGTm]?J|[nµm]s|(?<=\s)s|(?:bit|byte|FLOP|OP)s?/(?:s|byte)"
    r"|TFLOPS|PF-days?|percent|%|(?:nano|micro|milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|dollars?|mm|nm"
)
_TYPED = re.compile(
    rf"(?<![\w.$-])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<size>\s(?:thousand|million|billion|trillion))?[\s\u00a0]?"
    rf"(?:(?P<count>{_COUNTS})|(?P<measure>{_MEASURES}))(?![\w/])"
)
_REASON = re.compile(r"\{#-?\s*typed:\s*(?P<why>[^#]*?)\s*-?#\}")
# What is not prose: code, expressions, maths, comments, addresses, tags.
_OTHER = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)[^\n]*$|`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\$\$.*?\$\$|\$[^$\n]+\$"
    r"|\]\([^)\n]*\)|<[^>\n]*>",
    re.S | re.M,
)
# Expressions that print no number: names, links, pictures, forms.
_WORDS = re.compile(
    r"\{\{-?\s*(?:(?:cite|form|figure|exercise|chapters|roofline|entry)\(.*|(?:chip|model)\([^()]*\)\s*|\"[^\"]*\"\s*)-?\}\}",
    re.S,
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.S)


class Share(NamedTuple):
    """How many numbers of the prose are computed, how many are typed, and how many of those have a
    reason.
    """

    bound: int
    typed: int
    excused: int

    def __str__(self) -> str:
        total = self.bound + self.typed
        share = 100 * self.bound / total if total else 100.0
        return (
            f"{self.bound:,} of {total:,} numbers with units in docs/ are computed ({share:.1f} %)"
        )


def typed_numbers(text: str) -> list[tuple[int, str]]:
    """Line and words of every number with a unit that a page of prose types."""
    prose = _OTHER.sub(_blank, text)
    found = []
    for match in _TYPED.finditer(prose):
        small = (
            match["count"]
            and not match["size"]
            and match["number"].isdigit()
            and int(match["number"]) <= FINGERS
        )
        if not small:
            found.append((prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split())))
    return found


def _blank(match: re.Match[str]) -> str:
    """As many lines as were taken away; a mark, so that a number before and a unit after do not
    join.
    """
    return "|" + "\n" * match[0].count("\n")


def bound_numbers(text: str) -> int:
    """How many places of a page of prose are expressions that print a number."""
    plain = re.sub(r"\{% raw %\}.*?\{% endraw %\}", "", text, flags=re.S)
    return sum(1 for match in _EXPRESSION.finditer(plain) if not _WORDS.fullmatch(match[0]))


def prose_share() -> Share | None:
    """Computed and typed numbers of all prose of the checkout; None for an installed package, which
    has no prose.
    """
    bound = typed = excused = 0
    for path in _pages():
        text = path.read_text(encoding="utf-8")
        reasons = _reasons(text)
        lines = [line for line, _ in typed_numbers(text)]
        bound, typed = bound + bound_numbers(text), typed + len(lines)
        excused += sum(line in reasons for line in lines)
    return Share(bound, typed, excused) if bound + typed else None


def check(data: Data) -> Iterator[Finding]:
    """Typed numbers without a reason, and reasons without a typed number."""
    for path in _pages():
        text, name = path.read_text(encoding="utf-8"), show_path(path)
        reasons, found = _reasons(text), typed_numbers(text)
        for line, words in found:
            if not reasons.get(line):
                said = (
                    "an expression that computes it",
                    "write {{ ... }}, or {# typed: why #} on this line",
                )
                yield Finding(Problem(name, line, 1, NAME, f"the typed number '{words}'", *said))
        for line in reasons.keys() - {line for line, _ in found}:
            said = ("one that is needed", "remove it: this line types no number with a unit")
            yield Finding(Problem(name, line, 1, NAME, "a reason for a typed number", *said))


def _reasons(text: str) -> dict[int, str]:
    """Line -> reason."""
    return {
        text.count("\n", 0, match.start()) + 1: match["why"] for match in _REASON.finditer(text)
    }


def _pages() -> list[Path]:
    return [
        path
        for path in sorted(library().docs.rglob("*.md"))
        if path.relative_to(library().docs).parts[0] not in EXEMPT
    ]
