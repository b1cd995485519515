"""The index: what entries are called and how good each source is, without reading all of either.

A command that computes with one chip reads one entry. What it needs of all the rest is here: the
heads of the entries (names, aliases, kinds), kept between runs, and two fields of the bibliography,
found by a scan of the lines. Tests hold both equal to what the readers say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flopbook.data.accelerators import Entry
from flopbook.data.cache import Shelf
from flopbook.data.entry_records import head_of_record, record_of_head, text_above_claims
from flopbook.errors import DataError, show_path

_HEADS = "heads"
# What the kept heads were made by: another reader makes other heads.
_MAKERS = tuple(
    Path(__file__).with_name(name)
    for name in ("accelerators.py", "entry_reader.py", "entry_records.py", "yaml_text.py")
)

_TIER = re.compile(rb"""tier[ \t]*=[ \t]*[{"]([a-z]*)["}][ \t]*(?=[,}\r\n])""")
_ENTRY_START = re.compile(rb"@\w+\s*[{]\s*([^,\s]+)\s*,")
_KEYED_LINE = re.compile(rb"^\s*@\w+\s*\{\s*([^\s,{}]+)\s*,", re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_heads(folder: Path, entry_ids: Sequence[str]) -> dict[str, Entry]:
    """Every entry that can be read, without its claims, by id; one that is broken is left out.

    Whoever needs the broken one reads it by its id, and learns file and line.
    """
    shelf = Shelf(_HEADS, *_MAKERS)
    heads: dict[str, Entry] = {}
    # Asking where a path lies takes as long as reading it, so each folder is asked about once.
    shown: dict[Path, str] = {}
    for entry_id in entry_ids:
        path = folder / f"{entry_id}.yaml"
        if path.parent not in shown:
            shown[path.parent] = show_path(path).removesuffix(path.name)
        try:
            head = _kept_head(shelf, path, entry_id)
        except (DataError, OSError):
            continue
        heads[entry_id] = head._replace(file=f"{shown[path.parent]}{path.name}")
    shelf.close()
    return heads


def _kept_head(shelf: Shelf, path: Path, entry_id: str) -> Entry:
    content = path.read_bytes()
    above_claims = text_above_claims(content)
    if above_claims is None:  # in an unusual order: what stands below the claims counts too
        return _read_head(shelf, path, entry_id, "")
    # The id counts: the same bytes at another place are another entry, and a mistaken one.
    key = f"{entry_id}\0{above_claims}"
    record = shelf.get(key.encode())
    return head_of_record(record) if record else _read_head(shelf, path, entry_id, key)


def _read_head(shelf: Shelf, path: Path, entry_id: str, key: str) -> Entry:
    """Read a head, and keep it under its key; where it is broken the whole file says how."""
    from flopbook.data.entry_reader import read_entry, read_head

    head = read_head(path.read_bytes(), entry_id) if key else None
    if head is None:
        return read_entry(path, entry_id)._replace(claims=())
    shelf.put(key.encode(), record_of_head(head))
    return head


def read_aliases(path: Path) -> tuple[str, ...]:
    """The aliases of a model, from the lines above its claims; none where they cannot be read."""
    from flopbook.data.yaml_text import parse_yaml

    try:
        content = path.read_bytes()
        text = text_above_claims(content) or content.decode("utf-8")
        aliases = parse_yaml(text, "").get("aliases")
    except (DataError, OSError, UnicodeDecodeError):  # told to whoever reads this model
        return ()
    return tuple(map(str, aliases)) if isinstance(aliases, list) else ()


def scan_tiers(folder: Path) -> dict[str, str]:
    """The tier of every source that has one: vendor, submission, secondary, press or community.

    Choosing a value needs this one field, so every command needs it; pybtex takes seconds for what
    a scan of the lines reads in milliseconds.
    """
    tiers: dict[str, str] = {}
    for path in sorted(folder.glob("*.bib")):
        text = path.read_bytes()
        lower = text.lower()  # field names may be in capitals; ASCII only, so places stay the same
        for match in _TIER.finditer(lower):
            starts_field = lower[: match.start()].rstrip(b" \t")[-1:] in (b"\n", b",")
            key = _key_before(text, match.start()) if starts_field else ""
            if key:
                tiers.setdefault(key, match[1].decode())
    return tiers


def _key_before(text: bytes, place: int) -> str:
    """The key of the entry that a field belongs to: the last one that starts a line before it."""
    while (start := text.rfind(b"@", 0, place)) >= 0:
        starts_line = start == 0 or text[start - 1 : start] == b"\n"
        if starts_line or text[:start] == _BYTE_ORDER_MARK:
            match = _ENTRY_START.match(text, start)
            return match[1].decode("utf-8", "replace") if match else ""
        place = start
    return ""


def scan_keys(folder: Path) -> Iterator[str]:
    """The keys of all references, without reading what they say."""
    for path in sorted(folder.glob("*.bib")):
        for match in _KEYED_LINE.finditer(path.read_bytes()):
            yield match[1].decode("utf-8", "replace")
