"""Sweeps of small GPU benchmarks, copied from the results that their author publishes.

Each series names the file that it is from, the chip, and the columns of its rows. The rows are
some of those of the file; none is changed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName

FILE = Path(__file__).with_name("gpu_benches.json")
GIGA, MEGA = 1e9, 1e6
# The factor that makes SI of a column, by its unit; other columns are as they stand.
_SI = {"kB": 1024.0, "GB/s": GIGA, "GFLOP/s": GIGA, "MHz": MEGA}


class Microbenchmark(NamedTuple):
    """One series: the file of its results, the id of its chip, its columns, its rows in SI."""

    path: str
    chip: str
    columns: tuple[str, ...]
    clock: float
    rows: tuple[tuple[float, ...], ...]

    def pairs(self, column: int = 1) -> list[tuple[float, float]]:
        """The first column of each row with another one."""
        return [(row[0], row[column]) for row in self.rows]


@functools.cache
def record() -> Mapping[str, Any]:
    """The committed file."""
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def sweep(name: str) -> Microbenchmark:
    """A series by its name. Raises UnknownName."""
    series = record()["series"]
    if name not in series:
        raise UnknownName("series of microbenchmarks", name, tuple(series))
    points = series[name]
    columns = tuple(points["columns"])
    factors = [_SI.get(column, 1.0) for column in columns]
    rows = tuple(
        tuple(factor * number for factor, number in zip(factors, row, strict=True))
        for row in points["rows"]
    )
    return Microbenchmark(
        points["path"], points["chip"], columns, MEGA * points.get("clock_mhz", 0), rows
    )


def latency(low: float, high: float) -> float:
    """Seconds of a read of data between two sizes, the middle of the rows.

    Raises FlopbookError where there are none.
    """
    points = sweep("latency")
    cycles = sorted(row[1] for row in points.rows if low <= row[0] <= high)
    if not cycles:
        raise FlopbookError(f"no latency between {low:g} and {high:g} bytes")
    return cycles[len(cycles) // 2] / points.clock


# Where a read ends, by the size of what is read: the first level, the second, and main memory.
LEVELS = {"near": (16e3, 200e3), "cache": (400e3, 20e6), "memory": (65e6, 2e9)}


def level_latency(name: str) -> float:
    """Seconds of a read from a level of memory of the chip. Raises UnknownName."""
    if name not in LEVELS:
        raise UnknownName("level of memory", name, tuple(LEVELS))
    return latency(*LEVELS[name])


# Rates by name: a series, and a level of memory. The last is of a faster card.
_RATES = {
    "near": ("near", "near"),
    "cache": ("l2", "cache"),
    "memory": ("threads", "memory"),
    "cache-h200": ("l2-h200", "cache"),
}


def level_rate(name: str) -> float:
    """Bytes per second that all processors read from a level together. Raises UnknownName."""
    if name not in _RATES:
        raise UnknownName("level of memory", name, tuple(_RATES))
    series, level = _RATES[name]
    if level == "memory":
        return max(rate for _, rate in sweep(series).pairs())
    low, high = LEVELS[level]
    rates = sorted(rate for size, rate in sweep(series).pairs() if low <= size <= high)
    return rates[len(rates) // 2]


def launch_time(name: str) -> float:
    """Seconds of the smallest kernel in a row of many: `launches`, or `graph` as one graph."""
    size, rate = sweep(name).rows[0][:2]
    return size / rate
