"""Predicts what a chip reaches alone: matrix products, its memory, a link to a neighbour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.machines import ChipRates, machine, memory_rate, package_named, peak_of
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.parameters import GENERATION_STARTS, Prior
from flopbook.prediction.software_words import precision_named

TERA, GIGA = 1e12, 1e9
# Formats of which no row is fitted.
_UNFITTED = ("fp32", "float32", "tf32", "fp64", "float64")
# Bytes of an operand; those of 4 bits have a scale for each block of sixteen.
WIDTHS = {"fp8": 1.0, "fp4": 0.5625}
# Bytes of a value before an engine narrows it.
_WIDE = 2.0
# Its linear layer takes bf16 and quantises it inside what is timed: collector/vllm/collect_gemm.py
# of nvidia2026aicdata.
_NARROWING = "vLLM"
_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)")
# Rates of a chip whose source measures one of its two dies, as XLA shows them.
_HALF_CHIP = re.compile(r"one of 2 devices")

MATMUL_PRIORS = {
    **{
        f"best_{name}": Prior(1.0, 0.08, f"what the best shapes reach on {name} over all chips")
        for name in GENERATION_STARTS
    },
    "best": Prior(0.85, 0.15, "share of the peak that the best shapes reach on chips in general"),
    # Power grows with the cube of the clock; a newer process, as chips of less power have, takes
    # back two thirds of that.
    "power": Prior(0.1, 0.5, "power with which rates grow with the watts for each FLOP/s"),
    "narrow": Prior(0.95, 0.1, "the same in 8 bits over 16 bits"),
    "operands": Prior(0.9, 0.15, "share of the memory bandwidth at which operands arrive"),
    "overlap": Prior(0.3, 0.5, "share that shows of the shorter of arithmetic and reading"),
    "kernel_seconds": Prior(2e-6, 0.5, "seconds that a kernel takes to start and drain"),
    "host_seconds": Prior(1e-4, 0.7, "seconds that a clock on the host adds"),
}
MEMORY_PRIORS = {
    "memory_share": Prior(0.85, 0.1, "share of the printed bandwidth that a copy reaches"),
    "memory_seconds": Prior(1e-6, 0.7, "seconds before the first byte"),
}
LINK_PRIORS = {"peer_share": Prior(0.85, 0.1, "share of the printed link rate one way")}


class MatrixProduct(NamedTuple):
    """A matrix product: peak, sides, bytes of a value, whose clock counted, power.

    `narrowed` counts the values of 16 bits that are quantised inside the time of the product.
    """

    generation: str
    peak: float
    sides: tuple[float, float, float]
    width: float
    memory_bandwidth: float
    is_narrow: bool
    is_host_clock: bool
    power: float
    narrowed: float = 0.0


def read_product(row: MeasuredRun, source: RunSource) -> Case:
    """A row of a matrix product. Raises FlopbookError where its shape is not given."""
    chip = machine(row.hardware["chip"])
    text = str(row.run.get("matmul_shape_mxnxk") or row.run.get("matmul_shape_mxkxn") or "")
    sides = _SHAPE.search(text)
    if sides is None:
        raise FlopbookError("the shape of the matrix product is not given")
    word = str(row.run.get("precision", "")).lower()
    if word.startswith(_UNFITTED):
        raise FlopbookError(f"no prediction for matrix products in {word}")
    precision = "fp8" if word.startswith("int8") else precision_named(word)
    product = MatrixProduct(
        generation=chip.generation,
        peak=_peak(chip, row, precision) * _share_of_chip(row),
        sides=(float(sides[1]), float(sides[2]), float(sides[3])),
        width=WIDTHS.get(precision, 2.0),
        memory_bandwidth=(chip.memory_bandwidth or np.inf) * _share_of_chip(row),
        is_narrow=precision != "bf16",
        is_host_clock="wall clock" in str(row.run.get("software", "")),
        power=chip.power,
        narrowed=_narrowed(row, precision, sides),
    )
    measured = _measured(row, "matmul_tflops_per_s") * TERA
    return Case(row, product, measured)


def _narrowed(row: MeasuredRun, precision: str, sides: re.Match[str]) -> float:
    """Values of the input that an engine quantises before the product: m times k."""
    is_narrowed = precision in WIDTHS and _NARROWING in str(row.run.get("software", ""))
    if not is_narrowed:
        return 0.0
    inner = 3 if "matmul_shape_mxnxk" in row.run else 2
    return float(sides[1]) * float(sides[inner])


def _peak(chip: ChipRates, row: MeasuredRun, precision: str) -> float:
    """The rate of the format where it is printed apart.

    An MI100 multiplies fp16 twice as fast as bf16, Blackwell Ultra int8 far slower than fp8.
    """
    word = str(row.run.get("precision", "")).lower()
    apart = next((name for name in ("fp16", "int8") if word.startswith(name)), "")
    if not apart:
        return chip.peak(precision)
    return peak_of(package_named(row.hardware["chip"]), apart) or chip.peak(precision)


def _share_of_chip(row: MeasuredRun) -> float:
    return 0.5 if _HALF_CHIP.search(row.hardware["chip"]) else 1.0


def _measured(row: MeasuredRun, name: str) -> float:
    if name not in row.measured:
        raise FlopbookError(f"{name} is not given")
    return float(row.measured[name])


def predict_products(products: Sequence[MatrixProduct], p: Parameters) -> Column:
    """FLOP/s of each product."""
    return np.array([_product_rate(product, p) for product in products])


def _product_rate(product: MatrixProduct, p: Parameters) -> float:
    rate = product.peak * p["best"] * p[f"best_{product.generation}"]
    rate = rate * float(product.power ** p["power"])
    if product.is_narrow:
        rate *= p["narrow"]
    first, second, third = product.sides
    flop = 2 * first * second * third
    # Two operands and the result cross the memory bus once, most of it behind the arithmetic: a
    # product of huge sides runs at the best rate.
    values = first * second + second * third + first * third
    bandwidth = product.memory_bandwidth * p["operands"]
    reading = product.width * values / bandwidth
    longer, shorter = max(flop / rate, reading), min(flop / rate, reading)
    seconds = longer + p["overlap"] * shorter + p["kernel_seconds"]
    if product.narrowed:
        # A kernel of its own reads the wide values and writes the narrow ones.
        seconds += product.narrowed * (_WIDE + product.width) / bandwidth + p["kernel_seconds"]
    if product.is_host_clock:
        seconds += p["host_seconds"]
    return flop / seconds


class Transfer(NamedTuple):
    """A copy through memory or over a link: the printed rate, and the bytes moved."""

    bandwidth: float
    size: float


def read_memory(row: MeasuredRun, source: RunSource) -> Case:
    """A row of memory bandwidth. Raises FlopbookError."""
    size = float(row.measured.get("message_bytes", np.inf))
    transfer = Transfer(memory_rate(row.hardware["chip"]) * _share_of_chip(row), size)
    measured = _measured(row, "memory_bandwidth_gb_per_s") * GIGA
    return Case(row, transfer, measured)


def predict_memory(transfers: Sequence[Transfer], p: Parameters) -> Column:
    """Byte/s that copies through memory reach."""
    rates = np.array([transfer.bandwidth for transfer in transfers]) * p["memory_share"]
    sizes = np.array([transfer.size for transfer in transfers])
    reached: Column = rates / (1 + rates * p["memory_seconds"] / sizes)
    return reached


def read_link(row: MeasuredRun, source: RunSource) -> Case:
    """A row of the bandwidth between two chips. Raises FlopbookError."""
    chip = machine(row.hardware["chip"])
    ways = 2.0 if str(row.run.get("direction", "")).startswith("bi") else 1.0
    measured = _measured(row, "bandwidth_gb_per_s") * GIGA
    transfer = Transfer(chip.link_bandwidth * ways, np.inf)
    return Case(row, transfer, measured)


def predict_links(transfers: Sequence[Transfer], p: Parameters) -> Column:
    """Byte/s that one chip reaches to another."""
    return np.array([transfer.bandwidth for transfer in transfers]) * p["peer_share"]


def traits(product: MatrixProduct) -> dict[str, str]:
    """What may be unlike all fitted products; that few were fitted makes most of them strangers."""
    return {"chip": product.generation, "format": f"{8 * product.width:g} bits"}


MATMUL = PredictionModel(
    "matmul_peak",
    PrintedAs("matmul rate", "FLOP/s"),
    MATMUL_PRIORS,
    read_product,
    predict_products,
    traits=traits,
)
MEMORY = PredictionModel(
    "hbm_bandwidth",
    PrintedAs("memory bandwidth", "byte/s"),
    MEMORY_PRIORS,
    read_memory,
    predict_memory,
)
LINK = PredictionModel(
    "p2p_bandwidth", PrintedAs("link bandwidth", "byte/s"), LINK_PRIORS, read_link, predict_links
)
