"""Every key that the data cites is in the bibliography, and a source of values says who speaks (its
tier).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from flopbook.checks.rules.base import Data, Finding, locate, vendor_file
from flopbook.data.library import library, references, topics
from flopbook.data.vendors import READING
from flopbook.errors import Problem, show_path
from flopbook.ledger.rows import ledger_rows

NAME = "source"
Find = Callable[[str], tuple[str, int, int]]


def check(data: Data) -> Iterator[Finding]:
    """Keys that no entry of the bibliography has."""
    known = references()
    for key, find in _used(data):
        if key not in known:
            said = (f"'{key}'", "a key of bibliography/*.bib", "add the reference or mend the key")
            yield Finding(Problem(*find(key), NAME, *said))
    for owner in (*data.entries.values(), *data.models.values()):
        for key in sorted({claim.source for claim in owner.claims} & known.keys()):
            if not known[key].tier:
                said = (
                    f"no tier in '{key}', a source of values",
                    "who says it",
                    "give the reference a 'tier'",
                )
                yield Finding(Problem(known[key].file, known[key].line, 1, NAME, *said))


def _used(data: Data) -> Iterator[tuple[str, Find]]:
    """Every key in use, with what finds its place when the key is unknown."""
    for owner in (*data.entries.values(), *data.models.values()):
        for claim in owner.claims:
            yield claim.source, lambda _, c=claim: (c.file, c.line, 1)
    for entry in data.entries.values():
        yield from ((status.source, partial(locate, entry.file)) for status in entry.status)
    for one in data.vendors.values():
        keys = (
            *(fact.source for fact in one.facts),
            *(key for kind in READING for key in getattr(one, kind)),
        )
        yield from ((key, partial(locate, vendor_file(one.id))) for key in keys)
    for row in ledger_rows():
        yield from (
            (key, lambda _, r=row: (r.file, r.file_line, 1)) for key in (row.source, *row.evidence)
        )
    file = show_path(library().bibliography / "topics.yaml")
    for topic in (topic for top in topics() for topic in top.walk()):
        yield from ((key, partial(locate, file)) for key in topic.start_here)
