"""A value lies where parts of its kind and year lie.

Petabits are not petabytes, and a comma is not a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import (
    Advice,
    Finding,
    Holdings,
    amount,
    at_claim,
    counted,
    printed,
)
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "range"

# SI windows for one chip. They are wide on purpose: they catch slips of a unit, not surprising
# products.
WINDOWS = {
    "memory": (16e6, 2.1e12),
    "memory_bandwidth": (4e9, 60e12),
    "sram": (1e3, 2e9),
    "cache": (1e3, 2e9),
    "sram_bandwidth": (1e9, 1e15),
    "scaleup_bandwidth": (5e8, 15e12),
    "scaleout_bandwidth": (1e8, 1e12),
    "host_bandwidth": (1e8, 4e12),
    "port_bandwidth": (1e8, 15e12),
    "chip_to_chip_bandwidth": (1e8, 15e12),
    "die_to_die_bandwidth": (1e9, 60e12),
    "fabric_bandwidth": (1e12, 1e17),
    "ports": (1, 256),
    "power": (0.5, 4000),
    "die_area": (1e-5, 1.8e-3),
    "transistors": (1e8, 1e12),
    "clock": (1e8, 6.5e9),
    "stacks": (1, 24),
    "scaleup_links": (1, 128),
    "dies": (1, 32),
    "price": (20, 2e6),
}
# The dense 16-bit matrix peak and the memory bandwidth that no single chip had passed by the end
# of a year.
PEAK_BY_YEAR = {
    2017: 1.3e14,
    2019: 3e14,
    2020: 4.5e14,
    2022: 1.1e15,
    2024: 2.6e15,
    2026: 1e16,
    2030: 4e16,
}
BANDWIDTH_BY_YEAR = {
    2017: 1e12,
    2019: 1.3e12,
    2020: 2.1e12,
    2022: 3.6e12,
    2024: 8.5e12,
    2026: 26e12,
    2030: 60e12,
}
# How much faster than 16-bit a format may run; every format that is not named here is smaller.
SPEEDUP = {
    **dict.fromkeys(("fp64", "fp32", "tf32", "bf16", "fp16", "int16"), 1.0),
    **{"fp8": 2.1, "int8": 4.0, "mxfp8": 4.0, "mxint8": 4.0, "bfp8": 2.1, "hif8": 4.0},
}
SPEEDUP_OF_SMALLER = 12.0
# How much faster than dense, with some room; unstated may be sparse.
SPARSE = {"dense": 1.02, "2:4": 2.05, "4:1": 4.1, "unstated": 2.05}
# The largest bandwidth of memory that is SRAM on the chip itself.
SRAM_BANDWIDTH = 1e17
ADVICE = Advice(
    "a value where parts of its kind and year lie",
    "check the unit and the decimal point, or say why under 'exceptions'",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Values out of range."""
    for entry in holdings.entries.values():
        year = _year(entry)
        suffix = f" for {year}" if year else ""
        for claim in entry.claims:
            if not counted(claim) or claim.per not in ("die", "package"):
                continue
            low, high = _window(claim, year)
            if not low <= amount(claim) <= high:
                window = f"{low:.2g} to {high:.2g} {claim.si_unit}{suffix}"
                observed = f"{claim.field} {printed(claim)}, outside {window}"
                yield at_claim(NAME, entry, claim, observed, ADVICE)


def _window(claim: Claim, year: int) -> tuple[float, float]:
    if claim.field in ("peak", "measured_matmul"):
        speedup = SPEEDUP.get(claim.dtype, SPEEDUP_OF_SMALLER)
        sparse = SPARSE.get(claim.sparsity, SPARSE["unstated"])
        return 1e10, _limit(PEAK_BY_YEAR, year) * speedup * sparse
    low, high = WINDOWS.get(claim.field, (0.0, math.inf))
    if claim.field not in ("memory_bandwidth", "measured_bandwidth"):
        return low, high
    if claim.tier == "sram":
        return low, SRAM_BANDWIDTH
    return low, _limit(BANDWIDTH_BY_YEAR, year)


def _limit(by_year: Mapping[int, float], year: int) -> float:
    """The limit of the first year in the table that is not before `year`; the largest without."""
    limits = (limit for last, limit in by_year.items() if 0 < year <= last)
    return next(limits, max(by_year.values()))


def _year(entry: Entry) -> int:
    """The latest year in which the part was new; 0 where no date is recorded."""
    claims = (claim for claim in entry.claims if claim.field in ("announced", "launched"))
    return max((int(str(claim.value)[:4]) for claim in claims if claim.value), default=0)
