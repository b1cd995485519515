"""One layer of a recorded step as a profiler shows it: launches, kernels, and a line between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scripts.website.figures.drawing import Figure, Sheet, box, key, words
from scripts.website.figures.gpu_trace import COLOURS, MILLI, NAMES
from scripts.website.figures.plotted import FigureValue
from scripts.website.measured.gpu_traces import GpuKernel, gpu_step

_MICRO = 1e-6
# Products of a layer in the order in which a window from attention to attention has them.
PRODUCTS = ("out", "up", "down", "QKV")
_CPU, _STREAM, _BAR, _PANEL = 20.0, 76.0, 24.0, 118.0  # from the words over a panel
_TICK, _RULER = 10.0, 250
_LETTER = 8.0


def layer(name: str) -> Sequence[GpuKernel]:
    """The kernels of the second layer's forward pass: from behind one attention to the next."""
    kernels = gpu_step(name).kernels
    attention = [place for place, one in enumerate(kernels) if one.kind == "attention"]
    return kernels[attention[0] + 1 : attention[1] + 1]


def figure() -> Figure:
    """The layer as written above, compiled below, over one time axis."""
    layers = {name: layer(name) for name in NAMES}
    longest = max(_length(kernels) for kernels in layers.values())
    written, compiled = layers.values()
    height = 24 + 2 * _PANEL + 24
    return Figure(
        f"As written the layer takes {_length(written) / MILLI:.1f} ms for "
        f"{_busy(written) / MILLI:.1f} ms of kernels; compiled {_length(compiled) / MILLI:.1f} "
        f"for {_busy(compiled) / MILLI:.1f}",
        ". ".join(_facts(name, kernels) for name, kernels in layers.items()) + ".",
        "From behind one attention to the end of the next, out of the forward pass above: output "
        "projection, up and down, then QKV and attention of the layer after it. Each stroke on the "
        "upper lane is a launch, a line leads from it to its kernel. Steep lines: the stream was "
        "empty and waited for the launch. Slanted ones: the kernel stood in a queue.",
        height,
        tuple(_sheet(layers, 74, 550 / longest)),
        narrow=Sheet(344, height, tuple(_sheet(layers, 34, 302 / longest))),
        readings=tuple(_readings(layers)),
    )


def _readings(layers: dict[str, Sequence[GpuKernel]]) -> Iterator[FigureValue]:
    """Every kernel with its time and its start, from the first launch or start on."""
    for name, kernels in layers.items():
        zero = min(kernels[0].launch, kernels[0].start)
        names = {id(kernel): label for label, kernel in labelled_products(kernels)}
        for one in kernels:
            label = names.get(id(one), one.kind)
            yield FigureValue(NAMES[name], label, one.run, "s", one.start - zero)


def _length(kernels: Sequence[GpuKernel]) -> float:
    """From the first launch or start to the end of the last kernel (s)."""
    return kernels[-1].end - min(kernels[0].launch, kernels[0].start)


def _busy(kernels: Sequence[GpuKernel]) -> float:
    return sum(kernel.run for kernel in kernels)


def _facts(name: str, kernels: Sequence[GpuKernel]) -> str:
    products = ", ".join(
        f"{label} {kernel.run / _MICRO:.0f} us" for label, kernel in labelled_products(kernels)
    )
    return f"{NAMES[name]}: {len(kernels)} kernels; products: {products}"


def labelled_products(kernels: Sequence[GpuKernel]) -> list[tuple[str, GpuKernel]]:
    """The products of a layer with what they multiply."""
    found = [kernel for kernel in kernels if kernel.kind == "products"]
    return list(zip(PRODUCTS, found, strict=True))


def _sheet(layers: dict[str, Sequence[GpuKernel]], left: float, scale: float) -> Iterator[str]:
    place = 4.0
    for kind in ("products", "attention", "memory-bound"):
        yield from key(place, 4, kind, f"fb-{COLOURS[kind]}")
        place += 36 + 6.4 * len(kind)
    top = 24.0
    for name, kernels in layers.items():
        zero = min(kernels[0].launch, kernels[0].start)
        yield words(4, top + 10, NAMES[name], "start", "fb-strong")
        yield words(left - 8, top + _CPU + 9, "CPU", "end")
        yield words(left - 8, top + _STREAM + 17, "GPU", "end")
        yield _launches(kernels, zero, (left, top), scale)
        yield from _kernels(kernels, zero, (left, top + _STREAM), scale)
        top += _PANEL
    longest = max(_length(kernels) for kernels in layers.values())
    for mark in range(0, int(longest / _MICRO) + 1, 2 * _RULER):
        yield words(left + mark * _MICRO * scale, top + 6, f"{mark} µs" if mark else "0", "middle")


def _launches(
    kernels: Sequence[GpuKernel], zero: float, corner: tuple[float, float], scale: float
) -> str:
    """A stroke for each launch and a line from it to the start of its kernel, as one path."""
    left, top = corner
    strokes = []
    for kernel in kernels:
        launched = left + (kernel.launch - zero) * scale
        begun = left + (kernel.start - zero) * scale
        strokes.append(
            f"M{launched:.1f} {top + _CPU:g}v{_TICK:g}L{begun:.1f} {top + _STREAM - 2:g}"
        )
    return f'<path class="fb-stroke fb-thin" fill="none" d="{"".join(strokes)}"/>'


def _kernels(
    kernels: Sequence[GpuKernel], zero: float, corner: tuple[float, float], scale: float
) -> Iterator[str]:
    left, top = corner
    names = {id(kernel): label for label, kernel in labelled_products(kernels)}
    for kernel in kernels:
        x, width = left + (kernel.start - zero) * scale, kernel.run * scale
        name = names.get(id(kernel), kernel.kind)
        colour = COLOURS[kernel.kind]
        tip = f"{name}: {kernel.run / _MICRO:.1f} µs"
        yield box(x, top, max(width, 0.5), _BAR, f"fb-{colour}", tip)
        if id(kernel) not in names:
            continue
        if width > _LETTER * len(name):
            yield words(x + width / 2, top + 16, name, kind=f"fb-on{colour[1:]} fb-small")
        else:
            yield words(x + width / 2, top + _BAR + 10, name, kind="fb-small")
