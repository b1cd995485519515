"""A feed-forward block under tensor and sequence parallelism: layouts, and collectives between."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.quantities.dtypes import DTYPE_BYTES
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, arrow, box, words
from scripts.website.figures.plotted import FigureValue

ROWS = 4  # chips
TOP, SIDE = 62.0, 80.0


class Column(NamedTuple):
    """One array of the block: what it is called, how it is cut, and how wide it is drawn."""

    name: str
    cut: str  # rows, columns or whole
    width: float
    entries: float
    weight: bool = False


def figure(
    tokens: int = 4096, d_model: float = 8192, d_ff: float = 28672, ways: int = ROWS
) -> Figure:
    """The arrays of a block from left to right, with the bytes that a chip holds in bf16."""
    d, f = float(d_model), float(d_ff)
    columns = (
        Column("In[B_Y, D]", "rows", 54, tokens * d / ways),
        Column("In[B, D]", "whole", 54, tokens * d),
        Column("W_in[D, F_Y]", "columns", 96, d * f / ways, weight=True),
        Column("Tmp[B, F_Y]", "columns", 96, tokens * f / ways),
        Column("W_out[F_Y, D]", "rows", 54, d * f / ways, weight=True),
        Column("Out[B, D] {U_Y}", "whole", 54, tokens * d),
        Column("Out[B_Y, D]", "rows", 54, tokens * d / ways),
    )
    signs = ("all-gather", "×", "=", "×", "=", "reduce-scatter")
    shapes, left, facts = [], 6.0, []
    for number, column in enumerate(columns):
        shapes += _array(column, left)
        facts.append(
            f"{column.name} {format_quantity(column.entries * DTYPE_BYTES['bf16'], 'byte')}"
        )
        left += column.width
        if number < len(signs):
            shapes += _sign(signs[number], left)
            left += GAPS.get(signs[number], 26.0)
    title = f"A feed-forward block over {ways} chips"
    return Figure(
        "A feed-forward block communicates twice, before and after its two matmuls",
        f"Bytes on each chip, from left to right: {'; '.join(facts)}. Between the first two an "
        "all-gather, between the last two a reduce-scatter.",
        f"{title}. Filled: what the second of them holds, weights blue and activations green, with "
        f"its bytes for {format_quantity(float(tokens), 'token')} in bf16. All traffic is at the "
        "two arrows.",
        TOP + SIDE + 40,
        tuple(shapes),
        left + 6,
        readings=tuple(
            FigureValue("on each chip", one.name, one.entries * DTYPE_BYTES["bf16"], "byte")
            for one in columns
        ),
    )


GAPS = {"all-gather": 64.0, "reduce-scatter": 80.0}


def _array(column: Column, left: float) -> list[str]:
    """An array with the share of the second chip filled: a band of rows, of columns, or all."""
    middle = left + column.width / 2
    colour = "fb-c0" if column.weight else "fb-c2"
    size = format_quantity(column.entries * DTYPE_BYTES["bf16"], "byte")
    shapes = [
        words(middle, 40 if column.weight else 20, column.name, kind="fb-small"),
        box(left, TOP, column.width, SIDE, "fb-hollow"),
    ]
    if column.cut == "whole":
        shapes.append(box(left, TOP, column.width, SIDE, colour))
    elif column.cut == "rows":
        shapes.append(box(left, TOP + SIDE / ROWS, column.width, SIDE / ROWS, colour))
    else:
        shapes.append(box(left + column.width / ROWS, TOP, column.width / ROWS, SIDE, colour))
    return [*shapes, words(middle, TOP + SIDE + 18, size, kind="fb-small")]


def _sign(sign: str, left: float) -> list[str]:
    """What is between two arrays: a sign of arithmetic, or an arrow with a collective's name."""
    wide, middle = GAPS.get(sign, 26.0), TOP + SIDE / 2
    if sign not in GAPS:
        return [words(left + wide / 2, middle + 4, sign)]
    name = [
        words(left + wide / 2, middle - 10 - 13 * n, text, kind="fb-small")
        for n, text in enumerate(reversed(sign.split("-")))
    ]
    return [*name, arrow((left + 8, middle), (left + wide - 8, middle))]
