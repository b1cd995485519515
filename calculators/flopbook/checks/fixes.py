"""Mends what has one right form and no meaning: line ends, order and layout, spellings of units,
dates, identifiers.

Nothing that a person wrote as text is touched, and nothing that would need a decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.bibtex_text import pieces, print_entry, read_entry
from flopbook.errors import FlopbookError, show_path

# How people write a unit, and how the data does. Case counts: Gbps are bits and GBps are bytes.
_SPELLINGS: tuple[tuple[str, str], ...] = (
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


class Fixed(NamedTuple):
    """A file that was mended and what was done to it."""

    file: str
    changes: tuple[str, ...]


def fix(paths: Iterable[Path]) -> Iterator[Fixed]:
    """Mend these files in place; yields those that changed.

    Raises FlopbookError for one that cannot be read.
    """
    for path in paths:
        try:
            before = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise FlopbookError(
                f"{show_path(path)} is not UTF-8 text; save it as UTF-8 first"
            ) from None
        after, changes = fixed(before, bibliography=path.suffix == ".bib")
        if after != before:
            path.write_bytes(after.encode("utf-8"))
            yield Fixed(show_path(path), tuple(changes))


def fixed(text: str, *, bibliography: bool) -> tuple[str, list[str]]:
    """The mended text and what was done."""
    steps: list[tuple[str, Callable[[str], str]]] = [
        ("line ends and spaces", _lines),
        ("dates", _dates),
    ]
    if bibliography:
        steps += [("identifiers without address", _identifiers), ("order and layout", _arranged)]
    else:
        steps += [("spellings of units", _units)]
    changes = []
    for name, step in steps:
        mended = step(text)
        if mended != text:
            changes.append(name)
        text = mended
    return text, changes


def _lines(text: str) -> str:
    """One kind of line end, no spaces before it, one at the end.

    Text over several lines keeps its words.
    """
    lines = [line.rstrip(" \t") for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))]
    return "\n".join(lines).strip("\n") + "\n"


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


def _arranged(text: str) -> str:
    """Fields in one order and layout, entries in the order of their keys with a blank line between
    them.

    No value and no comment is changed. Where text stands between entries, they keep their places:
    nobody but a person knows to which of them it belongs.
    """
    (_, _, head), *found = pieces(text)
    if not found or any(entry[-1:] != "}" for _, entry, _ in found):
        return text
    laid_out = [
        (key, print_entry(read) if (read := read_entry(entry)) else entry)
        for key, entry, _ in found
    ]
    behind = [rest for _, _, rest in found]
    if any(rest.strip() for rest in behind):
        return head + "".join(
            entry + rest for (_, entry), rest in zip(laid_out, behind, strict=True)
        )
    ordered = [entry for _, entry in sorted(laid_out, key=lambda pair: pair[0])]
    return "\n\n".join([*([head.strip("\n")] if head.strip("\n") else []), *ordered]) + "\n"
