"""A schedule as a picture: one row for each stage, a bar for each pass, white space for the bubble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import Picture
from flopbook.errors import FlopbookError
from flopbook.pipelines import Run, StagePass, Times, plan, simulate
from flopbook.pipelines.timeline import LEGEND, is_second, timeline_text
from flopbook.quantities.units import format_quantity

WIDTH, LEFT, RIGHT, TOP, FOOT = 640, 58, 6, 6, 40
ROW, HIGH_ROW = 24, 31  # the high one where two passes share a bar
CHARACTER = 6.2  # width of a digit of the smallest text
MOST_STAGES, MOST_PASSES = 64, 6000
NAMES = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved": "Interleaved, two chunks",
    "zb-h1": "ZB-H1",
    "zb-h2": "ZB-H2",
    "zb-v": "ZB-V",
    "dualpipe": "DualPipe",
    "dualpipe-v": "DualPipe-V",
}
# Fill and text of each kind of pass; the second fill is that of a later chunk or of the other
# direction. Both keep their contrast on a light and on a dark page.
_COLOURS = {
    "F": ("#0068a8", "#00456f", "#ffffff"),
    "B": ("#ffd9bd", "#f3b184", "#222222"),
    "W": ("#c4e6d2", "#93cfae", "#222222"),
    "A": ("#ead3f2", "#d3a9e2", "#222222"),
}
_RULES = "".join(
    f".fb-pass-{kind.lower()}{mark}{{fill:var(--fb-pass-{kind.lower()}{mark},{colours[number]})}}"
    f".fb-pass text.fb-on-{kind.lower()}{{fill:var(--fb-on-{kind.lower()},{colours[2]})}}"
    for kind, colours in _COLOURS.items()
    for number, mark in enumerate(("", "2"))
)
STYLE = (
    f"<style>.fb-pass rect{{stroke:#ffffff;stroke-width:0.8}}{_RULES}.fb-pass text{{font:11px sans-serif}}"
    ".fb-pass .fb-name{fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){.fb-pass .fb-name{fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class Dress(NamedTuple):
    """Classes of a picture: of fill and text of each kind of pass (F, and F2 for a second one), and
    of names.
    """

    passes: Mapping[str, tuple[str, str]]
    name: str


OWN = Dress(
    {
        f"{kind}{mark}": (f"fb-pass-{kind.lower()}{mark}", f"fb-on-{kind.lower()}")
        for kind in _COLOURS
        for mark in ("", "2")
    },
    "fb-name",
)


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """The schedule that the inputs of `bubble` ask for, run and drawn. Raises FlopbookError."""
    counts = [int(values[key]) for key in ("stages", "microbatches", "virtual")]
    forward = values["forward"]
    times = Times(
        forward, values["backward_input"] or forward, values["backward_weight"] or forward
    )
    run = simulate(plan(values["schedule"], *counts), times)
    return Picture(
        text=lambda width: timeline_text(run, width),
        svg=lambda standalone: timeline_svg(run, standalone=standalone),
        words=_figures(run),
    )


def _figures(run: Run) -> str:
    """The figures of the closed form, counted from the schedule."""
    times = [format_quantity(float(value), "s") for value in (run.seconds, run.makespan)]
    held = ", ".join(format_quantity(value, "1") for value in run.held[:16])
    more = ", ..." if len(run.held) > 16 else ""
    return (
        f"run pass by pass: idle {run.fraction:.2%}, {times[0]} a step ({times[1]} from the first pass of any stage to "
        f"the last);\nmicro-batches held, stage by stage: {held}{more}"
    )


def timeline_svg(run: Run, *, standalone: bool = False) -> str:
    """The picture with title and description, as a file of its own or as part of a page.

    Raises FlopbookError for a schedule that is too large to be seen.
    """
    found = run.plan
    shortest = float(min(run.times)) / found.pieces
    needed = (
        LEFT
        + RIGHT
        + float(run.makespan) / shortest * (4 + CHARACTER * len(str(found.microbatches)))
    )
    width = round(max(WIDTH, needed)) if standalone else WIDTH
    height, drawn = timeline_parts(run, width)
    kind = f"fb-tl-{found.schedule}"
    head = 'xmlns="http://www.w3.org/2000/svg" ' if standalone else ""
    size = f' width="{width}" height="{height}"' if standalone else ""
    parts = [
        f'<svg {head}viewBox="0 0 {width} {height}"{size} role="img" class="fb-svg fb-pass" '
        f'aria-labelledby="{kind}-t {kind}-d"><title id="{kind}-t">{escape(title(run))}</title>'
        f'<desc id="{kind}-d">{escape(description(run))}</desc>',
        STYLE if standalone else "",
        *drawn,
        "</svg>",
    ]
    return "".join(parts)


def timeline_parts(run: Run, width: int = WIDTH, dress: Dress = OWN) -> tuple[int, list[str]]:
    """Height and pieces of the picture, in classes of its own or in those of `dress`.

    Raises FlopbookError for a schedule that is too large to be seen.
    """
    found = run.plan
    passes = sum(len(slot) for slots in found.slots for slot in slots)
    if found.stages > MOST_STAGES or passes > MOST_PASSES:
        raise FlopbookError(
            f"{passes:,} passes on {found.stages:,} stages are too many for a picture, "
            f"at most {MOST_PASSES:,} on {MOST_STAGES}; take fewer stages or micro-batches"
        )
    scale = (width - LEFT - RIGHT) / float(run.makespan)
    row = HIGH_ROW if any(len(slot) > 1 for slots in found.slots for slot in slots) else ROW
    foot = TOP + row * found.stages
    rows = [_row(run, number, (scale, row), dress) for number in range(found.stages)]
    return foot + FOOT, [*rows, *_foot(run, foot, dress)]


def title(run: Run) -> str:
    """What is drawn."""
    name = NAMES[run.plan.schedule].partition(",")[0]
    return f"{name} on {run.plan.stages:,} stages with {run.plan.microbatches:,} micro-batches"


def description(run: Run) -> str:
    """The picture in words, with its figures."""
    held = ", ".join(format_quantity(value, "1") for value in run.held)
    waits = [_wait(run, number) for number in range(run.plan.stages)]
    return (
        f"A row for each stage, time to the right, a bar for each pass with its micro-batch. A stage is idle for "
        f"{run.fraction:.1%} of its step. Stages hold at most {held} micro-batches. Before its first backward pass, "
        f"the first stage runs {waits[0]} forward passes and the last stage {waits[-1]}."
    )


def _wait(run: Run, stage: int) -> int:
    """Forward passes before the first backward pass of a stage."""
    kinds = [work.kind for slot in run.plan.slots[stage] for work in slot]
    return next((n for n, kind in enumerate(kinds) if kind != "F"), len(kinds))


def _row(run: Run, number: int, size: tuple[float, int], dress: Dress) -> str:
    """One stage: its name and its passes.

    Two that run at once share their time, one above the other.
    """
    scale, row = size
    top = TOP + row * number
    first = float(min(stage[0].start for stage in run.timed))
    parts = [
        f'<text class="{dress.name}" x="{LEFT - 8}" y="{top + row / 2 + 2}" text-anchor="end">stage {number + 1}</text>'
    ]
    for start, end, slot in run.timed[number]:
        left, width = LEFT + (float(start) - first) * scale, float(end - start) * scale
        height = (row - 4) / len(slot)
        for place, work in enumerate(slot):
            parts.append(_bar(run, work, (left, top + place * height, width, height), dress))
    return "".join(parts)


def _bar(run: Run, work: StagePass, box: tuple[float, float, float, float], dress: Dress) -> str:
    left, top, width, height = box
    fill, ink = dress.passes[
        work.kind + ("2" if is_second(run, work.microbatch, work.chunk) else "")
    ]
    bar = f'<rect class="{fill}" x="{left:.4g}" y="{top:.4g}" width="{width:.4g}" height="{height:.4g}"/>'
    name = str(work.microbatch + 1)
    if len(name) * CHARACTER > width or height < 9:
        return bar
    middle, line = left + width / 2, top + height / 2 + (4 if height > 12 else 3.6)
    return f'{bar}<text class="{ink}" x="{middle:.4g}" y="{line:.4g}" text-anchor="middle">{name}</text>'


def _foot(run: Run, top: int, dress: Dress) -> list[str]:
    """What the colours mean; each is named by its letter as well, as in the terminal."""
    used = {work.kind for slots in run.plan.slots for slot in slots for work in slot}
    parts, left = [], LEFT
    for kind, text in LEGEND.items():
        if kind in used:
            parts.append(
                f'<rect class="{dress.passes[kind][0]}" x="{left}" y="{top + 12}" width="14" height="14"/>'
                f'<text class="{dress.name}" x="{left + 19}" y="{top + 23}">{escape(text[2:])}</text>'
            )
            left += 32 + round(5.4 * len(text[2:]))
    return parts


def section(name: str) -> list[str]:
    """The part of the page of `bubble` with a picture of each schedule, for a case small enough to
    follow.
    """
    lines = [
        "## The schedules, pass by pass\n",
        "Each form equals a simulation of its schedule that knows nothing of the form. For GPipe, 1F1B and interleaved "
        "that holds for any times; for ZB-H1 and ZB-H2 where W is no longer than F and B; for ZB-V where W <= F <= B "
        "and M >= 2K - 1; for DualPipe and DualPipe-V where F = B, W is no longer, and M >= 2K. Elsewhere the "
        "calculator refuses the form, and `--timeline` still runs the schedule.\n",
        "The pictures: four stages, eight micro-batches, and three passes of equal length, forward, backward for the "
        "inputs, backward for the weights. The number in a bar is its micro-batch; darker bars are the second chunk of "
        "a stage, or micro-batches from the other end. Draw your own with `--timeline` or `--plot FILE.svg`.\n",
        STYLE + "\n",
    ]
    for schedule, label in NAMES.items():
        run = simulate(
            plan(schedule, 4, 8, 2 if schedule == "interleaved" else 1), Times(1.0, 1.0, 1.0)
        )
        held = " / ".join(format_quantity(value, "1") for value in run.held)
        caption = f"{label}: idle {run.fraction:.1%} of the step; micro-batches held, stage by stage: {held}."
        lines.append(
            f'<figure class="fb-figure">{timeline_svg(run)}<figcaption>{escape(caption)}</figcaption></figure>\n'
        )
    return lines
