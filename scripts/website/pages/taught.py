"""Statements of sources at the mistakes of a chapter: the rows of the ledger that belong to it."""

from __future__ import annotations

import re

from flopbook.evaluation.answers import counted
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.markup import Html, Markdown, page_text
from scripts.website.pages.errata import VERDICT_WORDS, claim_page
from scripts.website.pages.sources import cite, html_link
from scripts.website.pages.stated import computed_words, said_words, stated_words

# The exercises follow the common mistakes in every chapter; a test holds that order.
_BEFORE = "\n## Exercises"


def with_statements(text: str, page: str) -> str:
    """A rendered chapter with what sources state otherwise, in a box after its common mistakes.

    Rows to which the text itself links are left out.
    """
    name = page.rpartition("/")[2].removesuffix(".md")
    rows = [row for row in ledger_rows() if row.chapter == name and row.to_teach]
    # An id is never the beginning of a longer one here: the match must end where the id ends.
    unlinked = [row for row in rows if not re.search(rf"#{row.id}(?![\w-])", text)]
    if not unlinked or _BEFORE not in text:
        return text
    count = counted(len(unlinked), "statement")
    box = page_text(
        [
            Markdown('\n??? warning "{} of sources to read with care"').format(count),
            Html(),
            *(Markdown("    - {}").format(_statement(row, page)) for row in unlinked),
            Html(),
        ]
    )
    return text.replace(_BEFORE, box + _BEFORE, 1)


def _statement(row: Row, page: str) -> Html:
    """One row in a line: what is stated, what is right, why, and who says it."""
    slip = row.verdict == "typo"
    stated = said_words(row)
    sentences = [row.statement]
    # Most statements say their figure already.
    if stated and stated not in row.statement:
        sentences.append(f"Stated: {stated}.")
    if row.corrected:
        correction = stated_words(row.corrected, words_first=slip)
        sentences.append(Html("Correct: <strong>{}</strong>.").format(correction))
    elif row.call and (computed := computed_words(row)) != stated:
        sentences.append(f"Computed: {computed}.")
    if row.assumption:
        sentences.append(f"Left open: {row.assumption}")
    verdict = Html('<a href="{}">{}</a>').format(
        html_link(page, claim_page(row)), VERDICT_WORDS[row.verdict]
    )
    source = Html("({}, {}; {})").format(cite(row.source, page), row.where, verdict)
    return Html(" ").join([*sentences, row.why, source])
