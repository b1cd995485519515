"""Time of a collective by the size of the array: flat where latency rules, then in proportion."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Axis, Chart
from scripts.website.figures.drawing import Figure

LOW, HIGH, POINTS = 3, 10, 43  # powers of ten of the bytes, and points of a line


def figure(
    chip: str = "tpu-v5p", op: str = "all-gather", chips: tuple[int, ...] = (4, 32)
) -> Figure:
    """Time against bytes on one ring or switch of this chip; a line for each number of chips."""
    lines = []
    for count in chips:
        points = []
        for n in range(POINTS):
            size = 10 ** (LOW + (HIGH - LOW) * n / (POINTS - 1))
            points.append(
                (size, calculate("collective", chip=chip, op=op, chips=count, bytes=size, axes=1))
            )
        lines.append((count, points))
    ends = [found["seconds"] for _, points in lines for found in (points[0][1], points[-1][1])]
    chart = Chart(
        Axis("bytes of the whole array", 10.0**LOW, 10.0**HIGH, "byte"),
        Axis("time", min(ends) / 2, max(ends) * 2, "s"),
        (84, 14, 616, 270),
    )
    shapes, facts = chart.grid(), []
    for number, (count, points) in enumerate(lines):
        shapes.append(chart.line([(size, found["seconds"]) for size, found in points], number))
        bend = points[0][1]["crossover_bytes"]
        floor = points[0][1]["seconds"]
        shapes.append(
            chart.dot(bend, floor, f"bend at {format_quantity(bend, 'byte')}", f"fb-c{number}")
        )
        shapes.append(chart.words((10.0**LOW, floor), f"{count} chips", shift=(8, -7)))
        facts.append(
            f"{count} chips: {format_quantity(floor, 's')} up to {format_quantity(bend, 'byte')}"
        )
    title = f"Time of an {op} on one axis of {_title(chip)}"
    return Figure(
        title,
        f"Both axes logarithmic. {'; '.join(facts)}; beyond that the time grows with the bytes.",
        f"{title}. Left of a dot hops set the time, right of it bytes. On the right the lines run "
        "together: for large arrays the number of chips hardly matters.",
        312,
        tuple(shapes),
    )


def _title(name: str) -> str:
    from flopbook.hardware.chip import chip

    return chip(name).name
