"""All-reduces of a published benchmark by their size, beside the bytes over the port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis, Point

FILE, CHIP, RANKS = "azure-h100", "nvidia/h100-sxm", 8
GIGA = 1e9


class TimedSum(NamedTuple):
    """An all-reduce: the bytes that each rank adds up, and its bus bandwidth in byte/s."""

    bytes: float
    bus_rate: float

    @property
    def seconds(self) -> float:
        """Bus bandwidth counts what a ring would send, nearly twice the array."""
        return sent(self.bytes) / self.bus_rate


def sent(size: float) -> float:
    """Bytes that a rank of a ring sends to add up an array of this size."""
    return 2 * (1 - 1 / RANKS) * size


def timed_sums() -> list[TimedSum]:
    """The rows of the file, the smallest array first."""
    timings = [
        TimedSum(float(row.measured["message_bytes"]), GIGA * row.measured["busbw_gb_per_s"])
        for row in run_files()[FILE].rows
        if row.kind == "collective" and row.run.get("op") == "all_reduce"
    ]
    return sorted(timings)


def flat_part(found: Sequence[TimedSum]) -> list[TimedSum]:
    """The small arrays, which take less than twice as long as the smallest."""
    return [timing for timing in found if timing.seconds < 2 * found[0].seconds]


def half_size(found: Sequence[TimedSum]) -> float:
    """Bytes from which on the bus bandwidth is more than half of the best."""
    return next(timing.bytes for timing in found if 2 * timing.bus_rate > found[-1].bus_rate)


def _names(chart: Chart, small: TimedSum, port: float) -> Iterator[str]:
    """What points and line are; on a phone the key below the picture says it."""
    x, y = chart.place((small.bytes, small.seconds))
    yield words(x, y - 14, "measured", "start")
    x, y = chart.place((1e7, sent(1e7) / port))
    yield words(x + 14, y + 14, "a ring at the printed rate", "start")


def figure() -> Figure:
    """Points as measured, and the line of a ring at the printed rate of the port."""
    timings = timed_sums()
    port = chip(CHIP).scaleup_bandwidth()
    chart = Chart(
        ChartAxis("bytes of the array", timings[0].bytes / 2, timings[-1].bytes * 2, "byte"),
        ChartAxis("time", 2e-6, 0.1, "s"),
    )
    ring: list[Point] = [(size, sent(size) / port) for size in (6e5, timings[-1].bytes * 2)]
    shapes = [*chart.grid(), chart.line(ring, 0, "a ring at the printed rate")]
    for timing in timings:
        tip = f"{format_quantity(timing.bytes, 'byte')}: {format_quantity(timing.seconds, 's')}, "
        tip += f"bus bandwidth {format_quantity(timing.bus_rate, 'byte/s')}"
        shapes.append(chart.dot(timing.bytes, timing.seconds, tip, "fb-c6", 4, "measured"))
    shapes += list(_names(chart, timings[3], port))
    floor, best = timings[0].seconds, timings[-1].bus_rate
    flat = flat_part(timings)[-1]
    source = run_files()[FILE].sources[FILE].source
    return Figure(
        f"Measured: from {format_quantity(timings[0].bytes, 'byte')} to "
        f"{format_quantity(flat.bytes, 'byte')} the time of an all-reduce grows from "
        f"{1e6 * floor:.0f} to {1e6 * flat.seconds:.0f} µs only",
        f"All-reduce among {RANKS} GPUs of {chip(CHIP).name}, both axes logarithmic. Small "
        f"arrays take {format_quantity(floor, 's')}; the largest one reaches a bus bandwidth of "
        f"{format_quantity(best, 'byte/s')}, where a port prints "
        f"{format_quantity(port, 'byte/s')}.",
        f"NCCL among {RANKS} GPUs of one node. On the left only latency counts. On the right the "
        "points pass below the line of a ring, since the switch adds up what it forwards and each "
        "byte goes out once instead of nearly twice.",
        336,
        tuple(shapes),
        plots=(chart,),
        source=source,
    )
