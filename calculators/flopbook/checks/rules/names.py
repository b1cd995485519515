"""An alias or device name belongs to one entry: one that two share could not be looked up."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, locate
from flopbook.errors import Problem, shorten

NAME = "alias"


def check(data: Data) -> Iterator[Finding]:
    """Names that two entries, or two models, have."""
    taken = {name.partition("/")[2]: name for name in data.entries}
    vendor_of = {name: name.partition("/")[0] for name in data.entries}
    for entry in data.entries.values():
        for alias in (*entry.aliases, *(name.lower() for name in entry.device_names)):
            other = taken.setdefault(alias, entry.id)
            if other != entry.id and (
                vendor_of.get(other) == entry.vendor or alias not in entry.aliases
            ):
                yield _shared(entry.file, alias, "a name of one entry", other)
    owners = {name: name for name in data.models}
    for model in data.models.values():
        for alias in model.aliases:
            if (other := owners.setdefault(alias, model.id)) != model.id:
                yield _shared(model.file, alias, "a name of one model", other)


def _shared(file: str, alias: str, expected: str, other: str) -> Finding:
    return Finding(
        Problem(*locate(file, alias), NAME, f"'{shorten(alias)}'", expected, f"{other} has it too")
    )
