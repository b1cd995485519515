"""The file of links that fail can be read, and its days are days that have been."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.library import library, link_statuses
from flopbook.data.link_status import FILE
from flopbook.data.schema import is_date
from flopbook.errors import Problem, shorten, show_path

NAME = "link-status"


def check(data: Data) -> Iterator[Finding]:
    """Rows with a day that is none; what makes the file unreadable is raised as DataError."""
    latest = (datetime.date.today() + datetime.timedelta(days=1)).isoformat()
    for row in link_statuses().values():
        if not is_date(row.checked) or row.checked > latest:
            found = f"checked '{shorten(row.checked)}' of {shorten(row.url)}"
            said = (
                "a day that has been, as YYYY-MM-DD",
                "python -m scripts.check_links --write-status writes it",
            )
            yield Finding(
                Problem(show_path(library().bibliography / FILE), 1, 1, NAME, found, *said)
            )
