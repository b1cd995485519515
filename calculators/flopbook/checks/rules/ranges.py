"""A value lies where parts of its kind and year lie: petabits are not petabytes, and a comma is not
a point.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_claim, counted
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
    "power": (0.5, 4000),
    "die_area": (1e-5, 1.8e-3),
    "transistors": (1e8, 1e12),
    "clock": (1e8, 6.5e9),
    "stacks": (1, 24),
    "scaleup_links": (1, 128),
    "dies": (1, 32),
    "price": (20, 2e6),
}
# The dense 16-bit matrix peak and the memory bandwidth that no single chip had passed by the end of
# a year.
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
# How much faster than 16-bit a format may run.
SPEEDUP = {"fp64": 1, "fp32": 1, "tf32": 1, "bf16": 1, "fp16": 1, "int16": 1}
SMALL = {"fp8": 2.1, "int8": 4, "mxfp8": 4, "mxint8": 4, "bfp8": 2.1, "hif8": 4}
SPARSE = {"dense": 1.02, "2:4": 2.05, "4:1": 4.1}
SAID = (
    "a value where parts of its kind and year lie",
    "check the unit and the decimal point, or say why under 'exceptions'",
)


def check(data: Data) -> Iterator[Finding]:
    """Values out of range."""
    for entry in data.entries.values():
        year = _year(entry)
        for claim in filter(counted, entry.claims):
            if claim.per not in ("die", "package") or claim.si_value is None:
                continue
            low, high = _window(claim, year)
            if not low <= claim.si_value <= high:
                found = f"{claim.field} {claim.value:g} {claim.unit}, outside {low:.2g} to {high:.2g} {claim.si_unit}"
                yield at_claim(NAME, entry, claim, found + (f" for {year}" if year else ""), SAID)


def _window(claim: Claim, year: int) -> tuple[float, float]:
    if claim.field in ("peak", "measured_matmul"):
        speedup = SPEEDUP.get(claim.dtype) or SMALL.get(claim.dtype) or 12
        return 1e10, _limit(PEAK_BY_YEAR, year) * speedup * SPARSE.get(claim.sparsity, 2.05)
    low, high = WINDOWS.get(claim.field, (0.0, float("inf")))
    if claim.field in ("memory_bandwidth", "measured_bandwidth"):
        high = 1e17 if claim.tier == "sram" else _limit(BANDWIDTH_BY_YEAR, year)
    return low, high


def _limit(by_year: dict[int, float], year: int) -> float:
    return next(
        (limit for last, limit in by_year.items() if 0 < year <= last), max(by_year.values())
    )


def _year(entry: Entry) -> int:
    """The latest year in which the part was new; 0 where no date is recorded."""
    days = [str(c.value) for c in entry.claims if c.field in ("announced", "launched") and c.value]
    return max((int(day[:4]) for day in days), default=0)
