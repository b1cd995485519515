"""Every file of the data folders is one that a reader opens.

Another would look like an entry and be none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.errors import show_path

NAME = "file"
ADVICE = Advice("PRODUCT.yaml", "rename or remove it")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Files that no reader opens."""
    for path in sorted(holdings.accelerators.glob("*/*")):
        if path.is_file() and path.suffix != ".yaml" and not _is_hidden(path):
            yield at_file(NAME, show_path(path), f"'{path.name}'", ADVICE)


def _is_hidden(path: Path) -> bool:
    """True for a hidden file, and for Python's own, which it writes where it may."""
    return path.name.startswith(".") or path.parent.name == "__pycache__"
