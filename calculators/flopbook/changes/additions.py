"""When each reference came into the bibliography, as the repository's history says it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from flopbook.data.repository import checkout, git
from flopbook.errors import FlopbookError

FOLDER = "bibliography"
_COMMIT = re.compile(r"^commit (\S+)$")
# An added line of a patch that opens an entry of BibTeX.
_KEY = re.compile(r"^\+@\w+\s*\{\s*([^,\s]+)\s*,")


def additions() -> dict[str, str]:
    """Key -> time of the commit that first had it, as ISO 8601.

    Empty without a repository or without its whole history.
    """
    root = checkout()
    try:
        if root is None or git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
            return {}
        return _added(root, git(root, "rev-parse", "HEAD").decode().strip())
    except FlopbookError:
        return {}


@functools.lru_cache(maxsize=1)
def _added(root: Path, head: str) -> dict[str, str]:
    """From one listing of all changes; an entry that moved to another file keeps its day."""
    # Oldest first, so that the first line with a key is the commit that brought it.
    log = ("log", "--reverse", "--first-parent", "-m", "-p", "-U0", "--format=commit %cI", head)
    listing = git(root, *log, "--", f"{FOLDER}/*.bib").decode("utf-8", "replace")
    when = ""
    times: dict[str, str] = {}
    for line in listing.splitlines():
        if commit := _COMMIT.match(line):
            when = commit[1]
        elif key := _KEY.match(line):
            times.setdefault(key[1], when)
    return times
