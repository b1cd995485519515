"""Kernels under the roofs of one or several chips."""

from typing import Annotated, Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.formulas.rooflines import arithmetic_intensity
from flopbook.kernels.notation import Kernel, Machine, read_kernels, read_roofs
from flopbook.quantities.ops import inf
from flopbook.quantities.units import format_quantity

# A transformer block of width 8,192 with 64 heads, 8 of them with keys: products with more and more
# tokens, attention of a prompt and of 32 single tokens, and what has no matrix in it.
KERNELS = (
    "gemv 28672x8192, gemm 16x28672x8192, gemm 128x28672x8192, gemm 1024x28672x8192, "
    "gemm 8192x28672x8192, prefill seq=8192 heads=64 kv-heads=8, "
    "decode context=8192 heads=64 kv-heads=8 batch=32, softmax 8192x8192, elementwise 8192x8192"
)
# For each value: a comparison for the maximum, a difference, an exponential counted as one, a sum,
# a quotient. A fused kernel reads the values once and writes them once.
SOFTMAX = {"reads": 1.0, "writes": 1.0, "flop": 5.0}
# 80 small kernels took 260 microseconds, one by one (juliagpu2026graphs).
LAUNCH = Constant(3.25e-6, "s", "launch of a kernel")
# Names of the sides of a product, by how many it has.
SIDES = {3: "mnk", 2: "nk", 1: "k"}


class KernelWork(NamedTuple):
    """What a kernel does and moves. A point has an intensity alone: one byte stands for all."""

    flop: float
    bytes: float


def work(kernel: Kernel, width: float) -> KernelWork:
    """FLOP and bytes of a kernel, its values `width` bytes wide unless it says otherwise."""
    if kernel.op == "point":
        return KernelWork(kernel.sides[0], 1.0)
    if kernel.op in ("softmax", "elementwise"):
        single = _elementwise_work(kernel, width)
    else:
        single = _product_work(kernel, width)
    batch = kernel.options.get("batch", 1.0)
    return KernelWork(single.flop * batch, single.bytes * batch)


def _elementwise_work(kernel: Kernel, width: float) -> KernelWork:
    """Work of a kernel without matrix: so much for each of its values."""
    options = kernel.options | SOFTMAX if kernel.op == "softmax" else kernel.options
    rows, columns = kernel.sides
    passes = options["reads"] + options["writes"]
    value_count = rows * columns
    return KernelWork(
        value_count * options["flop"], value_count * passes * options.get("bytes", width)
    )


def _product_work(kernel: Kernel, width: float) -> KernelWork:
    """Work of a product or of attention, as `arithmetic-intensity` counts it."""
    options = kernel.options
    widths = {"bytes_per_param": options.get("bytes", width), "bytes_per_activation": width}
    answer = arithmetic_intensity(op=kernel.op, **widths, **_shape(kernel))
    return KernelWork(answer["flop"], answer["bytes"])


def _shape(kernel: Kernel) -> dict[str, float]:
    """The sides of a kernel by the names that `arithmetic-intensity` has for them."""
    options = kernel.options
    if kernel.op not in ("prefill", "decode"):
        return dict(zip(SIDES[len(kernel.sides)], kernel.sides, strict=True))
    heads = {
        "k": options["head-dim"],
        "heads": options["heads"],
        "kv_heads": options["kv-heads"] or inf,  # 0 says that each head has its own
    }
    if kernel.op == "decode":
        return {"m": 1.0, "n": options["context"], **heads}
    return {"m": options["seq"], "n": options["seq"], **heads}


class KernelRow(NamedTuple):
    """A kernel on a chip: a row of the table and a point of the picture."""

    machine: Machine
    kernel: Kernel
    work: KernelWork
    intensity: float
    rate: float
    bound: str
    reached: float | None


def rows(kernels: str, roofs: str, width: float) -> list[KernelRow]:
    """Every kernel under the first peak and the first bandwidth of every chip.

    Raises FlopbookError for what cannot be read, and for a measured rate beside several chips.
    """
    machines, listed = read_roofs(roofs), read_kernels(kernels)
    if len(machines) > 1 and any("rate" in kernel.options for kernel in listed):
        raise FlopbookError(
            "a measured rate belongs to one chip: leave out rate=, or give one chip"
        )
    return [_row(machine, kernel, width) for machine in machines for kernel in listed]


def _row(machine: Machine, kernel: Kernel, width: float) -> KernelRow:
    peak, bandwidth = machine.peaks[0].rate, machine.bandwidths[0].rate
    kernel_work = work(kernel, width)
    intensity = kernel_work.flop / kernel_work.bytes
    rate = min(peak, bandwidth * intensity)
    bound = "memory" if bandwidth * intensity < peak else "arithmetic"
    measured = kernel.options.get("rate")
    reached = None if measured is None else measured / rate
    return KernelRow(machine, kernel, kernel_work, intensity, rate, bound, reached)


def _working(kernels: str, roofs: str, bytes_per_param: float) -> list[str]:
    """The steps in words: a line for each ridge, then one for each kernel."""
    ridges = [
        f"{machine.name}: {label} at {ridge:,.4g} FLOP/byte"
        for machine in read_roofs(roofs)
        for label, ridge in machine.ridges()
    ]
    return ridges + [_row_working(row) for row in rows(kernels, roofs, bytes_per_param)]


def _row_working(row: KernelRow) -> str:
    """How the rate of a kernel follows from its intensity and the roofs, in words."""
    flop, moved = format_quantity(row.work.flop, "FLOP"), format_quantity(row.work.bytes, "byte")
    ratio = "is given" if row.kernel.op == "point" else f"does {flop} on {moved}"
    peak, memory = row.machine.peaks[0], row.machine.bandwidths[0]
    slope = format_quantity(row.intensity * memory.rate, "FLOP/s")
    return (
        f"{row.kernel.name} on {row.machine.name} {ratio}: {row.intensity:,.4g} FLOP/byte x "
        f"{memory.label} {format_quantity(memory.rate, 'byte/s')} = {slope}, "
        f"{peak.label} {format_quantity(peak.rate, 'FLOP/s')}: {row.bound}"
    )


@omission(
    "kernel launches are not counted: at 3 microseconds each, as measured one by one, the shortest "
    "of these kernels reaches less; a graph of kernels hides most of it ({size})",
    of="attainable_flop_per_s",
)
def launches(
    flop: tuple[float, ...], intensity: tuple[float, ...], attainable_flop_per_s: tuple[float, ...]
) -> float:
    """A launch against the time of the shortest kernel; a point has no time of its own."""
    timed = zip(flop, intensity, attainable_flop_per_s, strict=True)
    # Of a point all that is known is its intensity, which stands for its work.
    seconds = [done / rate for done, ratio, rate in timed if done != ratio]
    return -LAUNCH / (LAUNCH + min(seconds)) if seconds else 0.0


@formula(
    "roofline",
    title="Roofline",
    question="How fast may kernels run on a chip, and what holds each of them back?",
    outputs={
        "kernel": Output("1", r"\text{kernel}", "kernels, chip by chip", table="kernels"),
        "on": Output("1", r"\text{chip}", "the chip", table="kernels"),
        "flop": Output("FLOP", "W", "FLOPs; of a point, per byte", table="kernels"),
        "bytes": Output(
            "byte", "Q", "memory traffic: operands read once, results written once", table="kernels"
        ),
        "intensity": Output("FLOP/byte", "I", "arithmetic intensity", table="kernels"),
        "bound": Output("1", r"\text{bound}", "bottleneck: memory or arithmetic", table="kernels"),
        "attainable_flop_per_s": Output(
            "FLOP/s", "P", "attainable rate under the first roofs", table="kernels"
        ),
        "share": Output("1", "f", "share of the peak", table="kernels"),
        "reached": Output(
            "1",
            r"\eta",
            "measured rate over attainable rate, where rate= is given",
            table="kernels",
        ),
        "ridge": Output(
            "1", r"\text{ridge}", "ridge point of a peak and a bandwidth", table="ridges"
        ),
        "flop_per_byte": Output(
            "FLOP/byte", "R", "arithmetic intensity of the ridge point", table="ridges"
        ),
    },
    sources=("williams2009roofline", "juliagpu2026graphs"),
    omissions=(launches,),
    asks=("chip", "dtype", "kernels"),
    examples=(
        {"chip": "h100-sxm"},
        {
            "chip": "mi300x, h100-sxm",
            "kernels": "gemm 4096x4096x4096, decode context=8192 batch=32",
        },
        {
            "roofs": "mine: fp8 1PFLOP/s, bf16 500TFLOP/s, memory 2TB/s, cache 10TB/s",
            "kernels": "point 120, gemm 4096x4096x4096 rate=800TFLOP/s",
        },
    ),
    working=_working,
)
def roofline(
    roofs: Annotated[
        str,
        Input(
            "1",
            r"\text{roofs}",
            "peaks and bandwidths, name and rate each; of several chips as NAME: ...; NAME: ...",
            chip="roofs",
            text="ROOFS",
        ),
    ],
    kernels: Annotated[
        str,
        Input(
            "1",
            r"\text{kernels}",
            "operations with their sizes: gemm MxNxK, gemv NxK, dot K, "
            "prefill seq=, decode context=, softmax RxC, elementwise RxC, point FLOP/byte",
            text="KERNELS",
        ),
    ] = KERNELS,
    bytes_per_param: Annotated[
        float,
        Input(
            "byte",
            "b",
            "bytes per value, where a kernel does not set it",
            dtype="asked",
            least=0.01,
            most=64,
        ),
    ] = 2.0,
) -> dict[str, Any]:
    """Kernels under the roofs of chips: work, bytes, intensity, what limits, and the rate that is
    left.

    Derivation:
        A kernel with W operations on Q bytes runs at no more than the peak, and at no more than
        bandwidth times W/Q. Over the intensity W/Q, both on logarithmic scales, that is a slope and
        a flat roof, which meet at the ridge. A chip has a flat roof for each number format and a
        slope for each memory; the table holds kernels against the first of either, which from a
        chip are the asked format and the main memory.

        Products and attention are counted as by arithmetic-intensity: sides as --m --n --k, heads=,
        kv-heads= and head-dim= for attention. batch= repeats a kernel, bytes= is the width of its
        second operand (the weights, or keys and values), rate= a measured rate. Softmax takes 5
        operations for each value (a comparison for the maximum, a difference, an exponential
        counted as one, a sum, a quotient) and is read and written once; elementwise takes flop=1,
        reads=1 and writes=1. A kernel that reached more than the roof allows found its operands in
        a cache, or something is counted wrongly.

    Leaves out:
        - Tiles, and reading an operand more than once. [no size: it depends on the tiles of a
          kernel; tile traffic counts them]
        - Softmax and elementwise kernels run on the vector units, whose peak is lower than the roof
          drawn. [no size: few operations for each byte leave them on the slope all the same]
        - A cache, which counts for a kernel whose operands are in it; the bytes here are those of
          the main memory. [no size: it is drawn only where the data has its bandwidth]
        - Kernel launches, some microseconds each whatever the size. [launches]
    """
    table = rows(kernels, roofs, bytes_per_param)
    ridges = [
        (f"{machine.name}: {label}", ridge)
        for machine in read_roofs(roofs)
        for label, ridge in machine.ridges()
    ]
    return {
        "kernel": tuple(row.kernel.name for row in table),
        "on": tuple(row.machine.name for row in table),
        "flop": tuple(row.work.flop for row in table),
        "bytes": tuple(row.work.bytes for row in table),
        "intensity": tuple(row.intensity for row in table),
        "bound": tuple(row.bound for row in table),
        "attainable_flop_per_s": tuple(row.rate for row in table),
        "share": tuple(row.rate / row.machine.peaks[0].rate for row in table),
        "reached": tuple(row.reached for row in table),
        "ridge": tuple(label for label, _ in ridges),
        "flop_per_byte": tuple(ridge for _, ridge in ridges),
    }
