"""What clouds ask for an hour of a chip: list prices, each with its provider and its day.

The only reader of `accelerators/prices.yaml`. A price belongs to a provider and a day, not to the
chip, so it lies beside the entries and not in them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.claims import Claim
from flopbook.data.library import library, per_library
from flopbook.errors import show_path

FILE = "prices.yaml"
ON_DEMAND = "on-demand"


class Price(NamedTuple):
    """One list price: `value` USD/h for an offer of `chips` chips, hosts included.

    `date` is the day on which the provider asked it, `as_of` the day on which we read it.
    """

    chip: str
    provider: str
    offer: str
    chips: float
    region: str
    terms: str
    value: float
    unit: str
    date: datetime.date
    source: str
    as_of: datetime.date
    quote: str = ""
    locator: str = ""
    note: str = ""
    file: str = ""
    line: int = 1

    @property
    def per_chip(self) -> float:
        """USD/h of one chip with its share of the host."""
        return self.value / self.chips

    @property
    def claim(self) -> Claim:
        """The price of one chip as a claim, for whoever asks where an input is from."""
        return Claim(
            "price",
            self.per_chip,
            self.source,
            self.as_of,
            unit=self.unit,
            quote=self.quote,
            locator=self.locator,
            name=f"{self.provider} {self.offer}",
            note=self.note,
            file=self.file,
            line=self.line,
        )


def read_prices(path: Path) -> tuple[Price, ...]:
    """All prices of a file. Raises DataError with every problem; a missing file has none."""
    if not path.is_file():
        return ()
    from flopbook.data.records import read_checked, with_dates

    document, file = read_checked(path, "prices"), show_path(path)
    rows, nodes = with_dates(document.plain())["prices"], document.value["prices"].value
    return tuple(_price(row, file, node.line) for row, node in zip(rows, nodes, strict=True))


def _price(row: Mapping[str, Any], file: str, line: int) -> Price:
    day = datetime.date.fromisoformat(row["date"])
    return Price(**{**row, "date": day}, file=file, line=line)


@per_library
def prices() -> tuple[Price, ...]:
    """All prices of the library in use. Raises DataError."""
    return read_prices(library().accelerators / FILE)
