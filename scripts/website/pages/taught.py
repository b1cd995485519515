"""What sources state otherwise: at the mistakes of a chapter, the rows of the ledger that belong to
it.
"""

from __future__ import annotations

import re

from flopbook.drawing.markup import escape
from flopbook.evaluation.answers import counted
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.pages.errata import VERDICT_WORDS, claim_page, computed_words, stated_words
from scripts.website.pages.sources import cite, html_link

_BEFORE = "\n## Exercises"


def with_statements(text: str, page: str) -> str:
    """A rendered chapter with what sources state otherwise at the end of its common mistakes, in a
    box that opens.

    Rows that the text itself speaks of, by a link to them, are not said twice.
    """
    name = page.rpartition("/")[2].removesuffix(".md")
    rows = [row for row in ledger_rows() if row.chapter == name and row.to_teach]
    rest = [row for row in rows if not re.search(rf"#{row.id}(?![\w-])", text)]
    if not rest or _BEFORE not in text:
        return text
    lines = [f'??? warning "{counted(len(rest), "statement")} of sources to read with care"', ""]
    lines += [f"    - {_statement(row, page)}" for row in rest]
    return text.replace(_BEFORE, "\n" + "\n".join(lines) + "\n" + _BEFORE, 1)


def _statement(row: Row, page: str) -> str:
    """One row in a line: what is stated, what is right, why, and who says it."""
    slip = row.verdict == "typo"
    parts = [escape(row.statement)]
    stated = stated_words(row.stated, words_first=slip)
    if stated and stated not in row.statement:
        parts.append(f"Stated: {escape(stated)}.")
    if row.corrected:
        parts.append(
            f"Correct: <strong>{escape(stated_words(row.corrected, words_first=slip))}</strong>."
        )
    elif row.call and (computed := computed_words(row)) != stated:
        parts.append(f"Computed: {escape(computed)}.")
    parts += [f"Unsaid: {escape(row.assumption)}"] if row.assumption else []
    link = f'<a href="{html_link(page, claim_page(row))}">{VERDICT_WORDS[row.verdict]}</a>'
    return " ".join(
        [*parts, escape(row.why), f"({cite(row.source, page)}, {escape(row.where)}; {link})"]
    )
