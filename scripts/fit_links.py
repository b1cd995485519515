"""Fits what software reaches on each kind of link, and writes `accelerators/links.yaml`.

`python -m scripts.fit_links` reads the published sweeps in `calculators/runs`. The
search is deterministic, so that a test can repeat it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import write_text
from flopbook.data.library import library
from flopbook.data.link_kinds import FILE
from flopbook.hardware.chip import chip
from flopbook.hardware.network import Network
from scripts.bench.collective_rows import Row, computed, read_rows

# No launch, no ramp, the printed rate: what the constants multiply.
IDEAL = {"startup": 0.0, "ramp": 0.0, "efficiency": 1.0, "reduction_efficiency": 1.0}
NAMES = tuple(IDEAL)
START = (1e-5, 1e-6, 0.8, 0.7)
STEPS = (2.0, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01, 1.003, 1.001)  # factors, from coarse to fine
# Below this difference of logarithms an error is squared, above it counts as it is, so that a
# source that disagrees with the others does not decide.
TOLERANCE = 0.05
DIGITS = 3
HEAD = """\
# What software reaches on each kind of link. Written by `python -m scripts.fit_links` from the
# published sweeps in calculators/runs; a test fits it once more.
# startup, ramp: seconds; efficiency: share of the printed rate, reduction_efficiency where the
# switch adds up. time = startup + latency of the hops + 2 sqrt(ramp * transfer) + transfer.
kinds:
"""


class Point(NamedTuple):
    """A row as the fit sees it: ideal transfer time, latency of hops, where sums happen, time."""

    transfer: float
    hops: float
    in_switch: bool
    seconds: float


Constants = tuple[float, ...]


def point(row: Row) -> Point:
    """A row with everything but the constants computed."""
    ideal = computed(row, **IDEAL)
    in_switch = row.options.get("reduction") == "switch"
    return Point(ideal["bandwidth_seconds"], ideal["latency_seconds"], in_switch, row.seconds)


def predicted(constants: Constants, point: Point) -> float:
    """The time of the calculator with these constants, s."""
    startup, ramp, efficiency, in_switch = constants
    transfer = point.transfer / (in_switch if point.in_switch else efficiency)
    return startup + point.hops + 2 * math.sqrt(ramp * transfer) + transfer


def loss(constants: Constants, points: Iterable[Point]) -> float:
    """Sum of errors of the logarithm, rounded at the bottom."""
    errors = (math.log(predicted(constants, point) / point.seconds) for point in points)
    return sum(math.hypot(error, TOLERANCE) for error in errors)


def fitted(points: Sequence[Point]) -> Constants:
    """The constants with the least loss: one at a time up and down, in steps that shrink."""
    best: Constants = START
    least = loss(START, points)
    for step in STEPS:
        is_better = True
        while is_better:
            is_better = False
            for place, up in (
                (place, up) for place in range(len(NAMES)) for up in (step, 1 / step)
            ):
                tried = tuple(
                    _within(n, value * up) if n == place else value for n, value in enumerate(best)
                )
                if loss(tried, points) < least - 1e-12:
                    best, least, is_better = tried, loss(tried, points), True
    return best


def _within(place: int, value: float) -> float:
    """No more than the printed rate, and no time below a nanosecond."""
    is_share = place >= 2
    return min(value, 1.0) if is_share else max(value, 1e-9)


def kinds() -> dict[str, list[Row]]:
    """Rows by the name of their link."""
    rows_of: dict[str, list[Row]] = {}
    for row in read_rows():
        if isinstance(row, Row):
            name = Network(chip(str(row.options["chip"]))).pick_port().claim.name
            rows_of.setdefault(name, []).append(row)
    return rows_of


def text() -> str:
    """The file as it has to be."""
    return HEAD + "".join(_kind(name, rows) for name, rows in sorted(kinds().items()))


def _kind(name: str, rows: list[Row]) -> str:
    constants = dict(zip(NAMES, fitted([point(row) for row in rows]), strict=True))
    if not any("reduction" in row.options for row in rows):
        del constants["reduction_efficiency"]
    sources = ", ".join(dict.fromkeys(row.source for row in rows))
    lines = [f"  {name}:"]
    lines += [f"    {key}: {value:.{DIGITS}g}" for key, value in constants.items()]
    return "\n".join([*lines, f"    sources: [{sources}]", f"    rows: {len(rows)}", ""])


def main(arguments: list[str] | None = None) -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    path: Path = library().accelerators / FILE
    write_text(path, text())
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
