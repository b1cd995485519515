"""A pipeline schedule, run pass by pass and drawn."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.drawing.schedules import NAMES, Dress, description, timeline_parts, title
from flopbook.pipelines import Run, Times, plan, simulate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, Sheet
from scripts.website.figures.narrow import WIDTH

# The fills of the house; those of a later chunk, or from the other end, are of the same family.
_FILLS = {"F": 0, "F2": 3, "B": 1, "B2": 6, "W": 2, "W2": 7, "A": 4, "A2": 5}
_TOGETHER = {"dualpipe": " Two passes in one box run together."}
DRESS = Dress(
    {kind: (f"fb-c{number}", f"fb-on{number}") for kind, number in _FILLS.items()}, "fb-small"
)


def figure(
    schedule: str = "gpipe",
    stages: int = 4,
    microbatches: int = 8,
    virtual: int = 1,
    times: tuple[float, float, float] = (1.0, 1.0, 1.0),
    moving: bool = False,
) -> Figure:
    """A row for each stage; `times` are those of forward, backward for inputs, and for weights.

    `moving` uncovers it from left to right, as time goes by; where motion is switched off all of it
    is shown at once. Raises FlopbookError for a schedule that does not exist or is too large to be
    seen.
    """
    run = simulate(plan(schedule, stages, microbatches, virtual), Times(*times))
    height, shapes = timeline_parts(run, dress=DRESS)
    narrow = _narrow(run)
    if moving:
        shapes, narrow = _swept(shapes), narrow._replace(parts=tuple(_swept(narrow.parts)))
    held = " / ".join(format_quantity(value, "1") for value in run.held)
    name = NAMES[schedule].partition(",")[0]
    return Figure(
        title(run),
        description(run),
        f"{name}: idle {run.fraction:.1%} of the step; micro-batches held, stage by stage: {held}."
        + _TOGETHER.get(schedule, ""),
        height,
        tuple(shapes),
        narrow=narrow,
    )


def _swept(shapes: Iterable[str]) -> list[str]:
    """Shapes that are uncovered together."""
    return [f'<g class="fb-sweep">{"".join(shapes)}</g>']


def _narrow(run: Run) -> Sheet:
    """The same passes on the width of a phone; numbers go where they do not fit."""
    height, shapes = timeline_parts(run, round(WIDTH), DRESS)
    return Sheet(WIDTH, height, tuple(shapes))
