"""Every sheet of an audit can be read and counted: pages give its rate."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.audit import check_form
from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.audits import FOLDER, date_and_seed, read_sheet
from flopbook.errors import DataError, FlopbookError, shorten, show_path

NAME = "audit"
COUNTED = Advice("a sheet of flopbook audit with its verdicts", "fill it in, or remove it")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Sheets that cannot be read, and those that cannot be counted."""
    for path in sorted((holdings.accelerators / FOLDER).glob("*.csv")):
        if date_and_seed(path.stem) is None:  # the rule of files says so
            continue
        try:
            check_form(read_sheet(path).text)
        except DataError as error:
            yield from map(Finding, error.problems)
        except FlopbookError as error:
            yield at_file(NAME, show_path(path), shorten(error, 160), COUNTED)
