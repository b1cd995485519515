"""A pipeline schedule, run pass by pass and drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flopbook.drawing.schedules import NAMES, Dress, description, has_numbers, timeline_parts
from flopbook.pipelines import Run, Times, plan, simulate
from flopbook.pipelines.timeline import LEGEND
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import Figure, Sheet
from scripts.website.figures.narrow import WIDTH
from scripts.website.figures.plotted import FigureValue

# The fills of the house; those of a later chunk, or from the other end, are of the same family.
_FILLS = {"F": 0, "F2": 3, "B": 4, "B2": 1, "W": 2, "W2": 7, "A": 8, "A2": 5}
# Cold for what enters at the top, warm and underlined for what enters at the bottom; dark is
# forward, and green is weights. Passes of one direction differ in lightness.
_TWO_WAYS = {"F": 0, "A": 8, "B": 5, "W": 7, "F2": 6, "A2": 1, "B2": 4, "W2": 2}
# What the file of values calls the passes.
_PASSES = {kind: text.partition(" ")[2] for kind, text in LEGEND.items()}
# What to look for in the picture of a schedule.
_LOOK = {
    "gpipe": "All passes forward, then all back, so the first stage keeps every micro-batch.",
    "1f1b": "Once the pipeline is full, each stage alternates: one forward, one backward.",
    "interleaved": "Each stage has two chunks of the model, and a micro-batch comes by twice.",
    "zb-h1": "The gradients of the weights, green, fill what would be idle near the end.",
    "zb-h2": "More micro-batches start before the first comes back, and no gap is left. "
    "Each stage is counted from its own first pass to its own last.",
    "zb-v": "The model runs down the stages and up again, so the last piece lies on stage 1. "
    "Each stage is counted from its own first pass to its own last.",
    "dualpipe": "The first half of the micro-batches enters at the top, the other half, "
    "underlined, at the bottom. Two passes in one box run together.",
    "dualpipe-v": "As DualPipe, with the model folded in place of a second copy of the weights.",
}


def _dress(fills: Mapping[str, int]) -> Dress:
    """Fill and ink of each kind of pass by the numbers of their fills."""
    passes = {kind: (f"fb-c{number}", f"fb-on{number}") for kind, number in fills.items()}
    return Dress(passes, "fb-small")


DRESS, _BOTH = _dress(_FILLS), _dress(_TWO_WAYS)


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
    dress = _BOTH if schedule == "dualpipe" else DRESS
    height, shapes = timeline_parts(run, dress=dress)
    narrow = _narrow(run, dress, is_whole=moving)
    if moving:
        shapes, narrow = _swept(shapes), narrow._replace(parts=tuple(_swept(narrow.parts)))
    held = " / ".join(format_quantity(value, "1") for value in run.held)
    name = NAMES[schedule].partition(",")[0]
    micro = "one micro-batch" if microbatches == 1 else f"{microbatches} micro-batches"
    return Figure(
        f"{name}: {stages} stages are idle for {percent(run.fraction, 1)} of the step with {micro}",
        description(run),
        f"{_LOOK[schedule]} Micro-batches held, stage by stage: {held}.",
        height,
        tuple(shapes),
        narrow=narrow,
        readings=_readings(run),
    )


def _readings(run: Run) -> tuple[FigureValue, ...]:
    """How long each pass takes and when it begins, stage by stage."""
    return tuple(
        FigureValue(
            f"stage {stage}",
            f"{_PASSES[work.kind]} {work.microbatch + 1}",
            float(end - start),
            start=float(start),
        )
        for stage, slots in enumerate(run.timed, start=1)
        for start, end, slot in slots
        for work in slot
    )


def _swept(shapes: Iterable[str]) -> list[str]:
    """Shapes that are uncovered together."""
    return [f'<g class="fb-sweep">{"".join(shapes)}</g>']


def _narrow(run: Run, dress: Dress, *, is_whole: bool) -> Sheet:
    """The same passes on the width of a phone, in two parts where numbers would not fit.

    One that `is_whole` stays in one part.
    """
    width = round(WIDTH)
    parts = 1 if is_whole or has_numbers(run, width) else 2
    height, shapes = timeline_parts(run, width, dress, parts)
    return Sheet(WIDTH, height, tuple(shapes))
