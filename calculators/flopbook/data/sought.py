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
from flopbook.data.yaml_text import Node
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


class Searches(NamedTuple):
    """All that was looked for in vain."""

    chips: tuple[Sought, ...] = ()
    prices: tuple[SoughtPrices, ...] = ()


def read_searches(path: Path) -> Searches:
    """The searches of a file. Raises DataError with every problem; a missing file has none."""
    if not path.is_file():
        return Searches()
    document, file = read_checked(path, "sought"), show_path(path)
    prices = (row | {"chips": tuple(row["chips"])} for row in _rows(document, "prices"))
    return Searches(
        tuple(Sought(**row, file=file) for row in _rows(document, "chips")),
        tuple(SoughtPrices(**row, file=file) for row in prices),
    )


def _rows(document: Node, section: str) -> Iterator[dict[str, Any]]:
    """The rows under a heading of the file, each with the line where it is written."""
    if section not in document.value:
        return
    rows, nodes = with_dates(document.plain())[section], document.value[section].value
    for row, node in zip(rows, nodes, strict=True):
        yield row | {"line": node.line}


@per_library
def searches() -> Searches:
    """What was looked for in vain by those who keep the library in use. Raises DataError."""
    return read_searches(library().accelerators / FILE)
