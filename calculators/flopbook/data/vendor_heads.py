"""The head of one entry, without those of all vendors: a server has the chips of its maker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from flopbook.data.accelerators import Entry
from flopbook.data.index import read_heads


class HasHeads(Protocol):
    """A library, as far as heads need it."""

    memo: dict[Any, Any]

    @property
    def entry_ids(self) -> Sequence[str]:
        """The ids of all entries."""

    def entry_path(self, entry_id: str) -> Path:
        """The file of an entry."""

    @property
    def heads(self) -> Mapping[str, Entry]:
        """The heads of all entries that can be read."""


def head_of(books: HasHeads, entry_id: str) -> Entry | None:
    """An accelerator, perhaps without its claims; None where its file cannot be read.

    The heads of a first vendor are read by themselves; who asks for a second one reads all.
    """
    vendor = entry_id.partition("/")[0]
    by_vendor: dict[str, Mapping[str, Entry]] = books.memo.setdefault(head_of, {})
    if not by_vendor:
        own = [name for name in books.entry_ids if name.startswith(f"{vendor}/")]
        by_vendor[vendor] = read_heads(books.entry_path, own, vendor)
    if vendor in by_vendor:
        return by_vendor[vendor].get(entry_id)
    return books.heads.get(entry_id)
