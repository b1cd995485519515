"""Time of a collective by the size of the array: flat where latency rules, then in proportion."""

from __future__ import annotations

from typing import Any

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

LOW, HIGH, POINTS = 3, 10, 43  # powers of ten of the bytes, and points of a line


def figure(
    chip: str = "tpu-v5p", op: str = "all-gather", chips: tuple[int, ...] = (4, 32)
) -> Figure:
    """Time against bytes on one ring or switch of this chip; a line for each number of chips."""
    sizes = [10 ** (LOW + (HIGH - LOW) * n / (POINTS - 1)) for n in range(POINTS)]
    # At the printed rates: the chapter derives them before it says what software reaches.
    ideal = {"startup": 0, "ramp": 0, "efficiency": 1}
    ring: dict[str, Any] = {"chip": chip, "op": op, "axes": 1, **ideal}
    answers = {
        count: [calculate("collective", chips=count, bytes=size, **ring) for size in sizes]
        for count in chips
    }
    times = {count: [answer["seconds"] for answer in row] for count, row in answers.items()}
    shortest = min(row[0] for row in times.values())
    longest = max(row[-1] for row in times.values())
    chart = Chart(
        ChartAxis("bytes of the whole array", 10.0**LOW, 10.0**HIGH, "byte"),
        ChartAxis("time", shortest / 2, longest * 2, "s"),
        (84, 14, 616, 270),
    )
    shapes, facts = chart.grid(), []
    for number, (count, row) in enumerate(times.items()):
        bend, floor = answers[count][0]["crossover_bytes"], row[0]
        flat_to = format_quantity(bend, "byte")
        shapes.append(chart.line(list(zip(sizes, row, strict=True)), number))
        at_bend = calculate("collective", chips=count, bytes=bend, **ring)["seconds"]
        shapes.append(chart.dot(bend, at_bend, f"bend at {flat_to}", f"fb-c{number}"))
        shapes.append(chart.words((10.0**LOW, floor), f"{count} chips", shift=(8, -7)))
        facts.append(f"{count} chips: {format_quantity(floor, 's')} up to {flat_to}")
    title = f"Time of an {op} on one axis of {find_chip(chip).name}"
    return Figure(
        "Small arrays wait for hops, large ones for bytes",
        f"Both axes logarithmic. {'; '.join(facts)}; beyond that the time grows with the bytes.",
        f"{title}. Left of a dot, hops set the time; right of it, bytes do. Far right the lines "
        "merge: for large arrays the number of chips hardly matters.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
