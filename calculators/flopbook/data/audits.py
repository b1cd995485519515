"""Sheets of audits: values that were looked up anew, with verdicts; the only reader of `audits/`.

The name of a file says when the audit was done and which seed drew its values:
`accelerators/audits/2026-11-23-seed-2311.csv`.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import read_text
from flopbook.data.library import library, per_library
from flopbook.errors import DataError, Problem, reason_of, shorten, show_path

FOLDER = "audits"
EXAMPLE = "2026-11-23-seed-2311.csv"
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})-seed-(\d{1,9})")
_MOST_BYTES = 10_000_000


class AuditSheet(NamedTuple):
    """A filled sheet as CSV, with its day and the seed of its sample."""

    date: datetime.date
    seed: int
    text: str
    file: str


@per_library
def audit_sheets() -> tuple[AuditSheet, ...]:
    """All audits of the library in use, the oldest first.

    Raises DataError for a file that is misnamed or cannot be read.
    """
    paths = sorted((library().accelerators / FOLDER).glob("*.csv"))
    return tuple(sorted(map(read_sheet, paths), key=lambda sheet: sheet.date))


def joined(sheets: Iterable[AuditSheet]) -> str:
    """One CSV of all sheets, each row with the day and the seed of its audit in front."""
    rows = [
        {"date": str(sheet.date), "seed": str(sheet.seed), **row}
        for sheet in sheets
        for row in csv.DictReader(io.StringIO(sheet.text))
    ]
    out = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(out, tuple(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read_sheet(path: Path) -> AuditSheet:
    """A filled sheet. Raises DataError for one that is misnamed or cannot be read."""
    file = show_path(path)
    named = date_and_seed(path.stem)
    if named is None:
        raise _refused(path.stem, file)
    try:
        return AuditSheet(*named, read_text(path, _MOST_BYTES), file)
    except (OSError, UnicodeDecodeError) as error:
        observed = shorten(reason_of(error))
        expected, mend = "a readable sheet in UTF-8", "put a file of its own in its place"
        problem = Problem(file, 1, 1, "audit", observed, expected, mend)
        raise DataError([problem]) from None


def date_and_seed(stem: str) -> tuple[datetime.date, int] | None:
    """What the name of a sheet says; None for another name, and for a day that no calendar has."""
    match = _NAME.fullmatch(stem)
    try:
        return (datetime.date.fromisoformat(match[1]), int(match[2])) if match else None
    except ValueError:
        return None


def _refused(stem: str, file: str) -> DataError:
    form = f"its day and seed, such as {EXAMPLE}"
    return DataError([Problem(file, 1, 1, "audit", f"the name {stem}", form, "rename the sheet")])
