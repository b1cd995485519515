"""The tiles of a few experts on a small GPU: a kernel for each expert, and one for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, key, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

ROWS = (300, 200, 130, 90, 40, 20)  # tokens of each expert
TILE, ACROSS, PROCESSORS = 128, 2, 8  # rows of a tile, tiles side by side, SMs
_CELL, _HEIGHT, _TOP = 33.0, 27.0, 38.0


class ExpertTile(NamedTuple):
    """A tile of the result: whose it is, and the share of its rows that are tokens."""

    expert: int
    filled: float


def tiles(rows: Sequence[int] = ROWS) -> list[list[ExpertTile]]:
    """The tiles of each expert; the last ones are filled in part."""
    found = []
    for expert, count in enumerate(rows):
        starts = range(0, count, TILE)
        shares = [min(TILE, count - start) / TILE for start in starts]
        found.append([ExpertTile(expert, share) for share in shares for _ in range(ACROSS)])
    return found


def waves(grouped: bool) -> list[list[ExpertTile]]:
    """What runs at the same time: at most a tile for each SM, of one expert or of any."""
    lists = tiles()
    queues = [[tile for listed in lists for tile in listed]] if grouped else lists
    return [
        queue[start : start + PROCESSORS]
        for queue in queues
        for start in range(0, len(queue), PROCESSORS)
    ]


def useful(found: Sequence[Sequence[ExpertTile]]) -> float:
    """The share of the waves that is rows of tokens."""
    return sum(tile.filled for wave in found for tile in wave) / (len(found) * PROCESSORS)


def figure() -> Figure:
    """Two panels of waves; a column is an SM."""
    alone, together = waves(grouped=False), waves(grouped=True)
    panels = (("a kernel for each expert", alone), ("one grouped kernel", together))
    height = _TOP + len(alone) * _HEIGHT + 34
    facts = "; ".join(
        f"{name}: {len(found)} waves, {percent(useful(found))} useful" for name, found in panels
    )
    narrow_height = 2 * _TOP + (len(alone) + len(together)) * _HEIGHT + 34
    return Figure(
        f"Six experts in kernels of their own take {len(alone)} waves, {percent(useful(alone))} "
        f"of them useful; as one list {len(together)}, {percent(useful(together))} useful",
        f"{facts}. Experts have {', '.join(map(str, ROWS))} tokens, tiles {TILE} rows.",
        f"A row is a wave on {PROCESSORS} SMs, a cell a tile of {TILE} rows, its number the "
        f"expert. They have {', '.join(map(str, ROWS))} tokens and {ACROSS} tiles across. A "
        "grouped kernel deals out all tiles as one list, so only its last wave has idle SMs; rows "
        "without tokens are left in either.",
        height,
        (
            *_panel("a kernel for each expert", alone, 30.0, 0.0),
            *_panel("one grouped kernel", together, WIDTH / 2 + 30, 0.0),
            *_legend(4.0, height - 16, 150.0),
        ),
        narrow=Sheet(
            SHEET,
            narrow_height,
            (
                *_panel("a kernel for each expert", alone, 40.0, 0.0),
                *_panel("one grouped kernel", together, 40.0, _TOP + len(alone) * _HEIGHT),
                *_legend(4.0, narrow_height - 16, 112.0),
            ),
        ),
        readings=tuple(
            value
            for name, found in panels
            for value in (
                FigureValue(name, "waves", len(found)),
                FigureValue(name, "useful", useful(found), "percent"),
            )
        ),
    )


def _panel(
    name: str, found: Sequence[Sequence[ExpertTile]], left: float, top: float
) -> Iterator[str]:
    """Waves from top to bottom; the filled part of a tile is as high as its tokens."""
    yield words(left, top + 24, f"{name}: {len(found)} waves", "start", "fb-strong")
    for row, wave in enumerate(found):
        y = top + _TOP + row * _HEIGHT
        for column in range(PROCESSORS):
            x = left + column * _CELL
            if column >= len(wave):
                yield box(x, y, _CELL - 4, _HEIGHT - 5, "fb-hollow")
                continue
            tile = wave[column]
            room = (_HEIGHT - 5) * tile.filled
            yield box(x, y, _CELL - 4, _HEIGHT - 5, "fb-c5")
            yield box(x, y, _CELL - 4, room, "fb-c8")
            yield words(x + (_CELL - 4) / 2, y + 16, f"{tile.expert + 1}", kind="fb-on8")


def _legend(left: float, top: float, pitch: float) -> Iterator[str]:
    for number, (name, kind) in enumerate(
        (("tokens", "fb-c8"), ("padding", "fb-c5"), ("idle SM", "fb-hollow"))
    ):
        yield from key(left + number * pitch, top, name, kind)
