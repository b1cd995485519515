"""The claims of the five documents that the project grew from.

The documents are not held here: lines go by number.
"""

from __future__ import annotations

import collections

from flopbook.ledger.rows import VERDICTS, Row, ledger_rows
from flopbook.ledger.verdicts import judge
from tests.support.cases import every

# Document, its file and source in the ledger, its lines, and the rows and verdicts that it has at
# least.
SEEDS = {
    "000_b96e0dffd70d35e2.txt": (
        "notes",
        "notes2025parallelism",
        347,
        14,
        {"quoted", "holds", "depends", "typo"},
    ),
    "001_b142a54a5cf9f211.txt": ("notes", "notes2025parallelism", 66, 3, {"quoted"}),
    "002_fe2fe86b10071ac9.txt": ("slides", "slides2025scaling", 1446, 130, set(VERDICTS)),
    "003_c7ee7cb288c606eb.txt": (
        "list",
        "spuler2024parallelization",
        338,
        22,
        {"quoted", "holds", "depends", "typo"},
    ),
    "004_165a6d9f45d7f01d.txt": ("daily-papers", "ak2026daily", 427, 150, set(VERDICTS)),
}
OF_SEEDS = [row for row in ledger_rows() if row.document in SEEDS]
PREFIXES = {"notes": "notes-", "slides": "slides-", "list": "list-", "daily-papers": "daily-"}


def rows_of(document: str) -> list[Row]:
    return [row for row in OF_SEEDS if row.document == document]


def test_there_are_enough() -> None:
    """What was set as the least is 260 rows over the five documents."""
    counts = collections.Counter(row.verdict for row in OF_SEEDS)
    assert len(OF_SEEDS) >= 340 and set(counts) == set(VERDICTS)
    assert counts["does-not-hold"] >= 20 and counts["typo"] >= 20 and counts["depends"] >= 80
    assert sum(bool(row.call) for row in OF_SEEDS) >= 180, "what can be computed is computed"


@every("document", SEEDS)
def test_every_document_is_covered(document: str) -> None:
    file, source, _, least, verdicts = SEEDS[document]
    rows = rows_of(document)
    assert len(rows) >= least and verdicts <= {row.verdict for row in rows}
    assert {row.source for row in rows} == {source}
    assert all(
        row.file.endswith(f"claims/{file}.yaml") and row.id.startswith(PREFIXES[file])
        for row in rows
    )


@every("document", SEEDS)
def test_every_line_is_one_of_the_document(document: str) -> None:
    lines = [row.line for row in rows_of(document)]
    assert all(line is not None and 1 <= line <= SEEDS[document][2] for line in lines)


@every("document", SEEDS)
def test_rows_come_in_the_order_of_the_document(document: str) -> None:
    """Who looks for a claim of a slide finds it between its neighbours.

    The same place may have several rows.
    """
    lines = [row.line or 0 for row in rows_of(document)]
    assert lines == sorted(lines)


@every("row", [row for row in OF_SEEDS if row.verdict == "quoted"])
def test_what_is_only_quoted_has_a_number_and_a_reason(row: Row) -> None:
    """A speed-up without its condition is worth nothing.

    The row says what it is measured on, or what is unsaid.
    """
    assert row.evidence and len(row.why) >= 8 and judge(row) == []
    assert row.stated.value is not None or any(
        sign.isdigit() for sign in row.stated.text + row.statement
    )


def test_no_two_rows_say_the_same() -> None:
    """Each sentence is written once, save for what a later page repeats from an earlier one."""
    said = collections.Counter((row.document, row.statement) for row in OF_SEEDS)
    assert [key for key, times in said.items() if times > 1] == []


def test_what_does_not_hold_says_how_it_came_about() -> None:
    """Most wrong printed numbers are reproduced, which shows that the reason is the right one."""
    wrong = [row for row in OF_SEEDS if row.verdict == "does-not-hold"]
    assert sum(bool(row.reproduces) for row in wrong) >= 0.8 * len(wrong)
