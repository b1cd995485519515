"""What the site publishes as it is: programs, styles and pictures, each what its name says.

A drawing that a reader opens by its own address obeys no policy of a page, and a page that is named
like a picture is one to whoever looks at its first bytes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.drawings import drawing_faults
from flopbook.checks.pictures import picture_fault
from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.files import read_bytes
from flopbook.errors import Problem, shorten, show_path

NAME = "asset"
KINDS = (".css", ".js", ".json", ".png", ".svg")
KNOWN = Advice(f"one of {', '.join(KINDS)}", "remove it, or save it as one of them")
DRAWN = Advice("shapes and text", "take it out, or draw it anew")
WHOLE = Advice("a picture alone", "save it as PNG again")


def check(holdings: Holdings) -> Iterator[Finding]:
    """What is wrong with the files below docs/assets."""
    for path in sorted((holdings.docs / "assets").rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield from map(Finding, _problems(path))


def _problems(path: Path) -> Iterator[Problem]:
    file = show_path(path)
    if path.suffix not in KINDS:
        observed = f"a file of the kind '{shorten(path.suffix)}'"
        yield Problem(file, 1, 1, NAME, observed, *KNOWN)
    # What cannot be read, the rule of files says.
    with contextlib.suppress(OSError):
        if path.suffix == ".svg":
            for line, fault in drawing_faults(read_bytes(path)):
                yield Problem(file, line, 1, NAME, fault, *DRAWN)
        if path.suffix == ".png" and (fault := picture_fault(read_bytes(path))):
            yield Problem(file, 1, 1, NAME, fault, *WHOLE)
