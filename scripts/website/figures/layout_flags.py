"""One layout as four frameworks want to hear it: what you give, what they derive or do by default.

What each framework calls its option, and the source of that, stands in the tables of the chapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.website.figures.batch_units import BatchUnits
from scripts.website.figures.drawing import Figure, Sheet, box, key, words
from scripts.website.figures.shapes import SHEET

FRAMEWORKS = ("Megatron-LM", "torchtitan", "MaxText", "DeepSpeed")
BATCH = BatchUnits(replicas=16, micro_batches=32, each=1, seq=8192, chips=512)
TP, STAGES, CHUNKS = 4, 8, 10
# How a framework comes by a quantity: the colour of its cell, and the words of the legend.
WAYS = {
    "given": ("c0", "you give it"),
    "derived": ("hollow", "it derives it"),
    "default": ("c8", "so by default"),
    "code": ("c5", "in code"),
    "switch": ("c1", "other by default: a switch"),
}
_ROW, _CELL, _HEAD = 26.0, 21.0, 30.0


class FlagCell(NamedTuple):
    """How one framework comes by one quantity, and the words in its cell; no way: no option."""

    way: str
    text: str


class FlagRow(NamedTuple):
    """A quantity of the plan, and a cell for each framework."""

    name: str
    cells: tuple[FlagCell, FlagCell, FlagCell, FlagCell]


def rows() -> tuple[FlagRow, ...]:
    """The plan of the chapter, quantity by quantity."""
    step, part, turns = BATCH.sequences, BATCH.each, BATCH.micro_batches
    none = FlagCell("", "–")
    return (
        _same(f"TP {TP}", _given(TP)),
        FlagRow(f"PP {STAGES}", (_given(STAGES),) * 3 + (FlagCell("code", "code"),)),
        FlagRow(f"{CHUNKS} chunks a stage", (_given(CHUNKS), _layers(), _layers(), none)),
        FlagRow(
            "equal stages",
            (_equal(), FlagCell("switch", "less 0, 0"), _equal(), FlagCell("code", "code")),
        ),
        FlagRow(
            f"{BATCH.replicas} replicas",
            (_derived(), _given(f"shard {BATCH.replicas}"), _given(BATCH.replicas), _derived()),
        ),
        FlagRow(
            "states sharded",
            (
                FlagCell("switch", "on"),
                FlagCell("default", "ZeRO-2"),
                FlagCell("switch", "on"),
                _given("stage 1"),
            ),
        ),
        FlagRow(
            "sequence parallel",
            (FlagCell("switch", "on"), FlagCell("default", "on"), _derived(), none),
        ),
        FlagRow(
            f"{step:,} sequences",
            (
                _given(step),
                _given(f"{step * BATCH.seq:,}"),
                _given(f"{BATCH.per_chip:g}"),
                _derived(),
            ),
        ),
        FlagRow(
            f"{part:,} in a micro-batch",
            (_given(part), _given(f"{part * BATCH.seq:,}"), _derived(), _given(part)),
        ),
        FlagRow(
            f"{turns:,} micro-batches",
            (_derived(), _given(turns), _given(turns), _given(turns)),
        ),
        FlagRow(
            "none recomputed",
            (
                FlagCell("default", "none"),
                FlagCell("code", "code"),
                FlagCell("switch", "off"),
                none,
            ),
        ),
    )


def _same(name: str, cell: FlagCell) -> FlagRow:
    return FlagRow(name, (cell, cell, cell, cell))


def _given(value: object) -> FlagCell:
    return FlagCell("given", f"{value}")


def _layers() -> FlagCell:
    """Chunks by what each holds: one layer of the ten of a stage."""
    return FlagCell("given", "1 layer")


def _equal() -> FlagCell:
    return FlagCell("default", "equal")


def _derived() -> FlagCell:
    return FlagCell("derived", "derived")


def counted(framework: str, way: str) -> int:
    """How many quantities a framework comes by in this way."""
    column = FRAMEWORKS.index(framework)
    return sum(row.cells[column].way == way for row in rows())


def figure() -> Figure:
    """A matrix: quantities down, frameworks across."""
    listed = rows()
    facts = "; ".join(f"{row.name}: {_told(row)}" for row in listed)
    given = {name: counted(name, "given") for name in FRAMEWORKS}
    legend = _HEAD + len(listed) * _ROW + 10
    return Figure(
        f"One layout is {given['Megatron-LM']} numbers and {counted('Megatron-LM', 'switch')} "
        f"switches in Megatron-LM, {given['torchtitan']} numbers and "
        f"{counted('torchtitan', 'switch')} switch in torchtitan",
        f"For each quantity of a plan, how four frameworks come by it. {facts}.",
        "The plan of this chapter, Llama 3 70B on 512 H100. Where a cell has a number, it is what "
        "you type, in the unit of that framework. What is derived changes in silence when one of "
        "the others is wrong; torchtitan and MaxText derive one axis if you set it to -1. A dash: "
        "we found no option.",
        legend + 18,
        (*_matrix(listed, 152.0, 121.0, FRAMEWORKS), *_legend(((4.0, legend), (112, 0)), 5)),
        narrow=Sheet(
            SHEET,
            legend + 58,
            (
                *_matrix(listed, 112.0, 57.5, ("Megatron", "titan", "MaxText", "DeepSp.")),
                *_legend(((4.0, legend), (150, 20)), 2),
            ),
        ),
    )


def _told(row: FlagRow) -> str:
    return ", ".join(
        f"{name} {cell.text}" if cell.way else f"{name} no option"
        for name, cell in zip(FRAMEWORKS, row.cells, strict=True)
    )


def _matrix(
    listed: Sequence[FlagRow], left: float, pitch: float, heads: Sequence[str]
) -> Iterator[str]:
    """The names of the columns, and each row with its cells."""
    for column, head in enumerate(heads):
        yield words(left + (column + 0.5) * pitch, _HEAD - 10, head, kind="fb-strong")
    for number, row in enumerate(listed):
        top = _HEAD + number * _ROW
        yield words(left - 8, top + 15, row.name, "end")
        for column, cell in enumerate(row.cells):
            yield from _cell(cell, left + column * pitch, top, pitch - 5)


def _cell(cell: FlagCell, left: float, top: float, width: float) -> Iterator[str]:
    """A filled or hollow box with its words; words alone where there is no option."""
    ink = ""
    if cell.way:
        colour = WAYS[cell.way][0]
        ink = "" if colour == "hollow" else f" fb-on{colour[1:]}"
        yield box(left, top, width, _CELL, f"fb-{colour}")
    yield words(left + width / 2, top + 15, cell.text, kind=f"fb-small{ink}")


def _legend(place: tuple[tuple[float, float], tuple[float, float]], across: int) -> Iterator[str]:
    """The ways, as many side by side as there is room for; the long one comes last."""
    (left, top), (pitch, line) = place
    for number, (colour, name) in enumerate(WAYS.values()):
        row, column = divmod(number, across)
        yield from key(left + column * pitch, top + row * line, name, f"fb-{colour}")
