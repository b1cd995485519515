"""A schedule as lines of letters: one line for each stage, time to the right."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.pipelines import Run
from flopbook.pipelines.simulation import TimedSlot
from flopbook.quantities.units import percent

MOST_STAGES = 64
NARROWEST = 40
LEGEND = {
    "F": "F forward",
    "B": "B backward for the inputs",
    "W": "W backward for the weights",
    "A": "A backward in one piece",
}


class _Scale(NamedTuple):
    """Where time begins, the columns for a unit of it, and whether passes carry numbers."""

    start: float
    columns: float
    numbered: bool

    def column(self, time: float) -> int:
        return round((time - self.start) * self.columns)


def timeline_text(run: Run, width: int) -> str:
    """The timeline, at most `width` columns wide; where it is cut, the last line says so.

    Letters are passes (small ones those of a later chunk or of the other direction), numbers
    micro-batches where there is room, dots idle time. Raises FlopbookError for more stages than fit
    on a screen.
    """
    stages = run.plan.stages
    if stages > MOST_STAGES:
        raise FlopbookError(
            f"a timeline of {stages:,} stages does not fit; at most {MOST_STAGES} are drawn"
        )
    width = max(NARROWEST, width)
    label_width = len(f"stage {stages}")
    room = width - label_width - len(" |") - len("|")
    scale = _scale(run, room)
    rows = [_cells(run, stage, scale) for stage in run.timed]
    lines = []
    for number, cells in enumerate(rows, 1):
        label = f"stage {number}".rjust(label_width)
        # A row without a closing bar goes on beyond the screen.
        lines.append(f"{label} |{cells}|" if len(cells) <= room else f"{label} |{cells[:room]}")
    lines.append(textwrap.fill(", ".join(_legend(run)), width))
    if any(len(cells) > room for cells in rows):
        share = room / (float(run.makespan) * scale.columns)
        message = (
            f"cut: the first {percent(share)} of the time; "
            "a wider terminal or --plot FILE.svg shows more"
        )
        lines.append(textwrap.fill(message, width))
    return "\n".join(lines)


def _scale(run: Run, room: int) -> _Scale:
    """The widest scale at which the run fits: with numbers, or with one column for the shortest."""
    start = float(min(stage[0].start for stage in run.timed))
    shortest = float(min(run.times)) / run.plan.pieces
    digits = len(str(run.plan.microbatches))
    # A letter, the number and perhaps a gap to the next pass.
    for columns in (digits + 2, digits + 1):
        if float(run.makespan) / shortest * columns <= room:
            return _Scale(start, columns / shortest, numbered=True)
    return _Scale(start, 1 / shortest, numbered=False)


def _legend(run: Run) -> list[str]:
    """What the signs mean that occur in a run."""
    kinds = {p.kind for order in run.plan.slots for slot in order for p in slot}
    legend = [text for kind, text in LEGEND.items() if kind in kinds]
    if run.plan.schedule == "dualpipe":
        legend.append("small letters from the other end")
    elif run.plan.pieces > 1:
        legend.append("small letters the later chunks")
    return [*legend, ". idle"]


def _cells(run: Run, stage: tuple[TimedSlot, ...], scale: _Scale) -> str:
    """The cells of one stage.

    Passes that run at once are drawn one after the other, in the time of both.
    """
    durations = run.times.by_kind()
    cells = ""
    for timed in stage:
        begin = float(timed.start)
        for kind, microbatch, chunk in timed.slot:
            duration = float(durations[kind]) / run.plan.pieces
            first, last = scale.column(begin), scale.column(begin + duration)
            letter = kind.lower() if is_second(run, microbatch, chunk) else kind
            text = f"{letter}{microbatch + 1}" if scale.numbered else letter
            cells = cells.ljust(first, ".") + text.ljust(last - first, "-")[: last - first]
            begin += duration
    return cells.ljust(round(float(run.makespan) * scale.columns), ".")


def is_second(run: Run, microbatch: int, chunk: int) -> bool:
    """Whether a pass is of a later chunk of its stage, or of a micro-batch from the other end."""
    if run.plan.schedule == "dualpipe":
        return microbatch >= run.plan.microbatches // 2
    return chunk >= run.plan.stages
