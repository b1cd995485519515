"""Statements of sources behind a chapter: the rows of the ledger that belong to its matter."""

from __future__ import annotations

import re

from flopbook.evaluation.answers import counted
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.markup import Html, Markdown, page_text, relative
from scripts.website.pages.errata import PAGE, VERDICT_WORDS, claim_page
from scripts.website.pages.sources import cite, html_link
from scripts.website.pages.stated import computed_words, said_words, stated_words


def statements_box(text: str, page: str) -> str:
    """What sources state otherwise on the matter of a rendered chapter, in a box that is closed.

    It stands at the end of the chapter, because readers of the text come for the text. Rows to
    which the text itself links are left out; empty without any.
    """
    name = page.rpartition("/")[2].removesuffix(".md")
    rows = [row for row in ledger_rows() if row.chapter == name and row.to_teach]
    # An id is never the beginning of a longer one here: the match must end where the id ends.
    unlinked = [row for row in rows if not re.search(rf"#{row.id}(?![\w-])", text)]
    # What is wrong comes before what is true under an unsaid condition.
    unlinked.sort(key=lambda row: not row.corrected)
    if not unlinked:
        return ""
    title = (
        f"{counted(len(unlinked), 'statement')} published elsewhere, {_corrected_words(unlinked)}"
    )
    use = Markdown(
        "For readers of those sources; the chapter does without them. [All statements]({})"
    ).format(relative(page, PAGE))
    return page_text(
        [
            Markdown('??? note "{}"').format(title),
            Markdown("    {}").format(use),
            Html(),
            *(Markdown("    - {}").format(_statement(row, page)) for row in unlinked),
        ]
    )


def _corrected_words(rows: list[Row]) -> str:
    """How many of them the box corrects; the others hold if what they leave open is as said."""
    corrected = sum(bool(row.corrected) for row in rows)
    if not corrected:
        return "checked"
    if corrected == len(rows):
        return "corrected"
    return f"checked, {corrected} of them corrected"


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
