"""The roofline of a chip: attainable rate against arithmetic intensity, both logarithmic."""

from __future__ import annotations

from flopbook.drawing import rooflines
from flopbook.drawing.frame import Frame
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, PlotSeries


def figure(chip: str = "nvidia/h100-sxm") -> Figure:
    """One roof for each peak, over the slope of the memory bandwidth.

    Raises FlopbookError where the chip has no bandwidth or no peak.
    """
    subject = find_chip(chip)
    bandwidth, lines = subject.memory_bandwidth(), rooflines.peak_lines(subject)
    if not lines:
        raise FlopbookError(f"{subject.id} has no matrix peak to draw")
    drawing = rooflines.roofline(subject)
    first = next((line for line in lines if "bf16" in line.dtype), lines[-1])
    name = subject.name.partition(" (")[0]
    facts = "; ".join(rooflines.described(line, bandwidth) for line in lines)
    slope = format_quantity(bandwidth, "byte/s")
    return Figure(
        f"{name} waits for memory below {first.peak / bandwidth:,.0f} FLOP/byte in {first.dtype}",
        f"Memory bandwidth {slope}; {facts}.",
        f"Roofline of {subject.name}. The slope is memory bandwidth, {slope}; left of a ridge the "
        f"chip waits for memory. {facts}.",
        rooflines.HEIGHT,
        drawing.parts,
        plots=(_chart(drawing.frame, lines, bandwidth),),
    )


def _short(line: rooflines.PeakLine) -> str:
    return line.dtype if line.sparsity == "dense" else f"{line.dtype}, {line.sparsity}"


def _chart(frame: Frame, lines: list[rooflines.PeakLine], bandwidth: float) -> Chart:
    """The values of the picture: a roof and a ridge for each peak, and the slope."""
    low, high = frame.x.low, frame.x.high
    chart = Chart(
        ChartAxis("arithmetic intensity, FLOP/byte", low, high, ""),
        ChartAxis("attainable rate", frame.y.low, frame.y.high, "FLOP/s"),
    )
    for line in lines:
        ridge = line.peak / bandwidth
        name = f"{line.dtype} {line.sparsity}, ridge {rooflines.ridge_words(ridge)}"
        roof = [(low, low * bandwidth), (ridge, line.peak), (high, line.peak)]
        chart.series.append(PlotSeries("line", "fb-roof", "", roof))
        chart.labels.append(((high, line.peak), _short(line)))
        chart.mark((ridge, line.peak), f"{name} FLOP/byte", "fb-ridge", "")
    highest = max(line.peak for line in lines)
    slope = [(low, low * bandwidth), (highest / bandwidth, highest)]
    chart.series.append(PlotSeries("line", "fb-slope", "memory bandwidth", slope))
    return chart
