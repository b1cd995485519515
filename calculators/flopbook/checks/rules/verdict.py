"""Every row of the ledger comes out as it says."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.errors import DataError, Problem
from flopbook.ledger.rows import judge, ledger_rows

NAME = "verdict"


def check(data: Data) -> Iterator[Finding]:
    """Rows whose verdict does not stand."""
    for row in ledger_rows():
        try:
            found = judge(row)
        except DataError:  # reported already, at the place that is wrong
            continue
        for message in found:
            said = (f"{row.id}: {message}", "a verdict that stands", "mend the row")
            yield Finding(Problem(row.file, row.file_line, 1, NAME, *said))
