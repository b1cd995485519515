"""An SM of a GPU beside a core of a TPU: what stands in each, how large it is and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from flopbook.quantities.units import two_digits
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, labelled, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import EDGE, SHEET

GPU, TPU = "nvidia/h100-sxm", "google/tpu-v5p"
QUARTERS = 4  # of an SM
THREADS, WARP = 2048, 32  # that an SM of Hopper holds (nvidia2022hopper), and of a warp
SIDE = 128  # of a matrix unit of the TPU
IN_LANE = 2  # a lane of an SM multiplies and adds in a cycle
ALUS = 4  # of a lane of the TPU, one operation in a cycle each (the entry's quote)
_PANEL, _GAP = 302.0, 8.0
# Rows of both drawings: top, height, colour. The same row does the same work on both sides.
_ROWS = {
    "orders": (36.0, 40.0, "c4"),
    "registers": (84.0, 40.0, "c2"),
    "lanes": (132.0, 40.0, "c1"),
    "matmul": (180.0, 56.0, "c0"),
    "memory": (244.0, 40.0, "c2"),
}
_FOOT = 292.0  # of the frame around a core
_TABLE = 356.0  # the heads of the table


class CoreNumbers(NamedTuple):
    """What one core has; rates and sizes in SI units, of the HBM an equal share."""

    on_chip: float
    matmul: float  # FLOPs in a cycle, bf16
    peak: float
    vector: float  # FLOPs in a cycle outside the matmul units, fp32
    memory: float
    share: float


def sm() -> CoreNumbers:
    """One SM, from the entry of the GPU."""
    count, tensor = _amount(GPU, "cores", "streaming multiprocessors"), chip(GPU)
    in_cycle = _amount(GPU, "flop_per_clock", "tensor cores")
    return CoreNumbers(
        count,
        in_cycle * _amount(GPU, "cores", "tensor cores") / count,
        tensor.peak("bf16") / count,
        IN_LANE * _amount(GPU, "cores", "FP32 cores") / count,
        _amount(GPU, "sram", "shared memory, per SM"),
        tensor.memory_bandwidth() / count,
    )


def tensor_core() -> CoreNumbers:
    """One TensorCore, from the entry of the TPU."""
    count, whole = _amount(TPU, "cores", "TensorCore"), chip(TPU)
    return CoreNumbers(
        count,
        2 * SIDE**2 * _amount(TPU, "cores", f"MXU ({SIDE}x{SIDE})") / count,
        whole.peak("bf16") / count,
        _amount(TPU, "cores", "ALUs of the vector unit, per TensorCore"),
        _amount(TPU, "sram", "VMEM per TensorCore"),
        whole.memory_bandwidth() / count,
    )


def _amount(entry: str, field: str, name: str) -> float:
    """The first claim of an entry with this field and name."""
    claims = load_entry(entry).claims
    found = next(c.si_value for c in claims if c.field == field and c.name == name)
    return float(found or 0)


def rows() -> list[tuple[str, str, str]]:
    """The table: what is compared, of an SM, of a TensorCore."""
    one, other = sm(), tensor_core()
    return [
        ("on a chip", f"{one.on_chip:g}", f"{other.on_chip:g}"),
        ("FLOPs in a cycle, bf16", f"{one.matmul:,.0f}", f"{other.matmul:,.0f}"),
        ("outside matmuls, fp32", f"{one.vector:,.0f}", f"{other.vector:,.0f}"),
        ("peak, bf16", two_digits(one.peak, "FLOP/s"), two_digits(other.peak, "FLOP/s")),
        ("memory it fills itself", _size(one.memory), _size(other.memory)),
        ("its share of HBM", two_digits(one.share, "byte/s"), two_digits(other.share, "byte/s")),
        ("programs in flight", f"{THREADS // WARP} warps", "1"),
    ]


def _size(value: float) -> str:
    return f"{value / 2**20:g} MiB" if value >= 2**20 else f"{value / 2**10:g} KiB"


def figure() -> Figure:
    """Both cores in the same rows, the table of their numbers below."""
    one, other = sm(), tensor_core()
    told = "; ".join(f"{name}: {left} and {right}" for name, left, right in rows())
    second = _FOOT + 34
    tall = _TABLE + 14 + 18 * len(rows())
    return Figure(
        f"A core of TPU v5p multiplies like {other.peak / one.peak:.0f} SMs of H100, with the "
        f"on-chip memory of {other.memory / one.memory:.0f}",
        f"An SM: {QUARTERS} quarters, each with a scheduler, registers, lanes and a tensor core, "
        "over a memory that all share. A TensorCore: a scalar unit, a vector unit with its "
        f"registers, and matrix units over VMEM. SM and TensorCore, {told}.",
        "The same row and colour does the same work in both. Each scheduler of an SM picks one of "
        "its warps in a cycle; the scalar unit follows one program whose order the compiler fixed. "
        "The share of main memory (HBM) is the rate of the chip over its cores.",
        tall,
        (
            *_sm(4.0),
            *_tensor_core(WIDTH - 4 - _PANEL),
            *_table((4.0, 330.0, 500.0), _TABLE, WIDTH - 4),
        ),
        narrow=Sheet(
            SHEET,
            tall + second,
            (
                *_sm((SHEET - _PANEL) / 2),
                *_tensor_core((SHEET - _PANEL) / 2, second),
                *_table((EDGE, 172.0, 258.0), _TABLE + second, SHEET - EDGE),
            ),
        ),
        source="nvidia2022hopper",
        readings=(*_readings("SM", one), *_readings("TensorCore", other)),
    )


def _readings(name: str, core: CoreNumbers) -> Iterator[FigureValue]:
    """The numbers of the table with all of their digits."""
    yield FigureValue(name, "on a chip", core.on_chip)
    yield FigureValue(name, "FLOPs in a cycle, bf16", core.matmul)
    yield FigureValue(name, "peak, bf16", core.peak, "FLOP/s")
    yield FigureValue(name, "FLOPs in a cycle outside matmuls, fp32", core.vector)
    yield FigureValue(name, "memory it fills itself", core.memory, "byte")
    yield FigureValue(name, "its share of HBM", core.share, "byte/s")


def _sm(left: float) -> Iterator[str]:
    file = _amount(GPU, "sram", "register file, per SM") / QUARTERS
    per_quarter = sm().vector / IN_LANE / QUARTERS
    cache = _amount(GPU, "cache", "L1 and shared memory, per SM")
    texts = {
        "orders": "warp\nscheduler",
        "registers": f"registers\n{_size(file)}",
        "lanes": f"{per_quarter:g}\nlanes",
        "matmul": "tensor\ncore",
    }
    yield from _frame(left, 0.0, f"one of {sm().on_chip:g} SMs of H100")
    for row, text in texts.items():
        yield from _boxes(left, 0.0, row, [text] * QUARTERS)
    shared = (
        f"shared memory and L1, {_size(cache)} in all,\nup to {_size(sm().memory)} of it shared"
    )
    yield from _boxes(left, 0.0, "memory", [shared])
    l2, hbm = _size(_amount(GPU, "cache", "L2")), two_digits(chip(GPU).memory_bandwidth(), "byte/s")
    yield words(
        left + _PANEL / 2, _FOOT + 18, f"all SMs: L2 of {l2}, HBM at {hbm}", kind="fb-small"
    )


def _tensor_core(left: float, top: float = 0.0) -> Iterator[str]:
    core = tensor_core()
    units = round(core.matmul / 2 / SIDE**2)
    yield from _frame(left, top, f"one of {core.on_chip:g} TensorCores of TPU v5p")
    orders = f"scalar unit\nits memory: {_size(_amount(TPU, 'sram', 'SMEM per TensorCore'))}"
    yield from _boxes(left, top, "orders", [orders])
    yield from _boxes(left, top, "registers", ["vector registers"])
    deep = core.vector / ALUS / SIDE
    vectors = f"vector unit (VPU)\n{deep:g} × {SIDE} lanes of {ALUS} ALUs"
    yield from _boxes(left, top, "lanes", [vectors])
    yield from _boxes(left, top, "matmul", [f"MXU\n{SIDE} × {SIDE}"] * units)
    yield from _boxes(left, top, "memory", [f"VMEM, {_size(core.memory)}"])
    hbm = two_digits(chip(TPU).memory_bandwidth(), "byte/s")
    yield words(left + _PANEL / 2, top + _FOOT + 18, f"both cores: HBM at {hbm}", kind="fb-small")


def _frame(left: float, top: float, name: str) -> Iterator[str]:
    right, foot = left + _PANEL, top + _FOOT
    yield words(left + _PANEL / 2, top + 16, name, kind="fb-strong")
    corners = [(left, top + 28), (right, top + 28), (right, foot), (left, foot), (left, top + 28)]
    yield path(corners, "fb-dashed")


def _boxes(left: float, top: float, row: str, texts: Sequence[str]) -> Iterator[str]:
    """A row of a core, in as many equal boxes as there are texts."""
    y, tall, colour = _ROWS[row]
    step = (_PANEL - _GAP) / len(texts)
    for number, text in enumerate(texts):
        place = (left + _GAP + number * step, top + y, step - _GAP, tall)
        yield labelled(place, text, colour)


def _table(columns: Sequence[float], top: float, end: float) -> Iterator[str]:
    heads = ("one core", "SM", "TensorCore")
    for x, head in zip(columns, heads, strict=True):
        yield words(x, top, head, "start", "fb-strong")
    yield path([(columns[0], top + 6), (end, top + 6)], "fb-grid")
    for number, row in enumerate(rows()):
        for x, text in zip(columns, row, strict=True):
            yield words(x, top + 22 + 18 * number, text, "start")
