"""Every chip has the values that the calculators need, or says that they are not published and what
was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.accelerators import Entry
from flopbook.errors import Problem

NAME = "needed"
FIELDS = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power")
SAID = (
    "a value, or the words: not published",
    "add the claim with its source, or with what was looked at",
)


def check(data: Data) -> Iterator[Finding]:
    """Chips that are silent about a needed value."""
    for entry in data.entries.values():
        if entry.computes:
            for field in (*_missing(entry), *(["date"] if not _dated(entry) else [])):
                words = "announced or launched" if field == "date" else field
                yield Finding(Problem(entry.file, 1, 1, NAME, f"no {words}", *SAID))


def _missing(entry: Entry) -> list[str]:
    here = {c.field for c in entry.claims if c.field != "peak" or c.engine == "tensor"}
    return [field for field in FIELDS if field not in here]


def _dated(entry: Entry) -> bool:
    return any(c.field in ("announced", "launched") for c in entry.claims)
