"""A dot product in RISC-V, instruction by instruction: load, calculate, or keep count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

KINDS = {"load": "c1", "arithmetic": "c0", "loop": "c5"}


class Instruction(NamedTuple):
    """An instruction: its label, its text, and its kind (empty before the loop)."""

    label: str
    text: str
    kind: str


LISTING = (
    Instruction("", "li   a3, 0", ""),
    Instruction("loop:", "lw   t0, 0(a0)", "load"),
    Instruction("", "lw   t1, 0(a1)", "load"),
    Instruction("", "mul  t0, t0, t1", "arithmetic"),
    Instruction("", "add  a3, a3, t0", "arithmetic"),
    Instruction("", "addi a0, a0, 4", "loop"),
    Instruction("", "addi a1, a1, 4", "loop"),
    Instruction("", "addi a2, a2, -1", "loop"),
    Instruction("", "bnez a2, loop", "loop"),
)
_TOP, _ROW, _FOOT = 40.0, 24.0, 40.0 + 24.0 * len(LISTING)


class Columns(NamedTuple):
    """Where the columns of a sheet lie: the text, the middles of the marks, a mark's width."""

    text: float
    kinds: dict[str, float]
    mark: float
    end: float
    sum_of: str


_WIDE = Columns(
    84, {"load": 330, "arithmetic": 430, "loop": 540}, 60, 600, "for each pair of numbers"
)
_PHONE = Columns(42, {"load": 180, "arithmetic": 246, "loop": 314}, 50, SHEET - 4, "for each pair")


def counts() -> dict[str, int]:
    """Instructions of each kind in one round of the loop."""
    return {kind: sum(line.kind == kind for line in LISTING) for kind in KINDS}


def figure() -> Figure:
    """The listing on the left, a mark in one of three columns for each line, the sums below."""
    sums = counts()
    share = sums["arithmetic"] / sum(sums.values())
    return Figure(
        f"{percent(share)} of the instructions in the loop are arithmetic that was wanted",
        f"Each round of the loop has {sums['load']} loads of 4 bytes, {sums['arithmetic']} "
        f"operations that were wanted and {sums['loop']} instructions that move addresses and "
        f"count: {percent(share)} is arithmetic.",
        f"Of {sum(sums.values())} instructions in a round, {sums['arithmetic']} calculate. For 8 "
        "bytes loaded there are 2 operations, a quarter of one for each byte.",
        _FOOT + 30,
        tuple(_drawn(_WIDE)),
        narrow=Sheet(SHEET, _FOOT + 30, tuple(_drawn(_PHONE))),
        readings=tuple(
            FigureValue("instructions in a round", kind, count) for kind, count in sums.items()
        ),
    )


def _drawn(columns: Columns) -> Iterator[str]:
    """Heads, the lines of the listing with their marks, and the sums."""
    for kind, x in columns.kinds.items():
        yield words(x, 22, kind, kind="fb-strong")
    yield words(columns.text, 22, "instruction", "start", "fb-strong")
    for number, line in enumerate(LISTING):
        y = _TOP + number * _ROW
        if line.label:
            yield words(columns.text - 8, y + 15, line.label, "end")
        yield words(columns.text, y + 15, line.text.replace("  ", " "), "start")
        if line.kind:
            x, wide = columns.kinds[line.kind], columns.mark
            kind = f"fb-{KINDS[line.kind]}"
            yield box(x - wide / 2, y + 3, wide, _ROW - 6, kind, line.kind)
    yield path([(columns.text, _FOOT + 2), (columns.end, _FOOT + 2)])
    yield words(columns.text, _FOOT + 20, columns.sum_of, "start", "fb-strong")
    for kind, x in columns.kinds.items():
        yield words(x, _FOOT + 20, str(counts()[kind]), kind="fb-strong")
