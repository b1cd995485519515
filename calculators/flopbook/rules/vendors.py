"""Each vendor's folder has a vendor.yaml."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.entries import vendor_ids
from flopbook.problems import Problem
from flopbook.rules.base import Data, Finding, vendor_file

NAME = "vendor"


def check(data: Data) -> Iterator[Finding]:
    """Entries whose vendor nobody has described."""
    without = {name.partition("/")[0] for name in data.entries} - set(vendor_ids())
    for name in sorted(without):
        said = ("no vendor.yaml", "one for each vendor", "describe the vendor")
        yield Finding(Problem(vendor_file(name), 1, 1, NAME, *said))
