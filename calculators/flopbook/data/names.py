"""What entries are called besides their id, read without reading the entries.

Looking a chip up by alias or by the name that a driver returns needs two lists of each entry. A
scan of the bytes reads them from all files in milliseconds; what is written in an unusual way is
parsed. A test holds the two equal.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook import accelerators as _accelerators
from flopbook.data.yaml_text import MAX_BYTES, parse_yaml
from flopbook.errors import DataError

ROOT = Path(_accelerators.__file__).parent

_ITEM = rb"""(?:"[^"\\\r\n]*"|'[^'\r\n]*'|[A-Za-z0-9][A-Za-z0-9 ._/()-]*)"""
_SPACE = rb"[ \t\r\n]*"
_COLON = re.compile(rb"""["']?[ \t]*:""")
_LIST = re.compile(
    rb"[ \t]*\[" + _SPACE + rb"(" + _ITEM + _SPACE + rb"(?:," + _SPACE + _ITEM + _SPACE + rb")*)?"
    rb",?" + _SPACE + rb"\][ \t]*(?:#[^\r\n]*)?\r?(?:\n|\Z)"
)


class Names(NamedTuple):
    """The other names of one entry."""

    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()


@functools.lru_cache(maxsize=16)
def other_names(ids: tuple[str, ...], root: Path = ROOT) -> dict[str, Names]:
    """Aliases and device names of these entries; an entry that cannot be read has none."""
    folder = os.fspath(root)
    return {entry_id: _names(folder, entry_id) for entry_id in ids}


def _names(folder: str, entry_id: str) -> Names:
    try:
        data = _read(f"{folder}{os.sep}{entry_id}.yaml")
    except (OSError, ValueError):
        return Names()
    found: dict[str, tuple[str, ...]] = {}
    for key, start, end in _keys(data):
        listed = _LIST.match(data, end)
        if listed is None or key in found or data[max(start - 1, 0) : start] not in (b"", b"\n"):
            return _parsed(data)
        found[key] = _items(listed[1] or b"")
    return Names(**found)


def _keys(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Every place where one of the two keys may stand.

    Looking for the word first is ten times as fast.
    """
    for key in Names._fields:
        word, place = key.encode(), -1
        while (place := data.find(word, place + 1)) >= 0:
            if colon := _COLON.match(data, place + len(word)):
                yield key, place, colon.end()


def _read(path: str) -> bytes:
    """A file's bytes with as few questions to the system as can be: this happens once for each
    entry.
    """
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(file, MAX_BYTES)
    finally:
        os.close(file)


def _items(text: bytes) -> tuple[str, ...]:
    words = (word.decode("utf-8", "replace").strip() for word in re.findall(_ITEM, text))
    return tuple(word[1:-1] if word[0] in "\"'" else word for word in words)


def _parsed(data: bytes) -> Names:
    """The same by the reader of YAML, for lists over several lines, comments among the items and
    the like.
    """
    try:
        node = parse_yaml(data.decode("utf-8"), "")
    except (DataError, UnicodeDecodeError):
        return Names()
    lists = (node.get(key) for key in Names._fields)
    return Names(*(tuple(map(str, items)) if isinstance(items, list) else () for items in lists))
