"""Mends what has one right form and no meaning.

That is line ends, order and layout, spellings of units, dates, identifiers. Nothing that a person
wrote as text is touched, and nothing that would need a decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flopbook.data.bibtex_text import pieces, print_entry, read_entry
from flopbook.data.files import MAX_BIB_BYTES, NotRead, read_bytes, write_text
from flopbook.errors import FlopbookError, show_path

# How people write a unit, and how the data does. Case counts: Gbps are bits and GBps are bytes.
_SPELLINGS = (
    (r"([GTPE])(?:FLOPS|FLOPs|Flops|flops|FLOP/sec|FLOPS/s|FLOPs/s)", r"\1FLOP/s"),
    (r"([GTPE])(?:OPS|OPs|Ops|OP/sec|OPS/s)", r"\1OP/s"),
    (r"([kKMGTP]i?)Bps", r"\1B/s"),
    (r"([kKMGTP]i?)B/(?:sec|second)", r"\1B/s"),
    (r"([MGTP])(?:bps|b/s|bits/s|bit/sec|bits/sec)", r"\1bit/s"),
    (r"(k?)(?:watts?|Watts?)", r"\1W"),
    ("KB", "kB"),
    (r"mm(?:\^2|²)", "mm2"),
    (r"([MG])hz", r"\1Hz"),
)
# `unit: GBps` or `unit: "GBps"`, up to what ends a value in YAML: words in a quote stay.
_UNIT = re.compile(r"""(\bunit:[ \t]*)(["']?)([^"',}\s]+)(\2)(?=[ \t]*[,}\r\n])""")
_DATE = re.compile(
    r"""(\b(?:as_of|urldate)[ \t]*[:=][ \t]*["'{]?)(\d{4})[/.](\d{2})[/.](\d{2})\b"""
)
_DOI = re.compile(
    r"(\bdoi[ \t]*=[ \t]*[{\"])(?:https?://(?:dx\.)?doi\.org/|doi:[ \t]*)", re.IGNORECASE
)
_EPRINT = re.compile(
    r"(\beprint[ \t]*=[ \t]*[{\"])(?:https?://arxiv\.org/abs/|arxiv:[ \t]*)", re.IGNORECASE
)
_BYTE_ORDER_MARK = "\ufeff"


class Fixed(NamedTuple):
    """A file that was mended and what was done to it."""

    file: str
    changes: tuple[str, ...]


def fix(paths: Iterable[Path]) -> Iterator[Fixed]:
    """Mend these files in place; yields those that changed.

    Raises FlopbookError for one that cannot be read.
    """
    for path in paths:
        before = _read(path)
        after, changes = fixed(before, bibliography=path.suffix == ".bib")
        if after != before:
            write_text(path, after)
            yield Fixed(show_path(path), tuple(changes))


def _read(path: Path) -> str:
    # Not read_text, which would turn every kind of line end into one before it is seen.
    try:
        return read_bytes(path, MAX_BIB_BYTES).decode("utf-8")
    except NotRead as error:
        reason = f"{show_path(path)} is {error.strerror}; only a file of its own is mended"
        raise FlopbookError(reason) from None
    except UnicodeDecodeError:
        raise FlopbookError(
            f"{show_path(path)} is not UTF-8 text; save it as UTF-8 first"
        ) from None


def fixed(text: str, *, bibliography: bool) -> tuple[str, list[str]]:
    """The mended text and what was done."""
    changes = []
    for name, step in (*_STEPS, *(_BIBTEX_STEPS if bibliography else _YAML_STEPS)):
        mended = step(text)
        if mended != text:
            changes.append(name)
        text = mended
    return text, changes


def _lines(text: str) -> str:
    """One kind of line end, no spaces before it, one at the end."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix(_BYTE_ORDER_MARK))
    return "\n".join(line.rstrip(" \t") for line in lines).strip("\n") + "\n"


def _dates(text: str) -> str:
    return _DATE.sub(r"\1\2-\3-\4", text)


def _units(text: str) -> str:
    return _UNIT.sub(lambda m: f"{m[1]}{m[2]}{_unit(m[3])}{m[4]}", text)


def _unit(name: str) -> str:
    for pattern, replacement in _SPELLINGS:
        match = re.fullmatch(pattern, name)
        if match:
            return match.expand(replacement)
    return name


def _identifiers(text: str) -> str:
    return _EPRINT.sub(r"\1", _DOI.sub(r"\1", text))


class _Entry(NamedTuple):
    """An entry of a bibliography as it will be printed, and what follows it in the file."""

    key: str
    text: str
    behind: str


def _arranged(text: str) -> str:
    """Fields in one order and layout, entries in the order of their keys, a blank line between.

    No value and no comment is changed. Where text stands between entries, they keep their places:
    nobody but a person knows to which of them it belongs.
    """
    (_, _, head), *written = pieces(text)
    if not written or any(entry[-1:] != "}" for _, entry, _ in written):
        return text
    entries = [_Entry(key, _printed(entry), behind) for key, entry, behind in written]
    if any(entry.behind.strip() for entry in entries):
        return head + "".join(entry.text + entry.behind for entry in entries)
    return _sorted(head.strip("\n"), entries)


def _printed(text: str) -> str:
    """An entry in the layout of the house; one that cannot be read stays as it is."""
    entry = read_entry(text)
    return text if entry is None else print_entry(entry)


def _sorted(head: str, entries: Sequence[_Entry]) -> str:
    blocks = [entry.text for entry in sorted(entries, key=_key)]
    if head:
        blocks.insert(0, head)
    return "\n\n".join(blocks) + "\n"


def _key(entry: _Entry) -> str:
    return entry.key


Step = tuple[str, Callable[[str], str]]
# What is done to every file, and then to those of each kind, with what the user is told.
_STEPS: tuple[Step, ...] = (("line ends and spaces", _lines), ("dates", _dates))
_YAML_STEPS: tuple[Step, ...] = (("spellings of units", _units),)
_BIBTEX_STEPS: tuple[Step, ...] = (
    ("identifiers without address", _identifiers),
    ("order and layout", _arranged),
)
