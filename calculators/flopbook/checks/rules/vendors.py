"""Each vendor's folder has a vendor.yaml."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, vendor_file
from flopbook.data.library import vendor_ids
from flopbook.errors import Problem

NAME = "vendor"


def check(data: Data) -> Iterator[Finding]:
    """Entries whose vendor nobody has described."""
    without = {name.partition("/")[0] for name in data.entries} - set(vendor_ids())
    for name in sorted(without):
        said = ("no vendor.yaml", "one for each vendor", "describe the vendor")
        yield Finding(Problem(vendor_file(name), 1, 1, NAME, *said))
