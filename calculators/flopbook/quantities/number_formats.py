"""Number formats: how many bits go to sign, exponent and fraction, and which numbers they write.

Layouts: IEEE 754 for fp64, fp32 and fp16; bf16 is the upper half of fp32; fp8 after
micikevicius2022fp8; fp6, fp4 and blocks that share a scale after darvish2023microscaling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from flopbook.errors import FlopbookError, UnknownName

# With more bits, listing every number of a format would take too long.
MOST_LISTED_BITS = 16


@dataclass(frozen=True)
class Format:
    """A format by its bits. `whole` are the bits of an integer beside its sign.

    `lost` counts what the largest exponent gives up to infinities and NaN: "all" of it (IEEE 754),
    the last "code" only (fp8 E4M3), or "none".
    """

    expression_attributes: ClassVar = (
        *("name", "bits", "bytes", "exponent", "fraction"),
        *("largest", "smallest", "step"),
    )

    name: str
    sign: int
    exponent: int
    fraction: int
    whole: int = 0
    lost: str = "all"

    @property
    def bits(self) -> int:
        """Width of a number, in bits."""
        return self.sign + self.exponent + self.fraction + self.whole

    @property
    def bytes(self) -> float:
        """Width of a number, in bytes."""
        return self.bits / 8

    @property
    def bias(self) -> int:
        """What is taken from the stored exponent."""
        return int(2 ** (self.exponent - 1)) - 1

    @property
    def largest(self) -> float:
        """The largest number that can be written."""
        if self.whole:
            return 2.0**self.whole - 1
        exponent = 2**self.exponent - 1 - self.bias
        fraction = 2 - 2.0**-self.fraction
        if self.lost == "all":
            exponent -= 1
        if self.lost == "code":  # the fraction of all ones is NaN
            fraction -= 2.0**-self.fraction
        return float(fraction * 2.0**exponent)

    @property
    def smallest(self) -> float:
        """The smallest positive number with all its digits (a normal number); 1 for integers."""
        return 1.0 if self.whole else float(2.0 ** (1 - self.bias))

    @property
    def step(self) -> float:
        """From 1 to the next number that can be written."""
        return 1.0 if self.whole else float(2.0**-self.fraction)

    @property
    def values(self) -> tuple[float, ...]:
        """Every number from zero up that can be written, in order. Raises FlopbookError.

        Only for formats of at most 16 bits.
        """
        if self.bits > MOST_LISTED_BITS:
            raise FlopbookError(f"{self.name} has too many values to list")
        if self.whole:
            return tuple(float(number) for number in range(2**self.whole))
        fractions = range(2**self.fraction)
        # Below the smallest normal number, steps stay as they are from there to its double.
        numbers = [n * self.smallest * self.step for n in fractions]
        power = self.smallest
        while power <= self.largest:
            numbers += [power * (1 + n * self.step) for n in fractions]
            power *= 2
        return tuple(number for number in numbers if number <= self.largest)


class Block(NamedTuple):
    """Numbers of few bits that share one scale."""

    name: str
    bits: int
    scale_bits: int
    size: int

    @property
    def bits_each(self) -> float:
        """Bits for each number, its share of the scale included."""
        return self.bits + self.scale_bits / self.size


FORMATS = (
    Format("fp64", 1, 11, 52),
    Format("fp32", 1, 8, 23),
    Format("bf16", 1, 8, 7),
    Format("fp16", 1, 5, 10),
    Format("fp8 E4M3", 1, 4, 3, lost="code"),
    Format("fp8 E5M2", 1, 5, 2),
    Format("fp6 E3M2", 1, 3, 2, lost="none"),
    Format("fp4 E2M1", 1, 2, 1, lost="none"),
    Format("int8", 1, 0, 0, 7),
    Format("int4", 1, 0, 0, 3),
)
BLOCK = Block("mxfp4", bits=4, scale_bits=8, size=32)


def number_format(name: str) -> Format:
    """The format of this name. Raises UnknownName."""
    by_name = {layout.name: layout for layout in FORMATS}
    if name not in by_name:
        raise UnknownName("number format", name, by_name)
    return by_name[name]
