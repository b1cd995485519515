"""Kernels under the roofs of chips: rate against arithmetic intensity, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.drawing.frame import Frame, powers_of_ten
from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import Picture
from flopbook.drawing.rooflines import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    bare_rate,
    plain_power,
    roofline_frame,
)
from flopbook.drawing.scales import Room, Scale
from flopbook.formulas.kernel_rooflines import KernelRow, rows
from flopbook.kernels.notation import Machine, read_roofs
from flopbook.quantities.units import format_quantity, percent

# What a kernel is drawn as in a terminal, and what its point is labelled with in the picture.
MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Of the picture in text: lines, columns at least and at most, and the margin that has the rates.
LINES, NARROWEST, WIDEST, MARGIN = 18, 48, 110, 9
LEGEND_LINE = 16  # height of a line of the legend below the picture
STYLE = (
    "<style>.fb-kernels .fb-roof{fill:none;stroke:var(--fb-accent,#0068a8);stroke-width:2}"
    ".fb-kernels .fb-further{fill:none;stroke:var(--fb-accent,#0068a8);stroke-width:1.2;"
    "stroke-dasharray:5 4}"
    ".fb-kernels .fb-point{fill:var(--md-default-fg-color,#222222)}"
    ".fb-kernels .fb-measured{fill:none;stroke:var(--md-default-fg-color,#222222);stroke-width:1.5}"
    ".fb-kernels .fb-grid{stroke:var(--md-default-fg-color--lightest,#dddddd)}"
    ".fb-kernels text{font:11px sans-serif;fill:var(--md-default-fg-color,#222222)}"
    "@media (prefers-color-scheme:dark){.fb-kernels text,.fb-kernels .fb-point{"
    "fill:var(--md-default-fg-color,#e8e8e8)}}</style>"
)


class RoofLine(NamedTuple):
    """A roof as drawn: peak (FLOP/s) and bandwidth (byte/s).

    `main`: kernels are held against this one. `along_slope`: the label belongs to its bandwidth.
    """

    label: str
    peak: float
    bandwidth: float
    main: bool = False
    along_slope: bool = False

    @property
    def text(self) -> str:
        """The label with the ridge, in FLOP/byte."""
        return f"{self.label}, ridge {self.peak / self.bandwidth:,.4g}"


class KernelPlot:
    """What is drawn, and the ends of both axes: all kernels and ridges, with room beside them."""

    def __init__(self, machines: Sequence[Machine], kernels: Sequence[KernelRow]) -> None:
        self.machines, self.kernels = machines, kernels
        self.roofs = _roof_lines(machines)
        self.names = list(dict.fromkeys(row.kernel.name for row in kernels))
        ridges = [ridge for machine in machines for _, ridge in machine.ridges()]
        intensities = [row.intensity for row in kernels] + ridges
        self.low = 10 ** math.floor(math.log10(min(intensities) / 2))
        self.high = 10 ** math.ceil(math.log10(max(intensities) * 2))
        rates = [row.rate for row in kernels]
        rates += [row.rate * row.reached for row in kernels if row.reached]
        peaks = [roof.rate for machine in machines for roof in machine.peaks]
        self.bottom, self.top = min(rates) / 3, max(peaks + rates) * 2

    def mark(self, row: KernelRow) -> str:
        """The letter of a kernel."""
        return MARKS[self.names.index(row.kernel.name)]


def _roof_lines(machines: Sequence[Machine]) -> list[RoofLine]:
    """The roofs that are drawn.

    Of one chip all peaks over the main memory, and its first peak over all memories; of several
    chips the first peak and bandwidth of each.
    """
    if len(machines) > 1:
        return [
            RoofLine(chip.name, chip.peaks[0].rate, chip.bandwidths[0].rate, main=True)
            for chip in machines
        ]
    (chip,) = machines
    memories = {memory.label for memory in chip.bandwidths}
    peak, memory = chip.peaks[0], chip.bandwidths[0]
    return [
        RoofLine(peak.label, peak.rate, memory.rate, True, peak.label in memories),
        *(
            RoofLine(lower.label, lower.rate, memory.rate, along_slope=lower.label in memories)
            for lower in chip.peaks[1:]
        ),
        *(
            RoofLine(cache.label, peak.rate, cache.rate, along_slope=True)
            for cache in chip.bandwidths[1:]
        ),
    ]


def picture(name: str, values: Mapping[str, Any]) -> Picture:
    """Roofs and kernels of the inputs of `roofline`. Raises FlopbookError."""
    kernels = rows(values["kernels"], values["roofs"], values["bytes_per_param"])
    plot = KernelPlot(read_roofs(values["roofs"]), kernels)
    return Picture(
        text=lambda width: _text(plot, width), svg=lambda standalone: _svg(plot, standalone)
    )


class _Canvas:
    """A plot in letters: cells in lines and columns, addressed by intensity and rate."""

    def __init__(self, plot: KernelPlot, columns: int) -> None:
        self.x = Scale(plot.low, plot.high, 0, columns - 1)
        self.y = Scale(plot.bottom, plot.top, LINES - 1, 0)
        self.cells = [[" "] * columns for _ in range(LINES)]

    def put(self, intensity: float, rate: float, letter: str) -> None:
        """Write a letter; a kernel goes a line lower where another kernel is already."""
        if not self.y.low <= rate <= self.y.high:
            return
        line, column = round(self.y.at(rate)), round(self.x.at(intensity))
        if letter in MARKS:
            while self.cells[line][column] in MARKS and line < LINES - 1:
                line += 1
        self.cells[line][column] = letter


def _text(plot: KernelPlot, width: int) -> str:
    """The plot in letters: roofs / and -, further roofs as dots, kernels by mark, measured as *."""
    columns = min(max(width, NARROWEST), WIDEST) - MARGIN
    canvas = _Canvas(plot, columns)
    for roof in sorted(plot.roofs, key=lambda roof: roof.main):  # the main roofs cover the others
        _put_roof(canvas, roof, columns)
    for row in plot.kernels:
        if row.reached:
            canvas.put(row.intensity, row.rate * row.reached, "*")
        canvas.put(row.intensity, row.rate, plot.mark(row))
    rate_labels = {
        round(canvas.y.at(rate)): bare_rate(rate)
        for rate in powers_of_ten(canvas.y)
        if rate < plot.top
    }
    lines = []
    for number, cells in enumerate(canvas.cells):
        margin = rate_labels.get(number, "").rjust(MARGIN - 2)
        lines.append(f"{margin} |{''.join(cells).rstrip()}")
    return "\n".join([" FLOP/s", *lines, *_foot(plot, canvas.x, columns), *_legend(plot)])


def _put_roof(canvas: _Canvas, roof: RoofLine, columns: int) -> None:
    """A roof in letters, at every column."""
    for column in range(columns):
        share = column / (columns - 1)
        intensity = canvas.x.low * (canvas.x.high / canvas.x.low) ** share
        slope = roof.bandwidth * intensity
        letter = "."
        if roof.main:
            letter = "-" if slope >= roof.peak else "/"
        canvas.put(intensity, min(roof.peak, slope), letter)


def _foot(plot: KernelPlot, x: Scale, columns: int) -> list[str]:
    """The axis of the intensities below the plot in letters."""
    ticks = [" "] * (columns + 12)
    for power in range(round(math.log10(plot.low)), round(math.log10(plot.high)) + 1):
        label, column = plain_power(10.0**power), round(x.at(10.0**power))
        ticks[column : column + len(label)] = label
    return [
        " " * (MARGIN - 2) + " +" + "-" * columns,
        " " * MARGIN + "".join(ticks).rstrip() + " FLOP/byte",
        "",
    ]


def _legend(plot: KernelPlot) -> list[str]:
    """What the letters mean, and the figures of each roof."""
    letters = ["/ - roofs of the table"]
    if not all(roof.main for roof in plot.roofs):
        letters.append(". further roofs")
    if any(row.reached for row in plot.kernels):
        letters.append("* measured")
    roofs = [
        f"{roof.label}: {format_quantity(roof.peak, 'FLOP/s')}, "
        f"{format_quantity(roof.bandwidth, 'byte/s')}, ridge at "
        f"{roof.peak / roof.bandwidth:,.4g} FLOP/byte"
        for roof in plot.roofs
    ]
    names = [f"{MARKS[number]} {name}" for number, name in enumerate(plot.names)]
    return [", ".join(letters), *roofs, *names]


def _svg(plot: KernelPlot, standalone: bool) -> str:
    """The plot as SVG, as a file of its own or as part of a page."""
    frame = roofline_frame((plot.low, plot.high), (plot.bottom, plot.top))
    room = Room((LEFT, TOP, WIDTH - RIGHT + 8, HEIGHT - BOTTOM))
    room.block((frame.at(row.intensity, row.rate) for row in plot.kernels), 4)
    roofs = [_roof(roof, frame, room) for roof in plot.roofs]
    points = [_point(plot, row, frame, room) for row in plot.kernels]
    legend = [
        f'<text x="{LEFT}" y="{HEIGHT + LEGEND_LINE * (number + 1)}">{MARKS[number]}  '
        f"{escape(name)}</text>"
        for number, name in enumerate(plot.names)
    ]
    return (
        "".join([_head(plot, standalone), *frame.grid(), *frame.titles(), *roofs, *points, *legend])
        + "</svg>"
    )


def _head(plot: KernelPlot, standalone: bool) -> str:
    """The start of the picture: its size, and what a screen reader says of it."""
    height = HEIGHT + LEGEND_LINE * (len(plot.names) + 1)
    size, style = "", ""
    if standalone:
        size = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        style = STYLE
    title = escape("Roofline of " + ", ".join(chip.name for chip in plot.machines))
    words = escape("; ".join(_described(row) for row in plot.kernels))
    return (
        f'<svg {size}viewBox="0 0 {WIDTH} {height}" role="img" class="fb-svg fb-kernels" '
        f'aria-label="{title}. {words}"><title>{title}</title>{style}'
    )


def _described(row: KernelRow) -> str:
    rate = format_quantity(row.rate, "FLOP/s")
    return f"{row.kernel.name} on {row.machine.name}: {row.bound}, {rate}"


def _roof(roof: RoofLine, frame: Frame, room: Room) -> str:
    """A slope from where it enters the picture, and the flat roof that it ends in."""
    start = max(frame.x.low, frame.y.low / roof.bandwidth)
    kind = "fb-roof" if roof.main else "fb-further"
    if roof.along_slope:
        label = _label_along_slope(roof, frame, start)
    else:
        label = _label_at_end(roof, frame, room)
    return (
        f'<polyline class="{kind}" points="{frame.roof(start, roof.peak, roof.bandwidth)}">'
        f"<title>{escape(roof.text)} FLOP/byte</title></polyline>{label}"
    )


def _label_along_slope(roof: RoofLine, frame: Frame, start: float) -> str:
    """The label of a memory, turned to run along the middle of its slope."""
    left, low = frame.at(start, roof.bandwidth * start)
    right, high = frame.at(roof.peak / roof.bandwidth, roof.peak)
    angle = math.degrees(math.atan2(high - low, right - left))
    x, y = (left + right) / 2, (low + high) / 2
    return (
        f'<text transform="translate({x:.4g} {y:.4g}) rotate({angle:.4g})" y="-4" '
        f'text-anchor="middle">{escape(roof.text)}</text>'
    )


def _label_at_end(roof: RoofLine, frame: Frame, room: Room) -> str:
    """The label of a peak at the end of its roof, else at its ridge, else nowhere."""
    end = frame.at(frame.x.high, roof.peak)
    ridge = frame.at(roof.peak / roof.bandwidth, roof.peak)
    return _text_beside(roof.text, end, room) or _text_beside(roof.text, ridge, room)


def _text_beside(text: str, point: tuple[float, float], room: Room) -> str:
    """A text beside a point, empty where there is no room."""
    place = room.place(text, *point)
    if place is None:
        return ""
    x, y, anchor = place
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _point(plot: KernelPlot, row: KernelRow, frame: Frame, room: Room) -> str:
    """A kernel: its point, its mark, and the rate that was measured, if one was."""
    x, y = frame.at(row.intensity, row.rate)
    rate = format_quantity(row.rate, "FLOP/s")
    tip = escape(f"{row.kernel.name} on {row.machine.name}: {row.intensity:,.4g} FLOP/byte, {rate}")
    mark = _text_beside(plot.mark(row), (x, y), room)
    measured = ""
    if row.reached:
        measured = (
            f'<circle class="fb-measured" cx="{x}" cy="{frame.y.at(row.rate * row.reached)}" r="4">'
            f"<title>{tip}, measured {percent(row.reached, 1)} of it</title></circle>"
        )
    point = f'<circle class="fb-point" cx="{x}" cy="{y}" r="3.5"><title>{tip}</title></circle>'
    return f"{point}{mark}{measured}"
