"""Counts for `bench.py` what the handbook holds: chapters, words, exercises, figures, notebooks,
claims, numbers.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator

from flopbook.checks.rules.typed import prose_share
from flopbook.ledger.rows import VERDICTS, ledger_rows
from scripts.website import figures
from scripts.website.build import handbook, notebooks
from scripts.website.build.content import _form
from scripts.website.markup import plain
from scripts.website.pages.chapter import exercises
from scripts.website.pages.prose import render


def counts() -> Iterator[tuple[str, str]]:
    """What is counted, and the count in words."""
    texts = {
        one: (handbook.DOCS / one.page).read_text(encoding="utf-8") for one in handbook.chapters()
    }
    shown = [render(text, one.page, one.page, {"form": _form}) for one, text in texts.items()]
    levels = collections.Counter(item.level for text in texts.values() for item in exercises(text))
    verdicts = collections.Counter(row.verdict for row in ledger_rows())
    yield "chapters", f"{len(texts)}"
    yield "words as shown", f"{sum(words(text) for text in shown):,}"
    yield (
        "exercises",
        f"{levels.total()} ({', '.join(f'{level} {n}' for level, n in levels.items())})",
    )
    yield (
        "figures shown",
        f"{sum(text.count('<figure') for text in shown)} of {len(figures.figure_names())} modules",
    )
    yield "notebooks", f"{len(notebooks.sources())}"
    yield (
        "claims",
        f"{verdicts.total()} ({', '.join(f'{name} {verdicts[name]}' for name in VERDICTS)})",
    )
    yield "computed numbers", str(prose_share())


def words(text: str) -> int:
    """The words of a rendered chapter, pictures and code left out."""
    return len(
        plain(re.sub(r"\A---\n.*?\n---\n|<svg.*?</svg>|```.*?```", " ", text, flags=re.S)).split()
    )
