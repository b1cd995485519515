"""The index: what entries are called and how good each source is, without reading all of either.

A command that computes with one chip reads one entry. What it needs of all the rest is here: the
heads of the entries (names, aliases, kinds), kept between runs, and two fields of the bibliography,
found by a scan of the text. Tests hold both equal to what the readers say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from flopbook.data.accelerators import Entry
from flopbook.data.entry_records import head_of_record, record_of_head, text_above_claims
from flopbook.data.files import MAX_BIB_BYTES, MAX_YAML_BYTES, read_bytes, read_or_nothing
from flopbook.data.shelf import Shelf
from flopbook.errors import DataError, show_path

_HEADS, _TIERS = "heads", "tiers"
# What the kept heads were made by: another reader makes other heads.
_MAKERS = tuple(
    Path(__file__).with_name(name)
    for name in ("accelerators.py", "entry_reader.py", "entry_records.py", "yaml_text.py")
)
_SCANNER = Path(__file__).with_name("bibtex_scan.py")


def read_heads(
    path_of: Callable[[str], Path], entry_ids: Sequence[str], vendor: str = ""
) -> dict[str, Entry]:
    """Every entry that can be read, without its claims, by id; one that is broken is left out.

    Whoever needs the broken one reads it by its id, and learns file and line. The heads of one
    vendor alone are kept by themselves.
    """
    shelf = Shelf(f"{_HEADS}-{vendor}" if vendor else _HEADS, *_MAKERS)
    heads: dict[str, Entry] = {}
    # Asking where a path lies takes as long as reading it, so each folder is asked about once.
    shown: dict[Path, str] = {}
    for entry_id in entry_ids:
        path = path_of(entry_id)
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
    # The id counts: the same bytes at another place are another entry, and a mistaken one.
    key = f"{entry_id} {shelf.digests.of(path, MAX_YAML_BYTES)}"
    record = shelf.get(key)
    if record:
        return head_of_record(record)
    head = _read_head(path, entry_id)
    shelf.put(key, record_of_head(head))
    return head


def _read_head(path: Path, entry_id: str) -> Entry:
    """Read a head; where it is broken the whole file says how."""
    from flopbook.data.entry_reader import read_entry, read_head

    head = read_head(read_bytes(path, MAX_YAML_BYTES), entry_id)
    return head or read_entry(path, entry_id)._replace(claims=())


def read_aliases(path: Path) -> tuple[str, ...]:
    """The aliases of a model, from the lines above its claims; none where they cannot be read."""
    from flopbook.data.yaml_text import parse_yaml

    try:
        content = read_bytes(path, MAX_YAML_BYTES)
        text = text_above_claims(content) or content.decode("utf-8")
        aliases = parse_yaml(text, "").get("aliases")
    except (DataError, OSError, UnicodeDecodeError):  # told to whoever reads this model
        return ()
    return tuple(map(str, aliases)) if isinstance(aliases, list) else ()


def scan_links(folder: Path, keys: Iterable[str]) -> dict[str, str]:
    """Where works are to be read, by key; what has no address is empty."""
    from flopbook.data.bibtex_scan import decoded, link_of

    texts = [decoded(path) for path in sorted(folder.glob("*.bib"))]
    return {key: next(filter(None, (link_of(key, text) for text in texts)), "") for key in keys}


def scan_tiers(folder: Path) -> dict[str, str]:
    """The tier of every source that has one: vendor, submission, secondary, press or community.

    Choosing a value needs this one field, so every command needs it; pybtex takes seconds for what
    a scan reads in milliseconds, and to find a file untouched since an earlier scan takes less.
    """
    shelf = Shelf(_TIERS, _SCANNER)
    tier_of: dict[str, str] = {}
    for path in sorted(folder.glob("*.bib")):
        for key, tier in _kept_tiers(shelf, path):
            tier_of.setdefault(key, tier)
    shelf.close()
    return tier_of


def _kept_tiers(shelf: Shelf, path: Path) -> list[list[str]]:
    """Pairs of key and tier of one file; none of one that cannot be read, which lint speaks of."""
    try:
        digest = shelf.digests.of(path, MAX_BIB_BYTES)
    except OSError:
        return []
    found: list[list[str]] | None = shelf.get(digest)
    if found is None:
        from flopbook.data.bibtex_scan import text_of, tiers  # not where nothing has changed

        found = [list(pair) for pair in tiers(text_of(read_or_nothing(path, MAX_BIB_BYTES)))]
        shelf.put(digest, found)
    return found


def scan_keys(folder: Path) -> Iterator[str]:
    """The keys of all references, without reading what they say."""
    from flopbook.data.bibtex_scan import decoded, headings

    for path in sorted(folder.glob("*.bib")):
        yield from (heading.key for heading in headings(decoded(path)) if heading.key)
