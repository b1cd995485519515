"""Every sheet of an audit can be read and counted, and holds text that spreadsheets only show.

Pages give its rate and lead to it, and people open it with programs that run what begins with `=`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from flopbook.checks.audit import check_form
from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.audits import FOLDER, AuditSheet, date_and_seed, read_sheet
from flopbook.data.contributed_text import text_problems
from flopbook.data.sheets import csv_safe
from flopbook.data.yaml_text import Node
from flopbook.errors import DataError, FlopbookError, Problem, shorten, show_path

NAME = "audit"
LONGEST_CELL = 1000  # characters
_SIGNED_NUMBER = re.compile(r"[+-][\d.,]+(?: ?%| [A-Za-z/]{1,20})?", re.ASCII)
COUNTED = Advice("a sheet of flopbook audit with its verdicts", "fill it in, or remove it")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Sheets that cannot be read, and those that cannot be counted."""
    for path in sorted((holdings.accelerators / FOLDER).glob("*.csv")):
        if date_and_seed(path.stem) is None:  # the rule of files says so
            continue
        try:
            sheet = read_sheet(path)
            check_form(sheet.text)
            yield from map(Finding, _of_cells(sheet))
        except DataError as error:
            yield from map(Finding, error.problems)
        except FlopbookError as error:
            yield at_file(NAME, show_path(path), shorten(error, 160), COUNTED)


def _of_cells(sheet: AuditSheet) -> Iterator[Problem]:
    """Cells with markup or hidden characters, those that a spreadsheet would run, and long ones."""
    rows = csv.reader(io.StringIO(sheet.text))
    for row in rows:
        line = rows.line_num
        yield from text_problems(Node([Node(cell, line, 1) for cell in row], line, 1), sheet.file)
        for cell in row:
            place = (sheet.file, line, 1, NAME)
            if csv_safe(cell) != cell and not _SIGNED_NUMBER.fullmatch(cell):
                expected = "no formula of a spreadsheet"
                mend = "put an apostrophe before it"
                yield Problem(*place, f"the cell {shorten(cell, 30)}", expected, mend)
            if len(cell) > LONGEST_CELL:
                expected = f"at most {LONGEST_CELL:,}"
                yield Problem(*place, f"{len(cell):,} characters in a cell", expected, "say less")
