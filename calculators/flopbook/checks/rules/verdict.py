"""Every row of the ledger comes out as it says."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_row
from flopbook.data.library import using
from flopbook.errors import DataError
from flopbook.ledger.verdicts import judge

NAME = "verdict"
ADVICE = Advice("a verdict that stands", "mend the row")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Rows whose verdict does not stand."""
    for row in holdings.ledger:
        try:
            # Its expressions name chips and models: calculators look into the library in use.
            with using(holdings.library):
                messages = judge(row)
        except DataError:  # reported already, at the place that is wrong
            continue
        for message in messages:
            yield at_row(NAME, row, f"{row.id}: {message}", ADVICE)
