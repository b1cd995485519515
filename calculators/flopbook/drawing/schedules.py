"""A schedule as a picture: a row for each stage, a bar for each pass, white for the bubble."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import Picture
from flopbook.errors import FlopbookError
from flopbook.pipelines import Run, StagePass, Times, plan, simulate
from flopbook.pipelines.timeline import LEGEND, is_second, timeline_text
from flopbook.quantities.units import format_quantity, percent

WIDTH, LEFT, RIGHT, TOP, FOOT = 640, 58, 6, 6, 40
ROW, HIGH_ROW = 24, 36  # the high one where two passes share a bar
_BETWEEN = 20  # pixels from one part of a picture in several to the next
_KEY = 16  # pixels from one square of the legend to the next
CHARACTER, BESIDE = 6.2, 2.0  # width of a digit of the smallest text, and free beside a number
MOST_STAGES, MOST_PASSES = 64, 6000
MOST_HELD = 16  # stages whose micro-batches are listed in the terminal
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
# direction. Both keep their contrast on a light and on a dark page. The passes of one schedule
# differ in lightness too, and where all eight are drawn those of one direction do: a line at their
# foot marks the other direction.
_COLOURS = {
    "F": ("#0068a8", "#00456f", "#ffffff"),
    "B": ("#ffd9bd", "#f3b184", "#222222"),
    "W": ("#7cba97", "#579a75", "#222222"),
    "A": ("#dcbcec", "#c596da", "#222222"),
}


def _rules(kind: str) -> str:
    """The colours of one kind of pass as variables of the page, with ours where it sets none."""
    first, second, ink = _COLOURS[kind]
    name = kind.lower()
    return (
        f".fb-pass-{name}{{fill:var(--fb-pass-{name},{first})}}"
        f".fb-pass text.fb-on-{name}{{fill:var(--fb-on-{name},{ink})}}"
        f".fb-pass-{name}2{{fill:var(--fb-pass-{name}2,{second})}}"
        f".fb-pass .fb-foot.fb-on-{name}{{stroke:var(--fb-on-{name},{ink})}}"
    )


STYLE = (
    "<style>.fb-pass rect{stroke:#ffffff;stroke-width:0.8}"
    f"{''.join(map(_rules, _COLOURS))}.fb-pass text{{font:11px sans-serif}}"
    ".fb-foot{stroke-width:2}"
    ".fb-pass .fb-name{fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){"
    ".fb-pass .fb-name{fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class Dress(NamedTuple):
    """CSS classes: fill and text of each kind of pass, and the names.

    `F` is a forward pass, `F2` one of a later chunk or from the other end.
    """

    passes: Mapping[str, tuple[str, str]]
    name: str


OWN = Dress(
    {
        f"{kind}{second}": (f"fb-pass-{kind.lower()}{second}", f"fb-on-{kind.lower()}")
        for kind in _COLOURS
        for second in ("", "2")
    },
    "fb-name",
)


class _Layout(NamedTuple):
    """Pixels of a second and of a row, seconds of a part, pixels from one part to the next."""

    scale: float
    row_height: int
    span: float
    step: int


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
    seconds = format_quantity(float(run.seconds), "s")
    makespan = format_quantity(float(run.makespan), "s")
    held = [format_quantity(count, "1") for count in run.held[:MOST_HELD]]
    if len(run.held) > MOST_HELD:
        held.append("...")
    return (
        f"run pass by pass: idle {percent(run.fraction, 2)}, {seconds} a step ({makespan} from "
        "the first pass of any stage to the last);\n"
        f"micro-batches held, stage by stage: {', '.join(held)}"
    )


def timeline_svg(run: Run, *, standalone: bool = False) -> str:
    """The picture with title and description, as a file of its own or as part of a page.

    Raises FlopbookError for a schedule that is too large to be seen.
    """
    width = _readable_width(run) if standalone else WIDTH
    height, drawn = timeline_parts(run, width)
    element_id = f"fb-tl-{run.plan.schedule}"
    namespace, size, style = "", "", ""
    if standalone:
        namespace = 'xmlns="http://www.w3.org/2000/svg" '
        size = f' width="{width}" height="{height}"'
        style = STYLE
    elements = [
        f'<svg {namespace}viewBox="0 0 {width} {height}"{size} role="img" class="fb-svg fb-pass" '
        f'aria-labelledby="{element_id}-t {element_id}-d">'
        f'<title id="{element_id}-t">{escape(title(run))}</title>'
        f'<desc id="{element_id}-d">{escape(description(run))}</desc>',
        style,
        *drawn,
        "</svg>",
    ]
    return "".join(elements)


def _readable_width(run: Run) -> int:
    """The width at which the number of a micro-batch fits into the shortest bar, with ease."""
    return round(max(WIDTH, _fitting_width(run, 2 * BESIDE)))


def _fitting_width(run: Run, beside: float) -> float:
    """The width at which the shortest bar leaves so many pixels beside a number."""
    shortest = float(min(run.times)) / run.plan.pieces
    bars = float(run.makespan) / shortest
    digits = len(str(run.plan.microbatches))
    return LEFT + RIGHT + bars * (beside + CHARACTER * digits)


def has_numbers(run: Run, width: int) -> bool:
    """Whether the shortest bar of a picture so wide has room for the number of a micro-batch."""
    return width >= _fitting_width(run, BESIDE)


def timeline_parts(
    run: Run, width: int = WIDTH, dress: Dress = OWN, parts: int = 1
) -> tuple[int, list[str]]:
    """Height and elements of the picture, in classes of its own or in those of `dress`.

    Time goes on in the next of `parts` below each other, each with all stages.

    Raises FlopbookError for a schedule that is too large to be seen.
    """
    stages = run.plan.stages
    slots = [slot for stage_slots in run.plan.slots for slot in stage_slots]
    passes = sum(map(len, slots))
    if stages > MOST_STAGES or passes > MOST_PASSES:
        raise FlopbookError(
            f"{passes:,} passes on {stages:,} stages are too many for a picture, "
            f"at most {MOST_PASSES:,} on {MOST_STAGES}; take fewer stages or micro-batches"
        )
    row_height = HIGH_ROW if any(len(slot) > 1 for slot in slots) else ROW
    span = float(run.makespan) / parts
    beyond = _longest_slot(run) if parts > 1 else 0.0  # of a pass that begins in one part
    scale = (width - LEFT - RIGHT) / (span + beyond)
    layout = _Layout(scale, row_height, span, row_height * stages + _BETWEEN)
    foot = TOP + layout.step * parts - _BETWEEN
    rows = [_row(run, stage, layout, dress) for stage in range(stages)]
    for part in range(1, parts):
        names = (_name(stage, part, layout, dress) for stage in range(stages))
        rows += [_continued(part, layout, dress), *names]
    foot_height, legend = _foot(run, foot, width, dress)
    return foot + foot_height, [*rows, *legend]


def _longest_slot(run: Run) -> float:
    """Seconds of the longest bar."""
    return max(float(end - start) for timed in run.timed for start, end, _ in timed)


def _name(stage: int, part: int, layout: _Layout, dress: Dress) -> str:
    """The name of a stage at the left of its row."""
    middle = TOP + layout.step * part + layout.row_height * (stage + 0.5) + 2
    return (
        f'<text class="{dress.name}" x="{LEFT - 8}" y="{middle}" '
        f'text-anchor="end">stage {stage + 1}</text>'
    )


def _continued(part: int, layout: _Layout, dress: Dress) -> str:
    """Says above a later part that time goes on in it."""
    foot = TOP + layout.step * part - 6
    return f'<text class="{dress.name}" x="{LEFT}" y="{foot}">and then</text>'


def title(run: Run) -> str:
    """What is drawn."""
    name = NAMES[run.plan.schedule].partition(",")[0]
    return f"{name} on {run.plan.stages:,} stages with {run.plan.microbatches:,} micro-batches"


def description(run: Run) -> str:
    """The picture in words, with its figures."""
    held = ", ".join(format_quantity(count, "1") for count in run.held)
    first_stage, last_stage = _warm_up(run, 0), _warm_up(run, run.plan.stages - 1)
    return (
        "A row for each stage, time to the right, a bar for each pass with its micro-batch. "
        f"A stage is idle for {percent(run.fraction, 1)} of its step. "
        f"Stages hold at most {held} micro-batches. Before its first backward pass, "
        f"the first stage runs {first_stage} forward passes and the last stage {last_stage}."
    )


def _warm_up(run: Run, stage: int) -> int:
    """Forward passes before the first backward pass of a stage."""
    kinds = [work.kind for slot in run.plan.slots[stage] for work in slot]
    return next((number for number, kind in enumerate(kinds) if kind != "F"), len(kinds))


def _row(run: Run, stage: int, layout: _Layout, dress: Dress) -> str:
    """One stage: its name and its passes.

    Two passes that run at once share their time, one above the other. A pass stands in the part of
    the picture in which it begins.
    """
    first_start = float(min(slots[0].start for slots in run.timed))
    elements = [_name(stage, 0, layout, dress)]
    for start, end, slot in run.timed[stage]:
        begun = float(start) - first_start
        part = int(begun / layout.span + 1e-9)
        top = TOP + layout.step * part + layout.row_height * stage
        left = LEFT + (begun - part * layout.span) * layout.scale
        width = float(end - start) * layout.scale
        height = (layout.row_height - 4) / len(slot)
        for place, work in enumerate(slot):
            box = (left, top + place * height, width, height)
            elements.append(_bar(run, work, box, dress))
    return "".join(elements)


def _bar(run: Run, work: StagePass, box: tuple[float, float, float, float], dress: Dress) -> str:
    """One pass, with the number of its micro-batch where that fits.

    `box` is x, y, width and height.
    """
    left, top, width, height = box
    second = "2" if is_second(run, work.microbatch, work.chunk) else ""
    fill, ink = dress.passes[work.kind + second]
    bar = (
        f'<rect class="{fill}" x="{left:.4g}" y="{top:.4g}" '
        f'width="{width:.4g}" height="{height:.4g}"/>'
    )
    is_marked = bool(second) and _has_two_ends(run)
    if is_marked:
        bar += _foot_line(left, top + height, width, ink)
    number = str(work.microbatch + 1)
    if len(number) * CHARACTER + BESIDE > width or height < 9:
        return bar
    baseline = 4 if height > 16 else 3.6  # a third of the height of a digit below the middle
    if is_marked:
        baseline -= 1.3  # above the line
    return (
        f'{bar}<text class="{ink}" x="{left + width / 2:.4g}" '
        f'y="{top + height / 2 + baseline:.4g}" text-anchor="middle">{number}</text>'
    )


def _has_two_ends(run: Run) -> bool:
    """Whether micro-batches enter at both ends of the pipeline."""
    return run.plan.schedule == "dualpipe"


def _foot_line(left: float, foot: float, width: float, ink: str) -> str:
    """The mark of a pass from the other end, for those who cannot go by its colour."""
    return f'<path class="fb-foot {ink}" d="M{left + 1.5:.4g} {foot - 3:.4g}h{width - 3:.4g}"/>'


def _foot(run: Run, top: int, width: int, dress: Dress) -> tuple[int, list[str]]:
    """The foot of the picture and what it holds: the kinds of passes in columns.

    A kind that has two colours has both squares side by side, and one line says what the second is.
    """
    kinds = _drawn_kinds(run)
    shown = [kind for kind in LEGEND if kinds & {kind, f"{kind}2"}]
    squares = 2 if any(kind.endswith("2") for kind in kinds) else 1
    names = {kind: LEGEND[kind].partition(" ")[2] for kind in shown}
    column = _KEY * squares + 16 + round(5.6 * max(map(len, names.values())))
    lines = math.ceil(len(shown) / max(1, (width - LEFT) // column))
    across = math.ceil(len(shown) / lines)
    elements, line = list[str](), top + 12
    for number, kind in enumerate(shown):
        left, line = LEFT + column * (number % across), top + 12 + 20 * (number // across)
        for place, key in enumerate([kind, f"{kind}2"]):
            if key in kinds:
                elements.append(_key(run, key, (left + _KEY * place, line), dress))
        elements.append(_legend_words(left + _KEY * squares + 3, line, names[kind], dress))
    if squares == 2:
        line += 20
        second = ", underlined: from the other end" if _has_two_ends(run) else ": a later chunk"
        elements.append(_legend_words(LEFT, line, f"second square{second}", dress))
    return line - top + FOOT - 12, elements


def _key(run: Run, kind: str, place: tuple[int, int], dress: Dress) -> str:
    """The square of a kind of pass in the legend; `place` is its left and its top."""
    left, top = place
    fill, ink = dress.passes[kind]
    is_marked = kind.endswith("2") and _has_two_ends(run)
    mark = _foot_line(left, top + 14, 14, ink) if is_marked else ""
    return f'<rect class="{fill}" x="{left}" y="{top}" width="14" height="14"/>{mark}'


def _legend_words(left: int, top: int, text: str, dress: Dress) -> str:
    """Words of the legend, level with a square whose top is `top`."""
    return f'<text class="{dress.name}" x="{left}" y="{top + 11}">{escape(text)}</text>'


def _drawn_kinds(run: Run) -> set[str]:
    """The kinds of passes of a run, with a 2 behind those that have a shade of their own."""
    kinds = set()
    for stage_slots in run.plan.slots:
        for work in itertools.chain.from_iterable(stage_slots):
            is_shaded = is_second(run, work.microbatch, work.chunk)
            kinds.add(f"{work.kind}2" if is_shaded else work.kind)
    return kinds
