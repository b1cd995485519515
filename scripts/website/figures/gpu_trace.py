"""A recorded step of a GPU as written and compiled: launches above, kernels by their kind below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, key, tooltip, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.measured.gpu_traces import GpuStep, gpu_step

MILLI = 1e-3
NAMES = {"written": "as written", "compiled": "compiled"}
# Arithmetic is blue and bytes are orange, as everywhere; what updates weights has its own colour.
COLOURS = {"products": "c0", "attention": "c2", "memory-bound": "c1", "optimizer": "c3"}
_BAR, _TICK = 26.0, 9.0
_PANEL = 76.0  # from the words over one step to those over the next
# An entry of the legend: its square, each letter of its name, and the way to the next.
_KEY, _LETTER, _WIDEST_GAP = 17.0, 6.2, 30.0
_AXIS = 5  # milliseconds from one number below to the next


def figure() -> Figure:
    """Two steps over one time axis."""
    steps = {name: gpu_step(name) for name in NAMES}
    written, compiled = steps.values()
    spared = 1 - compiled.seconds / written.seconds
    return Figure(
        f"Compiled, the step takes {percent(spared)} less time, and no product got faster",
        ". ".join(_facts(name, step) for name, step in steps.items()) + ".",
        "One training step of four transformer layers on an H100, under the profiler. Ticks are "
        "launches by the CPU, bars are kernels; where there is no bar the GPU waits. The same "
        "products take the same time twice. What shrinks is the work between them and the gaps.",
        _height(),
        tuple(_sheet(steps, 8, 624)),
        narrow=Sheet(344, _height() + 20, tuple(_sheet(steps, 4, 336))),
        readings=tuple(
            FigureValue(NAMES[name], kind, step.spent(kind), "s")
            for name, step in steps.items()
            for kind in COLOURS
        ),
    )


def _height() -> float:
    return 28 + 2 * _PANEL + 26


def _facts(name: str, step: GpuStep) -> str:
    times = ", ".join(f"{kind} {step.spent(kind) / MILLI:.1f} ms" for kind in COLOURS)
    busy = step.busy / step.seconds
    return f"{NAMES[name]}: {step.seconds / MILLI:.1f} ms, busy for {percent(busy)} of it; {times}"


def _sheet(steps: dict[str, GpuStep], left: float, width: float) -> Iterator[str]:
    longest = max(step.seconds for step in steps.values())
    scale, top = width / longest, 30.0
    yield from _legend(left, width)
    for name, step in steps.items():
        busy = step.busy / step.seconds
        told = (
            f"{NAMES[name]}: {step.seconds / MILLI:.1f} ms, kernels run for {percent(busy)} of it"
        )
        yield words(left, top + 10, told, "start", "fb-strong")
        yield _ticks((left, top + 18), (kernel.launch for kernel in step.kernels), scale)
        yield from _bars((left, top + 18 + _TICK + 3), step, scale)
        top += _PANEL
    for mark in range(0, int(longest / MILLI) + 1, _AXIS):
        name = f"{mark} ms" if mark == 0 else f"{mark}"
        anchor = "middle" if mark else "start"
        yield words(left + mark * MILLI * scale, top + 8, name, anchor, "fb-small")


def _legend(left: float, width: float) -> Iterator[str]:
    """In one row, with what room is left between the names."""
    sizes = [_KEY + _LETTER * len(kind) for kind in COLOURS]
    gap = min((width - sum(sizes)) / (len(sizes) - 1), _WIDEST_GAP)
    for (kind, colour), size in zip(COLOURS.items(), sizes, strict=True):
        yield from key(left, 4, kind, f"fb-{colour}")
        left += size + gap


def _ticks(corner: Point, times: Iterable[float], scale: float) -> str:
    """One stroke for every launch of this step; those of its first kernels came before it."""
    left, top = corner
    strokes = "".join(
        f"M{round(left + time * scale, 1):g} {top:g}v{_TICK:g}" for time in times if time >= 0
    )
    return f'<path class="fb-stroke fb-thin" d="{strokes}">{tooltip("launches by the CPU")}</path>'


def _bars(corner: Point, step: GpuStep, scale: float) -> Iterator[str]:
    """All kernels of a kind as one shape: hundreds of bars weigh little that way."""
    left, top = corner
    for kind, colour in COLOURS.items():
        boxes = "".join(
            f"M{round(left + kernel.start * scale, 2):g} {top:g}"
            f"h{max(round(kernel.run * scale, 2), 0.15):g}v{_BAR:g}"
            f"h-{max(round(kernel.run * scale, 2), 0.15):g}z"
            for kernel in step.kernels
            if kernel.kind == kind
        )
        tip = f"{kind}: {step.spent(kind) / MILLI:.1f} ms of {step.seconds / MILLI:.1f}"
        yield f'<path class="fb-{colour}" d="{boxes}">{tooltip(tip)}</path>'
