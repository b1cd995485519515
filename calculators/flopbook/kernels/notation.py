"""Reads kernels and the roofs of chips as people write them.

Kernels: `gemm 4096x4096x4096, decode batch=32 context=8192`.
Roofs: `a: bf16 9TFLOP/s, hbm 3TB/s`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.quantities.units import UnitError, parse_quantity

# More than these cannot be told apart in a picture.
MOST_KERNELS, MOST_MACHINES = 40, 6
# Beyond these a number is a slip of the keyboard.
LARGEST_SIZE, LARGEST_RATE = 1e12, 1e24
# Words that hold for any kernel: how many of it, the width of its second operand or of its values,
# the measured rate.
COMMON_WORDS = ("batch", "bytes", "rate")
UNITS = {"rate": "FLOP/s", "bytes": "byte"}
# Words whose number need not be whole; all others count something.
FRACTIONS = ("bytes", "rate")


class Operation(NamedTuple):
    """What an operation is written with: how many sides and in what form, and its own words."""

    sides: int
    form: str
    words: dict[str, float | None]  # with their defaults; None where the word is needed


_ATTENTION: dict[str, float | None] = {"heads": 1, "kv-heads": 0, "head-dim": 128}
OPERATIONS = {
    "gemm": Operation(3, "MxNxK", {}),
    "gemv": Operation(2, "NxK", {}),
    "dot": Operation(1, "K", {}),
    "prefill": Operation(0, "", {"seq": None, **_ATTENTION}),
    "decode": Operation(0, "", {"context": None, **_ATTENTION}),
    "softmax": Operation(2, "ROWSxCOLUMNS", {}),
    "elementwise": Operation(2, "ROWSxCOLUMNS", {"reads": 1, "writes": 1, "flop": 1}),
    "point": Operation(1, "FLOP/byte", {}),
}


class Kernel(NamedTuple):
    """An operation with its sides and options; `name` is as written, less its measured rate."""

    name: str
    op: str
    sides: tuple[float, ...]
    options: dict[str, float]


class RateLimit(NamedTuple):
    """A roof of a chip: a peak in FLOP/s, or a bandwidth in byte/s."""

    label: str
    rate: float


class Machine(NamedTuple):
    """A chip as its roofs; the first of either kind is the one that kernels are held against."""

    name: str
    peaks: tuple[RateLimit, ...]
    bandwidths: tuple[RateLimit, ...]

    def ridges(self) -> Iterator[tuple[str, float]]:
        """The intensity at which each peak and each bandwidth meet."""
        for peak in self.peaks:
            for bandwidth in self.bandwidths:
                yield f"{peak.label} over {bandwidth.label}", peak.rate / bandwidth.rate


def read_kernels(text: str) -> tuple[Kernel, ...]:
    """The kernels of a list with commas.

    Raises FlopbookError with what is wrong with the first bad one.
    """
    written = _pieces(r"[,;\n]", text)
    if not written:
        raise FlopbookError("no kernel is given; write for example gemm 4096x4096x4096")
    if len(written) > MOST_KERNELS:
        raise FlopbookError(
            f"{len(written)} kernels are too many for a picture, at most {MOST_KERNELS}"
        )
    return tuple(_kernel(text) for text in written)


def read_roofs(text: str) -> tuple[Machine, ...]:
    """The chips of a list with semicolons, each with its peaks and bandwidths.

    Raises FlopbookError.
    """
    written = _pieces(";", text)
    if not written:
        raise FlopbookError("no roof is given; write for example bf16 989TFLOP/s, memory 3.35TB/s")
    if len(written) > MOST_MACHINES:
        raise FlopbookError(
            f"{len(written)} chips are too many for a picture, at most {MOST_MACHINES}"
        )
    if len(written) == 1:
        return (_machine(written[0], "chip"),)
    machines = tuple(_machine(text, f"chip {n}") for n, text in enumerate(written, 1))
    if len({machine.name for machine in machines}) < len(machines):
        raise FlopbookError("two chips have the same name")
    return machines


def _pieces(separator: str, text: str) -> list[str]:
    """What stands between separators, in single spaces; empty pieces are left out."""
    pieces = (" ".join(piece.split()) for piece in re.split(separator, printable(text)))
    return [piece for piece in pieces if piece]


def _kernel(text: str) -> Kernel:
    """One kernel: an operation, its sides where it has any, and words with numbers."""
    op, *words = text.split()
    if op not in OPERATIONS:
        raise UnknownName("kernel", op, OPERATIONS)
    operation = OPERATIONS[op]
    options = {name: value for name, value in operation.words.items() if value is not None}
    sides: tuple[float, ...] = ()
    for word in words:
        if "=" in word:
            name, amount = _option(text, word, operation)
            options[name] = amount
        elif operation.sides and not sides:
            sides = _sides(text, word, op)
        else:
            raise _unknown_word(text, word, operation)
    if len(sides) != operation.sides:
        raise FlopbookError(
            f"'{shorten(text)}' has {len(sides)} sides, expected {operation.sides}: "
            f"write {op} {operation.form}"
        )
    _require_words(text, op, options)
    # A measured rate is about a run of the kernel; two rates are points of one kernel.
    name = " ".join(word for word in text.split() if not word.startswith("rate="))
    return Kernel(name, op, sides, options)


def _sides(text: str, word: str, op: str) -> tuple[float, ...]:
    """The sides of an operation, such as 4096x8192; a point has an intensity in their place."""
    if op == "point":
        sides = re.split("[x×]", word)
        return tuple(_size(text, side, "a side of FLOP/byte", "FLOP/byte") for side in sides)
    form = OPERATIONS[op].form
    return tuple(_size(text, side, f"a side of {form}") for side in re.split("[x×]", word))


def _option(text: str, word: str, operation: Operation) -> tuple[str, float]:
    """Name and number of a word such as batch=32."""
    name, _, amount = word.partition("=")
    if name not in operation.words and name not in COMMON_WORDS:
        raise _unknown_word(text, name, operation)
    return name, _size(text, amount, name, UNITS.get(name, "1"))


def _unknown_word(text: str, name: str, operation: Operation) -> UnknownName:
    allowed = [f"{word}=" for word in (*operation.words, *COMMON_WORDS)]
    return UnknownName(f"word in '{shorten(text)}':", name, allowed)


def _require_words(text: str, op: str, options: dict[str, float]) -> None:
    """Raise FlopbookError for a needed word that is missing, and for KV heads unlike heads."""
    missing = [name for name in OPERATIONS[op].words if name not in options]
    if missing:
        raise FlopbookError(
            f"'{shorten(text)}' needs {missing[0]}=, such as {op} {missing[0]}=8192"
        )
    keys = options.get("kv-heads", 0)
    if keys and options.get("heads", 0) % keys:
        raise FlopbookError(f"'{shorten(text)}': kv-heads does not divide heads")


def _size(text: str, amount: str, name: str, unit: str = "1") -> float:
    """A number of a kernel: above zero, of plausible size, and whole where it counts something.

    Raises FlopbookError that names the kernel and the word.
    """
    try:
        size = parse_quantity(amount, unit)
    except UnitError as error:
        raise FlopbookError(f"'{shorten(text)}': {name}: {error}") from None
    is_whole = name not in FRACTIONS and unit != "FLOP/byte"
    largest = LARGEST_RATE if name in UNITS else LARGEST_SIZE
    if 0 < size <= largest and (size.is_integer() or not is_whole):
        return size
    kind = "a whole number of at least 1" if is_whole else "a number of more than 0"
    raise FlopbookError(
        f"'{shorten(text)}': {name} is {shorten(amount)}, expected {kind} and of plausible size"
    )


def _machine(text: str, default_name: str) -> Machine:
    """One chip: its name before a colon, if it has one, and its roofs with commas."""
    name, colon, listed = text.partition(":")
    if not colon:
        name, listed = default_name, text
    peaks: list[RateLimit] = []
    bandwidths: list[RateLimit] = []
    for written in listed.split(","):
        label, _, amount = written.strip().rpartition(" ")
        rate, is_peak = _rate(written.strip(), amount)
        if is_peak:
            peaks.append(RateLimit(label or "peak", rate))
        else:
            bandwidths.append(RateLimit(label or "memory", rate))
    _require_roofs(text, "peak", peaks, "bf16 989TFLOP/s")
    _require_roofs(text, "bandwidth", bandwidths, "memory 3.35TB/s")
    return Machine(name.strip(), tuple(peaks), tuple(bandwidths))


def _require_roofs(text: str, kind: str, roofs: list[RateLimit], example: str) -> None:
    """Raise FlopbookError where a chip has no roof of a kind, or two of the same name."""
    if not roofs:
        raise FlopbookError(f"'{shorten(text)}' has no {kind}; add one, such as {example}")
    if len({roof.label for roof in roofs}) < len(roofs):
        raise FlopbookError(f"'{shorten(text)}' has two roofs of the same name")


def _rate(written: str, amount: str) -> tuple[float, bool]:
    """A rate and whether it is a peak; its unit says so, and a bare number says nothing."""
    for unit, is_peak in (("FLOP/s", True), ("byte/s", False)):
        try:
            rate = parse_quantity(amount, unit)
        except UnitError:
            continue
        # A number with at most one letter, such as 2T, would be read as either of both.
        if re.fullmatch(r"[\d.eE+_-]*[a-zA-Z]?", amount):
            break
        if not 0 < rate <= LARGEST_RATE:
            raise FlopbookError(f"'{shorten(written)}' is no plausible rate")
        return rate, is_peak
    raise FlopbookError(
        f"'{shorten(written)}' is no roof; write a name and a rate with its unit, "
        "such as bf16 989TFLOP/s"
    )
