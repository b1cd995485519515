"""What a byte and an operation cost in energy, from a sweep of a kernel with its power.

Rates of memory and of arithmetic differ from row to row and the clock does not, so three constants
describe the power: what the GPU draws whatever it does, and so much for each byte and operation.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from flopbook.errors import UnknownName
from scripts.website.measured.microbenchmarks import sweep

TERA = 1e12


class PowerParts(NamedTuple):
    """Watts that are always drawn, joules of a byte from main memory and of an operation."""

    fixed: float
    byte: float
    operation: float

    def watts(self, bytes_rate: float, operations_rate: float) -> float:
        """Power at these rates in byte/s and FLOP/s."""
        return self.fixed + self.byte * bytes_rate + self.operation * operations_rate


@functools.cache
def power_parts(left_out: int | None = None) -> PowerParts:
    """The constants that fit all rows of the sweep best, or all but one."""
    measured = [row for number, row in enumerate(sweep("roofline").rows) if number != left_out]
    rates = [(1.0, row[1] / TERA, row[2] / TERA) for row in measured]
    fixed, byte, operation = np.linalg.lstsq(rates, [row[4] for row in measured])[0].tolist()
    return PowerParts(fixed, byte / TERA, operation / TERA)


def energy_of(name: str) -> float:
    """Joules of a `byte` or an `operation`. Raises UnknownName."""
    if name not in ("byte", "operation"):
        raise UnknownName("work with an energy", name, ("byte", "operation"))
    return float(getattr(power_parts(), name))


def power_of(name: str) -> float:
    """Watts that are drawn whatever the kernel does, `fixed`. Raises UnknownName."""
    if name != "fixed":
        raise UnknownName("part of the power", name, ("fixed",))
    return power_parts().fixed
