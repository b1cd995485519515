"""How the links of data and prose fared at the last check, and where a dead one has a copy.

The only reader of `bibliography/link-status.json`, which the weekly check writes: a line for each
link that fails, none for one that works. `checked` is the day on which it was first found so, so
that a file changes only with its links.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import MAX_YAML_BYTES, read_text
from flopbook.data.reference_rules import is_link
from flopbook.errors import DataError, Problem, shorten, show_path

FILE = "link-status.json"
# Answers that mean: nobody can read this any more. Others may be meant for programs only.
DEAD = frozenset(("404", "410", "dns"))


class LinkStatus(NamedTuple):
    """A link that fails: its HTTP status or what went wrong, and since which day.

    `archive` is the address of an archived copy, empty for none.
    """

    url: str
    status: str
    checked: str
    archive: str = ""

    @property
    def dead(self) -> bool:
        """True when readers should be led to the copy."""
        return self.status in DEAD


def read_link_statuses(path: Path) -> dict[str, LinkStatus]:
    """Every link that fails, by address.

    Raises DataError; a missing file means that nothing was checked yet.
    """
    try:
        text = read_text(path, MAX_YAML_BYTES)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise DataError([_problem(path, shorten(error))]) from None
    try:
        rows = json.loads(text)
        return {url: _row(url, row) for url, row in rows.items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, MemoryError) as error:
        raise DataError([_problem(path, shorten(f"{type(error).__name__}: {error}"))]) from None


# Readers of a dead link are led to a copy: nowhere else than where the check looks for one.
ARCHIVE = "https://web.archive.org/web/"
_STATUS = re.compile(r"[a-z0-9][a-z0-9 -]{0,29}")
_FIELDS = {"status", "checked", "archive"}


def _row(url: str, row: dict[str, str]) -> LinkStatus:
    link = LinkStatus(url, row["status"], row["checked"], row.get("archive", ""))
    if not all(isinstance(text, str) for text in link) or row.keys() - _FIELDS:
        raise ValueError(f"a row of {url} that is not status, checked and archive")
    addresses = [url, link.archive] if link.archive else [url]
    if not all(map(is_link, addresses)):
        raise ValueError(f"an address of {url} that is not http")
    if link.archive and not link.archive.startswith(ARCHIVE):
        raise ValueError(f"a copy of {url} that is not in {ARCHIVE}")
    if not _STATUS.fullmatch(link.status):
        raise ValueError(f"a status of {url} that is no word and no number")
    return link


def _problem(path: Path, observed: str) -> Problem:
    expected = "address: {status, checked, archive}"
    mend = "python -m scripts.check_links --write-status writes it"
    return Problem(show_path(path), 1, 1, "link-status", observed, expected, mend)
