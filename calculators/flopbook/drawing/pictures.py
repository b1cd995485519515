"""Pictures that belong to answers: which calculators have one, and how a command shows it.

A module that draws has a function `picture`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import Result

# Columns of a picture in text on a page.
PAGE_WIDTH = 100


class Picture(NamedTuple):
    """One answer, drawn. Both functions raise FlopbookError for what is too large to be seen.

    `text` takes the columns of a terminal, `svg` whether the file stands alone. `words` are figures
    counted from the picture, which hold where a closed form does not; empty where the answer has
    them all.
    """

    text: Callable[[int], str]
    svg: Callable[[bool], str]
    words: str = ""


class Drawing(NamedTuple):
    """How a calculator's picture is asked for. Without a `flag` it is printed with every answer."""

    module: str
    writing: str
    flag: str = ""
    printing: str = ""


DRAWINGS: dict[str, Drawing] = {
    "bubble": Drawing(
        "schedules",
        "Run the schedule and draw it into this file (SVG), or with - in the terminal.",
        "timeline",
        "Run the schedule and print it: a line for each stage, a letter for a pass.",
    ),
    "shard": Drawing(
        "shards",
        "Draw which device holds which block into this file (SVG), or with - in the terminal.",
    ),
    "sharded-matmul": Drawing(
        "shards",
        "Draw where the blocks of all three arrays lie into this file (SVG), or with - in the "
        "terminal.",
        "picture",
        "Print which device holds which block of all three arrays.",
    ),
    "roofline": Drawing(
        "kernels", "Draw roofs and kernels into this file (SVG), or with - in the terminal."
    ),
}


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """The picture of a calculator's answer, from all its inputs in SI units.

    Raises FlopbookError.
    """
    # Imported when it is drawn: a picture needs a simulation or a notation that no answer needs.
    module = importlib.import_module(f"flopbook.drawing.{DRAWINGS[name].module}")
    draw: Callable[[str, Mapping[str, Any]], Picture] = module.picture
    return draw(name, values)


def shown_answer(result: Result, width: int = PAGE_WIDTH) -> str:
    """An answer as a terminal shows it, with its picture where that is always printed."""
    name = result.formula.id
    if name not in DRAWINGS or DRAWINGS[name].flag:
        return answer(result)
    return f"{answer(result)}\n\n{picture(name, formula_inputs(result)).text(width)}"


def formula_inputs(result: Result) -> dict[str, Any]:
    """Every input of an answer's formula in SI units, without the chip that filled some in."""
    formula = result.formula
    inputs = {name: row.value for name, row in result.inputs.items() if name in formula.inputs}
    return {**formula.defaults, **inputs}
