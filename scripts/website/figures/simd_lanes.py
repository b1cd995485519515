"""A loop on the lanes of a vector unit: three instructions do it, and the last one is masked."""

from __future__ import annotations

import math

from flopbook.formulas import wave_quantisation
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, box, labelled, words

COUNT, LANES = 19, 8
_CELL, _LEFT, _TOP, _ROW = 40.0, 150.0, 34.0, 40.0


def rounds(count: int = COUNT, lanes: int = LANES) -> list[list[int | None]]:
    """For each instruction the round of the loop in each lane; None where the mask is off."""
    starts = range(0, lanes * math.ceil(count / lanes), lanes)
    return [[n if n < count else None for n in range(start, start + lanes)] for start in starts]


def figure() -> Figure:
    """A row for each instruction, a cell for each lane."""
    drawn = rounds()
    shapes = [
        words(_LEFT + (n + 0.5) * _CELL, 24, f"lane {n + 1}", kind="fb-small") for n in range(LANES)
    ]
    for row, lanes in enumerate(drawn):
        top = _TOP + row * _ROW
        used = sum(lane is not None for lane in lanes)
        shapes.append(words(_LEFT - 10, top + 21, f"instruction {row + 1}", "end"))
        shapes += [_cell(_LEFT + n * _CELL, top, lane) for n, lane in enumerate(lanes)]
        shapes.append(
            words(_LEFT + LANES * _CELL + 10, top + 21, f"{used} of {LANES}", "start", "fb-small")
        )
    # An instruction is a tile of as many rows as there are lanes, on one processor.
    waves = wave_quantisation(m=COUNT, n=1, tile_m=LANES, tile_n=1, processors=1)
    share = waves["useful_share"]
    return Figure(
        f"{COUNT} iterations take {len(drawn)} instructions, and the last is partly empty",
        f"{COUNT} iterations of a loop on {LANES} lanes: {len(drawn)} instructions instead of "
        f"{COUNT}. The last has {COUNT % LANES} iterations left, and the other lanes are switched "
        f"off. {percent(share)} of all lanes have work.",
        "A number in a cell is the element of the array that the lane works on. A hollow cell is "
        "masked: the instruction runs, and this lane neither loads nor stores.",
        _TOP + len(drawn) * _ROW + 6,
        tuple(shapes),
    )


def _cell(x: float, y: float, lane: int | None) -> str:
    if lane is None:
        return box(x + 2, y + 3, _CELL - 4, _ROW - 10, "fb-hollow")
    return labelled((x + 2, y + 3, _CELL - 4, _ROW - 10), str(lane), "c2")
