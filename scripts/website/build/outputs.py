"""What a cell of a notebook may show: text, and drawings that run nothing.

Whoever shows a notebook decides by the type of an output what becomes of it: one type is put into
the page as HTML, the next one is run. So only two types are published, of committed results and of
new ones alike, in the page and in the notebook that readers download.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flopbook.checks.drawings import drawing_problems
from flopbook.errors import printable, shorten

TEXT, DRAWING = "text/plain", "image/svg+xml"
_DATA = ("display_data", "execute_result")


def output_problems(cells: Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Each output of the cells of a notebook that no page takes, with its cell's number, from 1."""
    for number, cell in enumerate(cells, 1):
        for output in cell.get("outputs", []):
            for fault in _faults(output):
                yield printable(f"{name}: cell {number}: {fault}")


def _faults(output: Any) -> Iterator[str]:
    kind = output.get("output_type")
    if kind == "stream":
        return
    if kind not in _DATA:
        yield f"an output of the kind '{shorten(kind)}'; show text or a drawing"
        return
    for mime, content in output["data"].items():
        if mime not in (TEXT, DRAWING):
            yield f"an output of the type {shorten(mime)}; show {TEXT} or {DRAWING}"
        elif mime == DRAWING:
            yield from drawing_problems("".join(content).encode(), "its drawing")
