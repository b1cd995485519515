"""Counts what the handbook holds: chapters, words, exercises, figures, notebooks and claims."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Iterator

from flopbook.checks.lint import prose_share
from flopbook.ledger.rows import VERDICTS, ledger_rows
from scripts.website import figures
from scripts.website.build import handbook, notebooks
from scripts.website.build.content import _form
from scripts.website.markup import plain
from scripts.website.pages.chapter import exercises
from scripts.website.pages.prose import render

# The head of a page, pictures and code: a reader does not read them as sentences.
_NOT_WORDS = re.compile(r"\A---\n.*?\n---\n|<svg.*?</svg>|```.*?```", re.DOTALL)


def counts() -> Iterator[tuple[str, str]]:
    """What is counted, and the count in words."""
    texts = {
        chapter.page: (handbook.DOCS / chapter.page).read_text(encoding="utf-8")
        for chapter in handbook.chapters()
    }
    shown = [render(text, page, page, {"form": _form}) for page, text in texts.items()]
    levels = collections.Counter(
        exercise.level for text in texts.values() for exercise in exercises(text)
    )
    verdicts = collections.Counter(row.verdict for row in ledger_rows())
    figures_shown = sum(text.count("<figure") for text in shown)
    yield "chapters", f"{len(texts)}"
    yield "words as shown", f"{sum(map(words, shown)):,}"
    yield "exercises", _with_shares(levels, levels)
    yield "figures shown", f"{figures_shown} of {len(figures.figure_names())} modules"
    yield "notebooks", f"{len(notebooks.sources())}"
    yield "claims", _with_shares(verdicts, VERDICTS)
    yield "computed numbers", str(prose_share())


def _with_shares(counter: collections.Counter[str], names: Iterable[str]) -> str:
    """The sum, and how many there are of each name."""
    shares = ", ".join(f"{name} {counter[name]}" for name in names)
    return f"{counter.total()} ({shares})"


def words(text: str) -> int:
    """The words of a rendered chapter, pictures and code left out."""
    return len(plain(_NOT_WORDS.sub(" ", text)).split())
