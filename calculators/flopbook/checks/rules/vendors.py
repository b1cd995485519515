"""Each vendor's folder has a vendor.yaml."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file

NAME = "vendor"
ADVICE = Advice("one for each vendor", "describe the vendor")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Entries whose vendor nobody has described."""
    folders = {entry_id.partition("/")[0] for entry_id in holdings.entries}
    for vendor_id in sorted(folders - set(holdings.vendor_ids)):
        yield at_file(NAME, holdings.vendor_file(vendor_id), "no vendor.yaml", ADVICE)
