"""Rows that agree with their source, or only repeat it, quote the words or cells of the number."""

from __future__ import annotations

import pytest

from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.pages.stated import said_words
from tests.support.cases import every

# The page of this could not be read again.
UNREAD = {"zero-trillion"}
# Here the number is ours: a quotient of what is quoted, or a power of ten in another prefix.
OURS = {"palm-540b-ratio", "gpt3-ratio", "gpt3-table-flop"}
AGREE = ("quoted", "holds", "rounding")
ROWS = [row for row in ledger_rows() if row.verdict in AGREE and row.id not in UNREAD]
CELLS = [row for row in ROWS if row.source in ("korthikanti2023reducing", "liu2023ring")]


def test_nothing_else_was_left_unread() -> None:
    without = {row.id for row in ledger_rows() if row.verdict in AGREE and not row.stated.text}
    assert without == UNREAD


@every("row", ROWS)
def test_a_quote_is_short(row: Row) -> None:
    assert 0 < len(row.stated.text.split()) <= 25


@pytest.mark.parametrize("row", CELLS, ids=lambda row: row.id)
def test_the_cells_have_the_number_of_the_row(row: Row) -> None:
    assert not said_words(row).startswith("“")


@pytest.mark.parametrize("row", [row for row in ROWS if row.id in OURS], ids=lambda row: row.id)
def test_a_number_of_ours_stands_beside_the_words(row: Row) -> None:
    assert said_words(row).startswith("“")
