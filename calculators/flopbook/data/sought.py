"""What was looked for in vain: chips without an entry, and newer prices of chips that have one.

The only reader of `accelerators/sought.yaml`. A reader who misses a chip sees that it was not
forgotten, and a contributor sees where not to look again.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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


class SoughtPrices(NamedTuple):
    """Chips of which no newer list price was found on the day `as_of`."""

    chips: tuple[str, ...]
    as_of: datetime.date
    where: str
    found: str
    file: str = ""
    line: int = 1


def read_sought(path: Path) -> tuple[Sought, ...]:
    """All chips of a file. Raises DataError with every problem; a missing file has none."""
    return tuple(Sought(**row) for row in _rows(path, "chips"))


def read_sought_prices(path: Path) -> tuple[SoughtPrices, ...]:
    """All prices of a file. Raises DataError with every problem; a missing file has none."""
    return tuple(
        SoughtPrices(**row | {"chips": tuple(row["chips"])}) for row in _rows(path, "prices")
    )


def _rows(path: Path, section: str) -> Iterator[dict[str, Any]]:
    """The rows under a heading of the file, each with the file and line where it is written."""
    if not path.is_file():
        return
    document, file = read_checked(path, "sought"), show_path(path)
    if section not in document.value:
        return
    rows, nodes = with_dates(document.plain())[section], document.value[section].value
    for row, node in zip(rows, nodes, strict=True):
        yield row | {"file": file, "line": node.line}


@per_library
def sought() -> tuple[Sought, ...]:
    """All chips of the library in use that were looked for in vain. Raises DataError."""
    return read_sought(library().accelerators / FILE)


@per_library
def sought_prices() -> tuple[SoughtPrices, ...]:
    """All prices of the library in use that were looked for in vain. Raises DataError."""
    return read_sought_prices(library().accelerators / FILE)
