"""A decoding step by its batch, as measured, beside what reading and arithmetic alone ask for."""

from __future__ import annotations

from flopbook.data.measured_runs import run_files
from flopbook.hardware.chip import chip
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

ROWS = "bloominf-inference-fp16-8gpu-b"
CHIP, CHIPS, PARAMS = "a100-sxm-80gb", 8, 176.247e9
_MILLI = 1e-3
_POINTS = 60


def measured() -> list[tuple[float, float]]:
    """Sequences of the batch and seconds of a step, by the batch."""
    rows = [row for file in run_files().values() for row in file.rows if row.id.startswith(ROWS)]
    steps = [
        (float(row.run["batch_seqs"]), _MILLI * float(row.measured["step_latency_ms"]))
        for row in rows
    ]
    return sorted(steps)


def parts(batch: float) -> tuple[float, float]:
    """Time of a step to read the weights, and to multiply at the peak (s)."""
    card = chip(CHIP)
    reading = 2 * PARAMS / (CHIPS * card.memory_bandwidth())
    return reading, 2 * PARAMS * batch / (CHIPS * card.peak("fp16"))


def figure() -> Figure:
    """Four measured steps and the bound; both are level first and rise later."""
    steps = measured()
    low, high = steps[0][0], 4 * steps[-1][0]
    chart = Chart(
        ChartAxis("sequences in the batch, one token of each", low, high, "1"),
        ChartAxis("time of a step", 0.015, 0.15, "s"),
        (84, 14, 540, 250),
    )
    shapes = chart.grid()
    shapes.append(
        chart.line([(batch, max(parts(batch))) for batch in spaced(low, high, _POINTS)], 1, "bound")
    )
    shapes.append(chart.words((high, max(parts(high))), "bound", "start", (6, 4)))
    shapes += [
        chart.dot(batch, time, f"{batch:g} sequences: {time / _MILLI:.3g} ms", name="measured")
        for batch, time in steps
    ]
    shapes.append(chart.words(steps[0], "measured", "start", (10, -8)))
    reading, arithmetic = parts(1)
    (few, alone), (_, third), (many, last) = steps[0], steps[2], steps[-1]
    return Figure(
        f"{many / few:.0f} times the batch takes {last / alone:.1f} times the time",
        f"Both axes logarithmic. Measured are {', '.join(f'{t / _MILLI:.3g} ms' for _, t in steps)}"
        f" for {', '.join(f'{b:g}' for b, _ in steps)} sequences. The bound is level at "
        f"{reading / _MILLI:.3g} ms and rises from {reading / arithmetic:.0f} sequences on.",
        "BLOOM 176B in fp16 on eight A100. Points are measured, the line is the longer of reading "
        f"and multiplying. Up to 32 sequences the step grows by {percent(third / alone - 1)}.",
        294,
        tuple(shapes),
        plots=(chart,),
    )
