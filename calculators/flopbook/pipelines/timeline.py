"""A schedule as lines of letters: one line for each stage, time to the right."""

from __future__ import annotations

import textwrap

from flopbook.errors import FlopbookError
from flopbook.pipelines import Run
from flopbook.pipelines.simulation import Timed

MOST_STAGES = 64
NARROWEST = 40
LEGEND = {
    "F": "F forward",
    "B": "B backward for the inputs",
    "W": "W backward for the weights",
    "A": "A backward in one piece",
}


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
    label = len(f"stage {stages}")
    room = width - label - 3
    start = min(stage[0].start for stage in run.timed)
    scale, numbered = _scale(run, room)
    lines, cut = [], False
    for number, stage in enumerate(run.timed, 1):
        cells = "".join(_line(run, stage, float(start), scale, numbered))
        cut = cut or len(cells) > room
        lines.append(
            f"stage {number}".rjust(label)
            + " |"
            + cells[:room]
            + ("" if len(cells) > room else "|")
        )
    used = {work.kind for slots in run.plan.slots for slot in slots for work in slot}
    legend = [text for kind, text in LEGEND.items() if kind in used]
    lines.append(textwrap.fill(", ".join([*legend, *_small(run), ". idle"]), width))
    if cut:
        share = room / (float(run.makespan) * scale)
        cut_text = f"cut: the first {share:.0%} of the time; a wider terminal or --plot FILE.svg shows more"
        lines.append(textwrap.fill(cut_text, width))
    return "\n".join(lines)


def _scale(run: Run, room: int) -> tuple[float, bool]:
    """Columns for a unit of time, and whether there is room for the numbers in the shortest pass."""
    shortest = float(min(run.times)) / run.plan.pieces
    digits = len(str(run.plan.microbatches))
    for columns in (digits + 2, digits + 1):
        if float(run.makespan) / shortest * columns <= room:
            return columns / shortest, True
    return 1 / shortest, False


def _small(run: Run) -> list[str]:
    if run.plan.schedule == "dualpipe":
        return ["small letters from the other end"]
    return ["small letters the later chunks"] if run.plan.pieces > 1 else []


def _line(
    run: Run, stage: tuple[Timed, ...], start: float, scale: float, numbered: bool
) -> list[str]:
    """The cells of one stage.

    Passes that run at once are drawn one after the other, in the time of both.
    """
    lengths = run.times.by_kind()
    cells: list[str] = []
    for item in stage:
        begin = float(item.start) - start
        for work in item.slot:
            length = float(lengths[work.kind]) / run.plan.pieces
            first, last = round(begin * scale), round((begin + length) * scale)
            cells.append("." * (first - sum(map(len, cells))))
            letter = work.kind.lower() if is_second(run, work.microbatch, work.chunk) else work.kind
            text = f"{letter}{work.microbatch + 1}" if numbered else letter
            cells.append(text.ljust(last - first, "-")[: last - first])
            begin += length
    end = round(float(run.makespan) * scale)
    cells.append("." * (end - sum(map(len, cells))))
    return cells


def is_second(run: Run, microbatch: int, chunk: int) -> bool:
    """Whether a pass belongs to a later chunk of its stage, or to the micro-batches from the other
    end.
    """
    if run.plan.schedule == "dualpipe":
        return microbatch >= run.plan.microbatches // 2
    return chunk >= run.plan.stages
