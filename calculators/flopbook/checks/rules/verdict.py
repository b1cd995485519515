"""Every row of the ledger comes out as it says, and quotes the source that it speaks against."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_row
from flopbook.data.library import using
from flopbook.errors import DataError
from flopbook.ledger.rows import MISLEADING
from flopbook.ledger.verdicts import judge

NAME = "verdict"
ADVICE = Advice("a verdict that stands", "mend the row")
QUOTE = Advice(
    "the words or the number of the source, quoted", "write them into 'stated: {text: ...}'"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Rows whose verdict does not stand, or speaks against words that nobody sees."""
    for row in holdings.ledger:
        # What a tool computes, a defect, is no text: its row says how it was seen.
        if row.verdict in MISLEADING and row.defect is None and not row.stated.text:
            found = f"{row.id}: verdict {row.verdict} without a quote"
            yield at_row(NAME, row, found, QUOTE)
        try:
            # Its expressions name chips and models: calculators look into the library in use.
            with using(holdings.library):
                messages = judge(row)
        except DataError:  # reported already, at the place that is wrong
            continue
        for message in messages:
            yield at_row(NAME, row, f"{row.id}: {message}", ADVICE)
