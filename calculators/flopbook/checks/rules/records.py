"""A measurement of our own names the file that records it, and that file exists.

Whoever publishes elsewhere has an address. What we measured ourselves has a file of rows in this
repository, which anyone can measure again: the entry says with which command, and when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.reference import Reference
from flopbook.errors import shorten

NAME = "record"
# In the folder of runs and nowhere else: a name that leads out of it is no name of a file there.
_FILE = re.compile(r"calculators/runs/([a-z0-9][a-z0-9.-]*)\.yaml")
_ELSEWHERE = ("doi", "eprint", "url")
FILE = Advice("a file of calculators/runs/ that cites this entry", "name it, or give an address")
ALONE = Advice("a record or an address, not both", "cite what others published at its address")
SAID = Advice("the command and the machine in note, the day in urldate", "say how it was measured")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Records that nobody could open, and measurements that nobody could repeat."""
    for reference in holdings.references.values():
        if reference.record:
            yield from _of_record(holdings, reference)


def _of_record(holdings: Holdings, reference: Reference) -> Iterator[Finding]:
    place = f"'{shorten(reference.record)}' of {reference.key}"
    if not _is_cited(holdings, reference):
        yield at_reference(NAME, reference, f"record {place}", FILE)
    published = [name for name in _ELSEWHERE if getattr(reference, name)]
    if published:
        yield at_reference(NAME, reference, f"record {place} beside {published[0]}", ALONE)
    if not (reference.note and reference.urldate):
        observed = f"record {place} without its method"
        yield at_reference(NAME, reference, observed, SAID)


def _is_cited(holdings: Holdings, reference: Reference) -> bool:
    """Whether the file of runs can be read and takes its rows from this very entry."""
    name = _FILE.fullmatch(reference.record)
    if name is None or "runs" in holdings.unreadable:
        return name is not None  # an unreadable file is another problem's to report
    file = holdings.runs.get(name[1])
    return file is not None and reference.key in {cited.source for cited in file.sources.values()}
