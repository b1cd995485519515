"""What people write beside the data hides nothing either: comments, and text between references.

No page shows it, but a reviewer reads it: a character that turns the direction of reading shows
another order of words, or another value, than the one that is read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Finding, Holdings
from flopbook.checks.rules.elements import HIDDEN, PRINTABLE, hidden
from flopbook.data.files import MAX_BIB_BYTES, read_text
from flopbook.data.workloads import FOLDER
from flopbook.errors import Problem, show_path

NAME = HIDDEN


def check(holdings: Holdings) -> Iterator[Finding]:
    """Lines of data files with a hidden character; of files that cannot be read much is said."""
    for path in _readable(holdings):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            for line, character in hidden(read_text(path, MAX_BIB_BYTES).removeprefix("\ufeff")):
                yield Finding(Problem(show_path(path), line, 1, NAME, character, *PRINTABLE))


def _readable(holdings: Holdings) -> Iterator[Path]:
    library = holdings.library
    yield from (library.entry_path(name) for name in holdings.entries)
    yield from (library.vendor_path(name) for name in holdings.vendors)
    yield from (library.models / f"{name}.yaml" for name in holdings.models)
    yield from (library.folders.runs / f"{name}.yaml" for name in holdings.runs)
    if "workloads" not in holdings.unreadable:
        yield from (library.folders.runs / FOLDER).glob("*.yaml")
    files = {
        "references": "*.bib",
        "topics": "topics.yaml",
        "terms": "glossary.yaml",
        "ledger": "claims/*.yaml",
    }
    for name, pattern in files.items():
        if name not in holdings.unreadable:
            yield from sorted(holdings.bibliography.glob(pattern))
    for name in ("prices", "sought"):
        if name not in holdings.unreadable:
            yield from holdings.accelerators.glob(f"{name}.yaml")
