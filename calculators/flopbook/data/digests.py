"""The digest of a file, known without reading it where nothing has touched the file since.

Reading two megabytes to learn that they are as before took a sixth of a cold command. As git does,
a digest is kept with the size, the times and the place of its file on the disk, and a file of which
one of them differs is read again. The time of the last change to a file cannot be set by its owner,
so content of the same length with an old date is noticed as well.
"""

from __future__ import annotations

import functools
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopbook.data import cache
from flopbook.data.files import MAX_BYTES, read_bytes

_NAME, _VERSION = "digests", "1"
# A file that was written this recently may be written once more within one tick of the clock of its
# file system, and would look the same. FAT has the coarsest, of two seconds.
_SETTLED_NS = 3_000_000_000
# Twice the files that commands ask about in one checkout; beyond that the list starts anew.
_MOST = 1000


class Digests:
    """Digests by path, as an earlier run kept them and as this one found them."""

    def __init__(self, before: Mapping[str, list[Any]]) -> None:
        self._rows = dict(before)
        self._is_changed = False

    def of(self, path: Path, most: int = MAX_BYTES) -> str:
        """The digest of a regular file of at most `most` bytes. Raises OSError."""
        name = os.path.abspath(path)
        facts = os.lstat(name)
        row = self._rows.get(name)
        if isinstance(row, list) and row[1:] == _facts(facts):
            return str(row[0])
        digest = cache.digest(read_bytes(path, most))
        self._rows.pop(name, None)  # the newest are last
        if _is_settled(facts):
            self._rows[name] = [digest, *_facts(facts)]
            self._is_changed = True
        return digest

    def close(self) -> None:
        """Keep what was found for later runs."""
        if not self._is_changed:
            return
        recent = list(self._rows.items())[-_MOST:]
        cache.keep(_NAME, _VERSION, dict(recent))
        self._is_changed = False


def _facts(facts: os.stat_result) -> list[int]:
    """What differs once a file is written, replaced or turned into a link."""
    return [facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino]


def _is_settled(facts: os.stat_result) -> bool:
    """Whether a regular file was left alone for so long that a later change will show."""
    age = time.time_ns() - max(facts.st_mtime_ns, facts.st_ctime_ns)
    return stat.S_ISREG(facts.st_mode) and age > _SETTLED_NS


def digests() -> Digests:
    """The digests that belong to the folder in use for what is kept."""
    return _digests_in(cache.folder())


@functools.cache
def _digests_in(folder: Path | None) -> Digests:
    return Digests(cache.kept(_NAME, _VERSION) if folder else {})


def fingerprint(*sources: Path) -> str:
    """A name for the content of these files together."""
    known = digests()
    return "-".join(known.of(source)[:16] for source in sources)
