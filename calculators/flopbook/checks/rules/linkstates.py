"""The days in the file of links that fail are days that have been."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.checks.rules.dates import latest_day
from flopbook.data.link_status import FILE
from flopbook.data.schema_words import is_date
from flopbook.errors import shorten, show_path

NAME = "link-status"
ADVICE = Advice(
    "a day that has been, as YYYY-MM-DD", "python -m scripts.check_links --write-status writes it"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Rows with a day that is none."""
    latest = latest_day().isoformat()
    for row in holdings.link_statuses.values():
        if not is_date(row.checked) or row.checked > latest:
            observed = f"checked '{shorten(row.checked)}' of {shorten(row.url)}"
            yield at_file(NAME, show_path(holdings.bibliography / FILE), observed, ADVICE)
