"""Annotations of papers: which give a figure, whose papers print none, and which nobody looked up.

All three are counted, so that neither the share nor the looking up can sink unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from flopbook.data.reference import Reference

PAPER = "paper"
# What is numbered, not measured: a year; Llama 3 or Table 2 inside a sentence; section 4.
_NUMBERED = re.compile(
    r"\b(?:19|20)\d\d\b"
    r"|(?<=[^.!?:] )[A-Z][\w.+-]*[ -]\d[\d.]*\b"
    r"|\b(?:chapter|level|section|stage|step|version)s? \d[\d.]*\b"
)
# A digit that begins a number; that of H100 or of FP8 is part of a name.
_DIGITS = re.compile(r"(?<![\w.-])[~$]?\d")
_IN_WORDS = re.compile(
    r"\b(?:twice|half|halv(?:e|es|ed|ing)|(?:third|quarter|fifth|tenth)s?|dozens?"
    r"|doubl(?:e|es|ed|ing)|(?:two|three|four|five|ten|twenty|hundred|thousand)fold"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|twenty) times"
    r"|(?:hundred|thousand|million|billion|trillion)s?)\b",
    re.IGNORECASE,
)


class FigureShare(NamedTuple):
    """Annotations of papers: with a figure, without as the paper prints none, and all."""

    with_figure: int
    none_printed: int
    total: int

    @property
    def not_yet_read(self) -> int:
        """Papers of which nobody has said whether they print a figure."""
        return self.total - self.with_figure - self.none_printed

    def __str__(self) -> str:
        share = 100 * self.with_figure / self.total if self.total else 100.0
        return (
            f"{self.with_figure:,} of {self.total:,} annotations of papers give a figure "
            f"({share:.1f} %); {self.none_printed:,} were read and print none, "
            f"{self.not_yet_read:,} are not yet read"
        )


def gives_figure(annotation: str) -> bool:
    """Whether a text has a quantity, in digits or in words, and not only names and years."""
    return bool(_DIGITS.search(_NUMBERED.sub("", annotation)) or _IN_WORDS.search(annotation))


def without_figure(works: Iterable[Reference]) -> list[Reference]:
    """The papers among these works whose annotation gives no figure, in their order."""
    return [work for work in works if work.kind == PAPER and not gives_figure(work.annote)]


def figure_share(works: Iterable[Reference]) -> FigureShare:
    """The papers among these works, counted by whether their annotation gives a figure."""
    papers = [work for work in works if work.kind == PAPER]
    without = without_figure(papers)
    none_printed = sum(bool(work.nofigure) for work in without)
    return FigureShare(len(papers) - len(without), none_printed, len(papers))
