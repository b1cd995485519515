"""Every file of the data folders is one that a reader opens: another would look like an entry and
be none.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.library import library
from flopbook.errors import Problem, show_path

NAME = "file"


def check(data: Data) -> Iterator[Finding]:
    """Files that no reader opens."""
    for path in sorted(library().accelerators.glob("*/*")):
        hidden = (
            path.name.startswith(".") or path.parent.name == "__pycache__"
        )  # Python's own, where it may write
        if path.is_file() and path.suffix != ".yaml" and not hidden:
            said = (f"'{path.name}'", "PRODUCT.yaml", "rename or remove it")
            yield Finding(Problem(show_path(path), 1, 1, NAME, *said))
