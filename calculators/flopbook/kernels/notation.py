"""Reads kernels (`gemm 4096x4096x4096, decode batch=32 context=8192`) and roofs (`a: bf16 9TFLOP/s,
hbm 3TB/s`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.quantities.units import UnitError, parse_quantity

MOST_KERNELS, MOST_MACHINES = 40, 6
# Operation -> how many sides it has, what they are, and what else may be said of it with its
# default (None: needed).
OPERATIONS: dict[str, tuple[int, str, dict[str, float | None]]] = {
    "gemm": (3, "MxNxK", {}),
    "gemv": (2, "NxK", {}),
    "dot": (1, "K", {}),
    "prefill": (0, "", {"seq": None, "heads": 1, "kv-heads": 0, "head-dim": 128}),
    "decode": (0, "", {"context": None, "heads": 1, "kv-heads": 0, "head-dim": 128}),
    "softmax": (2, "ROWSxCOLUMNS", {}),
    "elementwise": (2, "ROWSxCOLUMNS", {"reads": 1, "writes": 1, "flop": 1}),
    "point": (1, "FLOP/byte", {}),
}
# What may be said of any kernel: how many of it, the width of its second operand or of its values,
# the measured rate.
ANY = ("batch", "bytes", "rate")
UNITS = {"rate": "FLOP/s", "bytes": "byte"}
FRACTIONS = ("bytes", "rate")


class Kernel(NamedTuple):
    """An operation with its sides and options; `name` is how it was written, less its measured
    rate.
    """

    name: str
    op: str
    sides: tuple[float, ...]
    options: dict[str, float]


class Roof(NamedTuple):
    """A limit of a chip: a peak in FLOP/s, or a bandwidth in byte/s."""

    label: str
    rate: float


class Machine(NamedTuple):
    """A chip as its roofs; the first of either kind is the one that kernels are held against."""

    name: str
    peaks: tuple[Roof, ...]
    bandwidths: tuple[Roof, ...]

    def ridges(self) -> Iterator[tuple[str, float]]:
        """The intensity at which each peak and each bandwidth meet."""
        for peak in self.peaks:
            yield from (
                (f"{peak.label} over {one.label}", peak.rate / one.rate) for one in self.bandwidths
            )


def read_kernels(text: str) -> tuple[Kernel, ...]:
    """The kernels of a list with commas.

    Raises FlopbookError with what is wrong with the first bad one.
    """
    written = [
        " ".join(part.split()) for part in re.split(r"[,;\n]", printable(text)) if part.strip()
    ]
    if not written:
        raise FlopbookError("no kernel is given; write for example gemm 4096x4096x4096")
    if len(written) > MOST_KERNELS:
        raise FlopbookError(
            f"{len(written)} kernels are too many for a picture, at most {MOST_KERNELS}"
        )
    return tuple(map(_kernel, written))


def _kernel(text: str) -> Kernel:
    op, *words = text.split()
    if op not in OPERATIONS:
        raise UnknownName("kernel", op, OPERATIONS)
    count, form, known = OPERATIONS[op]
    options = {name: value for name, value in known.items() if value is not None}
    sides: tuple[float, ...] = ()
    for word in words:
        name, equals, amount = word.partition("=")
        if not equals and not sides and count:
            sides = tuple(
                _size(text, side, f"a side of {form}", op != "point")
                for side in re.split("[x×]", word)
            )
            continue
        if name not in (*known, *ANY) or not equals:
            raise UnknownName(
                f"word in '{shorten(text)}':", name, [f"{one}=" for one in (*known, *ANY)]
            )
        options[name] = _size(text, amount, name, name not in FRACTIONS, UNITS.get(name, "1"))
    if len(sides) != count:
        raise FlopbookError(
            f"'{shorten(text)}' has {len(sides)} sides, expected {count}: write {op} {form}"
        )
    missing = [name for name, value in known.items() if value is None and name not in options]
    if missing:
        raise FlopbookError(
            f"'{shorten(text)}' needs {missing[0]}=, such as {op} {missing[0]}=8192"
        )
    if options.get("kv-heads", 0) > options.get("heads", 0):
        raise FlopbookError(f"'{shorten(text)}': kv-heads is larger than heads")
    return Kernel(
        " ".join(word for word in text.split() if not word.startswith("rate=")), op, sides, options
    )


def _size(text: str, amount: str, what: str, whole: bool, unit: str = "1") -> float:
    try:
        value = parse_quantity(amount, "FLOP/byte" if what == "a side of FLOP/byte" else unit)
    except UnitError as error:
        raise FlopbookError(f"'{shorten(text)}': {what}: {error}") from None
    if value <= 0 or value > (1e24 if unit != "1" else 1e12) or (whole and not value.is_integer()):
        kind = "a whole number of at least 1" if whole else "a number of more than 0"
        raise FlopbookError(
            f"'{shorten(text)}': {what} is {shorten(amount)}, expected {kind} and of plausible size"
        )
    return value


def read_roofs(text: str) -> tuple[Machine, ...]:
    """The chips of a list with semicolons, each with its peaks and bandwidths.

    Raises FlopbookError.
    """
    written = [" ".join(part.split()) for part in printable(text).split(";") if part.strip()]
    if not written:
        raise FlopbookError("no roof is given; write for example bf16 989TFLOP/s, memory 3.35TB/s")
    if len(written) > MOST_MACHINES:
        raise FlopbookError(
            f"{len(written)} chips are too many for a picture, at most {MOST_MACHINES}"
        )
    found = tuple(
        _machine(part, f"chip {n}" if len(written) > 1 else "chip")
        for n, part in enumerate(written, 1)
    )
    if len({one.name for one in found}) < len(found):
        raise FlopbookError("two chips have the same name")
    return found


def _machine(text: str, default: str) -> Machine:
    name, colon, rest = text.partition(":")
    peaks: list[Roof] = []
    bandwidths: list[Roof] = []
    for item in (rest if colon else text).split(","):
        label, _, amount = item.strip().rpartition(" ")
        rate, is_peak = _rate(item.strip(), amount)
        label = label or ("peak" if is_peak else "memory")
        (peaks if is_peak else bandwidths).append(Roof(label, rate))
    for kind, roofs, like in (
        ("peak", peaks, "bf16 989TFLOP/s"),
        ("bandwidth", bandwidths, "memory 3.35TB/s"),
    ):
        if not roofs:
            raise FlopbookError(f"'{shorten(text)}' has no {kind}; add one, such as {like}")
        if len({one.label for one in roofs}) < len(roofs):
            raise FlopbookError(f"'{shorten(text)}' has two roofs of the same name")
    return Machine(name.strip() if colon else default, tuple(peaks), tuple(bandwidths))


def _rate(item: str, amount: str) -> tuple[float, bool]:
    """A rate and whether it is a peak; its unit says so, and a bare number says nothing."""
    for unit, is_peak in (("FLOP/s", True), ("byte/s", False)):
        try:
            rate = parse_quantity(amount, unit)
        except UnitError:
            continue
        if re.fullmatch(r"[\d.eE+_-]*[a-zA-Z]?", amount):
            break
        if not 0 < rate <= 1e24:
            raise FlopbookError(f"'{shorten(item)}' is no plausible rate")
        return rate, is_peak
    raise FlopbookError(
        f"'{shorten(item)}' is no roof; write a name and a rate with its unit, such as bf16 989TFLOP/s"
    )
