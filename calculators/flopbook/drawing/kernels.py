"""Kernels under the roofs of chips, as a picture: intensity to the right, rate upwards, both
logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import Picture
from flopbook.drawing.rooflines import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, axes, grid
from flopbook.drawing.scales import Room, Scale
from flopbook.evaluation.calculator import calculate
from flopbook.formulas.kernel_rooflines import Row, rows
from flopbook.kernels.notation import Machine, read_roofs
from flopbook.quantities.units import format_quantity

MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LINES, NARROWEST, MARGIN = 18, 48, 9  # of the picture in text; the margin has the rates
LINE = 16  # height of a line below the picture
SHOWN = ("h100-sxm", "mi300x", "tpu-v5p")
STYLE = (
    "<style>.fb-kernels .fb-roof{fill:none;stroke:var(--fb-accent,#0068a8);stroke-width:2}"
    ".fb-kernels .fb-further{fill:none;stroke:var(--fb-accent,#0068a8);stroke-width:1.2;stroke-dasharray:5 4}"
    ".fb-kernels .fb-point{fill:var(--md-default-fg-color,#222222)}"
    ".fb-kernels .fb-measured{fill:none;stroke:var(--md-default-fg-color,#222222);stroke-width:1.5}"
    ".fb-kernels .fb-grid{stroke:var(--md-default-fg-color--lightest,#dddddd)}"
    ".fb-kernels text{font:11px sans-serif;fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){.fb-kernels text,.fb-kernels .fb-point{"
    "fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class _Frame:
    """What is drawn, and the range of it: all kernels, all ridges, and some room beside them."""

    def __init__(self, machines: Sequence[Machine], found: Sequence[Row]) -> None:
        self.machines, self.rows = machines, found
        ridges = [ridge for machine in machines for _, ridge in machine.ridges()]
        places = [row.intensity for row in found] + ridges
        self.low, self.high = (
            10 ** math.floor(math.log10(min(places) / 2)),
            10 ** math.ceil(math.log10(max(places) * 2)),
        )
        rates = [row.rate for row in found] + [
            row.rate * row.reached for row in found if row.reached
        ]
        top = max([roof.rate for machine in machines for roof in machine.peaks] + rates)
        self.bottom, self.top = min(rates) / 3, top * 2
        self.names = list(dict.fromkeys(row.kernel.name for row in found))

    def mark(self, row: Row) -> str:
        """The number of a kernel."""
        return MARKS[self.names.index(row.kernel.name)]

    def lines(self) -> list[tuple[str, float, float, bool]]:
        """Label, peak and bandwidth of each roof, and whether the table holds kernels against it.

        Of one chip all peaks over the main memory and its first peak over all memories; of several
        the first of each.
        """
        first = [
            (one.name, one.peaks[0].rate, one.bandwidths[0].rate, True) for one in self.machines
        ]
        if len(self.machines) > 1:
            return first
        (one,) = self.machines
        peak, memory = one.peaks[0], one.bandwidths[0]
        return [
            (peak.label, peak.rate, memory.rate, True),
            *((further.label, further.rate, memory.rate, False) for further in one.peaks[1:]),
            *((further.label, peak.rate, further.rate, False) for further in one.bandwidths[1:]),
        ]


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """Roofs and kernels of the inputs of `roofline`. Raises FlopbookError."""
    found = rows(values["kernels"], values["roofs"], values["bytes_per_param"])
    frame = _Frame(read_roofs(values["roofs"]), found)
    return Picture(
        text=lambda width: _text(frame, width), svg=lambda standalone: _svg(frame, standalone)
    )


def _text(frame: _Frame, width: int) -> str:
    """The picture in letters: roofs as / and -, further ones as dots, kernels as numbers, measured
    rates as *.
    """
    columns = min(max(width, NARROWEST), 110) - MARGIN
    x = Scale(frame.low, frame.high, 0, columns - 1)
    y = Scale(frame.bottom, frame.top, LINES - 1, 0)
    cells = [[" "] * columns for _ in range(LINES)]

    def put(intensity: float, rate: float, letter: str) -> None:
        line, column = round(y.at(rate)), round(x.at(intensity))
        while letter in MARKS and cells[line][column] in MARKS and line < LINES - 1:
            line += 1  # another kernel stands there
        if frame.bottom <= rate <= frame.top:
            cells[line][column] = letter

    for _, peak, bandwidth, main in sorted(frame.lines(), key=lambda line: line[3]):
        for column in range(columns):
            intensity = frame.low * (frame.high / frame.low) ** (column / (columns - 1))
            flat = bandwidth * intensity >= peak
            put(
                intensity, min(peak, bandwidth * intensity), ("-" if flat else "/") if main else "."
            )
    for row in frame.rows:
        if row.reached:
            put(row.intensity, row.rate * row.reached, "*")
        put(row.intensity, row.rate, frame.mark(row))
    labels = {
        round(y.at(10.0**n)): 10.0**n
        for n in range(math.ceil(math.log10(frame.bottom)), 40)
        if 10**n < frame.top
    }
    lines = [
        (
            format_quantity(labels[n], "FLOP/s").removesuffix("FLOP/s").strip()
            if n in labels
            else ""
        ).rjust(MARGIN - 2)
        + " |"
        + "".join(line).rstrip()
        for n, line in enumerate(cells)
    ]
    return "\n".join([" FLOP/s", *lines, *_foot(frame, x, columns), *_legend(frame)])


def _foot(frame: _Frame, x: Scale, columns: int) -> list[str]:
    ticks = [" "] * (columns + 12)
    for power in range(round(math.log10(frame.low)), round(math.log10(frame.high)) + 1):
        label, at = f"{10.0**power:,.12g}", round(x.at(10.0**power))
        ticks[at : at + len(label)] = label
    return [
        " " * (MARGIN - 2) + " +" + "-" * columns,
        " " * MARGIN + "".join(ticks).rstrip() + " FLOP/byte",
        "",
    ]


def _legend(frame: _Frame) -> list[str]:
    kinds = "/ - roofs of the table" + (
        ", . further roofs" if any(not line[3] for line in frame.lines()) else ""
    )
    kinds += ", * measured" if any(row.reached for row in frame.rows) else ""
    roofs = [
        f"{label}: {format_quantity(peak, 'FLOP/s')}, {format_quantity(bandwidth, 'byte/s')}, ridge at "
        f"{peak / bandwidth:,.4g} FLOP/byte"
        for label, peak, bandwidth, _ in frame.lines()
    ]
    return [kinds, *roofs, *(f"{MARKS[n]} {name}" for n, name in enumerate(frame.names))]


def _svg(frame: _Frame, standalone: bool) -> str:
    x = Scale(frame.low, frame.high, LEFT, WIDTH - RIGHT)
    y = Scale(frame.bottom, frame.top, HEIGHT - BOTTOM, TOP)
    room = Room((LEFT, TOP, WIDTH - RIGHT + 8, HEIGHT - BOTTOM))
    height = HEIGHT + LINE * (len(frame.names) + 1)
    title = "Roofline of " + ", ".join(one.name for one in frame.machines)
    said = "; ".join(
        f"{row.kernel.name} on {row.machine.name}: {row.bound}, {format_quantity(row.rate, 'FLOP/s')}"
        for row in frame.rows
    )
    head = (
        f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        if standalone
        else ""
    )
    parts = [
        f'<svg {head}viewBox="0 0 {WIDTH} {height}" role="img" class="fb-svg fb-kernels" '
        f'aria-label="{escape(title)}. {escape(said)}"><title>{escape(title)}</title>',
        STYLE if standalone else "",
        *grid(x, y),
        *axes(),
    ]
    points = [(x.at(row.intensity), y.at(row.rate)) for row in frame.rows]
    room.block(points, 4)
    parts += [_roof(line, frame, x, y, room) for line in frame.lines()]
    for row, (left, top) in zip(frame.rows, points, strict=True):
        parts.append(_point(frame, row, (left, top), y, room))
    for n, name in enumerate(frame.names):
        parts.append(
            f'<text x="{LEFT}" y="{HEIGHT + LINE * (n + 1)}">{MARKS[n]}  {escape(name)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _roof(
    line: tuple[str, float, float, bool], frame: _Frame, x: Scale, y: Scale, room: Room
) -> str:
    """A slope from where it enters the picture, and the flat roof that it ends in."""
    label, peak, bandwidth, main = line
    ridge = peak / bandwidth
    start = max(frame.low, frame.bottom / bandwidth)
    points = f"{x.at(start)},{y.at(bandwidth * start)} {x.at(ridge)},{y.at(peak)} {x.at(frame.high)},{y.at(peak)}"
    text = f"{label}, ridge {ridge:,.4g}"
    shown = ""
    if label in (
        one.label for one in frame.machines[0].bandwidths
    ):  # a memory is named along its slope
        left, top, right, end = x.at(start), y.at(bandwidth * start), x.at(ridge), y.at(peak)
        angle = math.degrees(math.atan2(end - top, right - left))
        at, high = (left + right) / 2, (top + end) / 2
        shown = f'<text transform="translate({at:.4g} {high:.4g}) rotate({angle:.4g})" y="-4" text-anchor="middle">'
        shown += f"{escape(text)}</text>"
    elif place := room.place(text, x.at(frame.high), y.at(peak)) or room.place(
        text, x.at(ridge), y.at(peak)
    ):
        shown = (
            f'<text x="{place[0]}" y="{place[1]}" text-anchor="{place[2]}">{escape(text)}</text>'
        )
    kind = "fb-roof" if main else "fb-further"
    return f'<polyline class="{kind}" points="{points}"><title>{escape(text)} FLOP/byte</title></polyline>{shown}'


def _point(frame: _Frame, row: Row, at: tuple[float, float], y: Scale, room: Room) -> str:
    left, top = at
    rate = format_quantity(row.rate, "FLOP/s")
    told = f"{row.kernel.name} on {row.machine.name}: {row.intensity:,.4g} FLOP/byte, {rate}"
    place = room.place(frame.mark(row), left, top)
    mark = (
        f'<text x="{place[0]}" y="{place[1]}" text-anchor="{place[2]}">{frame.mark(row)}</text>'
        if place
        else ""
    )
    if row.reached:
        mark += (
            f'<circle class="fb-measured" cx="{left}" cy="{y.at(row.rate * row.reached)}" r="4">'
            f"<title>{escape(told)}, measured {row.reached:.1%} of it</title></circle>"
        )
    return f'<circle class="fb-point" cx="{left}" cy="{top}" r="3.5"><title>{escape(told)}</title></circle>{mark}'


def section(name: str) -> list[str]:
    """The part of the page of `roofline` with the standard kernels on a few chips."""
    wide = STYLE.replace(
        "<style>", "<style>figure.fb-figure:has(.fb-kernels){width:100%;max-width:48rem}"
    )
    lines = ["## The same kernels on a few chips\n", wide + "\n"]
    for chip in SHOWN:
        result = calculate(name, chip=chip)
        given = {
            key: item.value for key, item in result.inputs.items() if key in result.formula.inputs
        }
        drawn = picture(name, {**result.formula.defaults, **given}).svg(False)
        waiting = sum(bound == "memory" for bound in result["bound"])
        said = f"{waiting} of {len(result['bound'])} kernels wait for memory"
        caption = f"{result.inputs['chip'].value}: {said}; the ridge of bf16 is at {result['flop_per_byte'][0]:,.0f}."
        lines.append(
            f'<figure class="fb-figure">{drawn}<figcaption>{escape(caption)}</figcaption></figure>\n'
        )
    return lines
