"""One SM at a matmul: a slice at a time, several in flight, and the epilogue beside the next tile.

A unit of time is the product of one slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue

# Few tiles of few slices, so that the picture shows them; times in slices.
TILES, SLICES, READ, EPILOGUE = 3, 6, 1.33, 2.0
_ROW, _BAR, _TITLE, _GAP = 15.0, 12.0, 18.0, 20.0


class TileWork(NamedTuple):
    """Something that takes time on a row: a copy into a stage, products, or an epilogue."""

    row: int
    start: float
    end: float
    tile: int


class StagedKernel(NamedTuple):
    """A kernel with so many stages, whose next tile may begin beside the epilogue."""

    name: str
    stages: int
    ahead: bool  # copies of the next tile begin before this one is written
    beside: bool  # so do its products


WAYS = (
    StagedKernel("a slice at a time", 1, ahead=False, beside=False),
    StagedKernel("three stages, persistent", 3, ahead=True, beside=False),
    StagedKernel("and the epilogue beside the next tile", 3, ahead=True, beside=True),
)


def schedule(way: StagedKernel, read: float = READ, epilogue: float = EPILOGUE) -> list[TileWork]:
    """All copies, products and epilogues; rows are the stages, the tensor cores, the epilogue."""
    cores, writes = way.stages, way.stages + 1
    done: list[float] = []  # when each slice has been multiplied
    written = [0.0, 0.0]  # when the last two epilogues ended
    work: list[TileWork] = []
    for tile in range(TILES):
        for _ in range(SLICES):
            number = len(done)
            free = done[number - way.stages] if number >= way.stages else 0.0
            start = free if way.ahead else max(free, written[-1])
            arrived = start + read
            idle = done[-1] if done else 0.0
            begin = max(arrived, idle, written[-2] if way.beside else written[-1])
            done.append(begin + 1)
            work += [
                TileWork(number % way.stages, start, arrived, tile),
                TileWork(cores, begin, begin + 1, tile),
            ]
        written.append(max(done[-1], written[-1]) + epilogue)
        work.append(TileWork(writes, written[-1] - epilogue, written[-1], tile))
    return work


def busy_share(way: StagedKernel) -> float:
    """Share of the time until the last tile is written in which the tensor cores multiply."""
    return TILES * SLICES / max(part.end for part in schedule(way))


def figure() -> Figure:
    """A panel for each way on one scale of time, with a row for each stage."""
    shapes, height = _panels(96.0, 536.0)
    sheet, tall = _panels(66.0, 274.0)
    shares = [percent(busy_share(way)) for way in WAYS]
    facts = [
        f"{way.name}: done after {max(part.end for part in schedule(way)):.3g} slices, the tensor "
        f"cores work {share} of it"
        for way, share in zip(WAYS, shares, strict=True)
    ]
    return Figure(
        f"Tensor cores work {shares[0]} of the time on a slice at a time, {shares[1]} with three "
        f"stages, {shares[2]} with the epilogue beside",
        ". ".join(facts) + ".",
        "Orange: slices on their way into a stage and, in the last row, the epilogue. Blue: "
        f"products, in two shades for alternating tiles. A read takes {READ:g} times as long as "
        f"a product, as on an H100 at the peak. Tiles here have only {SLICES} slices, where "
        "8,192 terms of a sum make 128: with those the copies matter as much, and the epilogue "
        "less.",
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=tuple(_readings()),
    )


def _rows(way: StagedKernel) -> tuple[str, ...]:
    """What the rows of a panel are called."""
    return (*(f"stage {number + 1}" for number in range(way.stages)), "products", "epilogue")


def _readings() -> Iterator[FigureValue]:
    """Each copy, product and epilogue, in times of a product."""
    for way in WAYS:
        names = _rows(way)
        for part in schedule(way):
            name = f"{names[part.row]}, tile {part.tile + 1}"
            yield FigureValue(way.name, name, part.end - part.start, start=part.start)


def _panels(left: float, width: float) -> tuple[tuple[str, ...], float]:
    scale = width / max(part.end for part in schedule(WAYS[0]))
    shapes: list[str] = []
    top = 6.0
    for way in WAYS:
        title = f"{way.name}: {percent(busy_share(way))}"
        shapes.append(words(left, top + 12, title, "start", "fb-strong"))
        top += _TITLE
        for number, name in enumerate(_rows(way)):
            shapes.append(words(left - 6, top + number * _ROW + 10, name, "end", "fb-small"))
        for part in schedule(way):
            place = left + scale * part.start, top + part.row * _ROW
            size = max(scale * (part.end - part.start) - 1, 1.0), _BAR
            shapes.append(box(*place, *size, _colour(way, part), f"tile {part.tile + 1}"))
        top += (way.stages + 2) * _ROW + _GAP
    return tuple(shapes), top - _GAP + 6


def _colour(way: StagedKernel, part: TileWork) -> str:
    if part.row < way.stages:
        return "fb-c1"
    if part.row > way.stages:
        return "fb-c6"
    return "fb-c8" if part.tile % 2 else "fb-c0"
