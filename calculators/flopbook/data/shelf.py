"""Records of one kind that were made from files, kept until the files or their makers change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flopbook.data.cache import keep, kept
from flopbook.data.digests import digests, fingerprint


class Shelf:
    """Records by a key each, which names what the record was made from.

    `makers` are the files that decide what is made.
    """

    def __init__(self, name: str, *makers: Path) -> None:
        self.name, self.version = name, fingerprint(*makers)
        self.digests = digests()
        self.before = kept(name, self.version)
        self.after: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        """What was made under this key before; None when it must be made anew."""
        if key in self.before:
            self.after[key] = self.before[key]
        return self.before.get(key)

    def put(self, key: str, record: Any) -> None:
        """What was made from that which the key names."""
        self.after[key] = record

    def close(self) -> None:
        """Keep what was asked for or made since, and nothing else."""
        if self.after.keys() != self.before.keys():
            keep(self.name, self.version, self.after)
