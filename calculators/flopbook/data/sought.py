"""Chips without an entry: when figures of them were looked for, where, and what was found instead.

The only reader of `accelerators/sought.yaml`. A reader who misses a chip sees that it was not
forgotten, and a contributor sees where not to look again.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import library, per_library
from flopbook.data.records import read_checked, with_dates
from flopbook.errors import show_path

FILE = "sought.yaml"


class Sought(NamedTuple):
    """A chip that was looked for in vain on the day `as_of`."""

    name: str
    maker: str
    as_of: datetime.date
    where: str
    found: str
    file: str = ""
    line: int = 1


def read_sought(path: Path) -> tuple[Sought, ...]:
    """All chips of a file. Raises DataError with every problem; a missing file has none."""
    if not path.is_file():
        return ()
    document, file = read_checked(path, "sought"), show_path(path)
    rows, nodes = with_dates(document.plain())["chips"], document.value["chips"].value
    return tuple(
        Sought(**row, file=file, line=node.line) for row, node in zip(rows, nodes, strict=True)
    )


@per_library
def sought() -> tuple[Sought, ...]:
    """All chips of the library in use that were looked for in vain. Raises DataError."""
    return read_sought(library().accelerators / FILE)
