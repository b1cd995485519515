"""Attacks the project: hostile data, prose, files and moments, area by area.

Prints a table of areas with what was tried, how much of it failed, and how long it took, by the
clock and on the processors, then each failure with what was tried. The same seed tries the same.
Exit status: 0 all held, 1 something failed, 2 bad usage.
"""

from __future__ import annotations

import argparse
import functools
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from scripts.attack.areas import AREAS, LONG
from scripts.attack.campaign import Attempt, Campaign

_SHOWN = 20  # failures of an area that are printed
_LONGEST = 300  # characters of each
_JOBS = 2


class Outcome(NamedTuple):
    """What came of an area: how many attempts, and those that failed."""

    area: str
    tried: int
    failures: list[Attempt]
    seconds: float
    processor_seconds: float

    def row(self) -> str:
        """The line of the table."""
        tried = f"{self.area:<24} {self.tried:>9,} {len(self.failures):>9,}"
        return f"{tried} {self.seconds:>8.1f} {self.processor_seconds:>9.1f}"


def attack(name: str, *, seed: int, share: float) -> Outcome:
    """Run one area in a folder of its own; an exception of the area is a failure too."""
    area = _known()[name]
    begun, begun_processor = time.monotonic(), _processor_seconds()
    tried, failures = 0, []
    with tempfile.TemporaryDirectory(prefix=f"attack-{area.NAME}-") as folder:
        campaign = Campaign(area.NAME, Path(folder), seed=seed, share=share)
        try:
            for attempt in area.attack(campaign):
                tried += 1
                if attempt.failure:
                    failures.append(attempt)
        except Exception as error:
            last = Attempt("after this many attempts", f"{type(error).__name__}: {error}")
            failures.append(last)
    processor_seconds = _processor_seconds() - begun_processor
    return Outcome(area.NAME, tried, failures, time.monotonic() - begun, processor_seconds)


def _processor_seconds() -> float:
    """Of this process and of all children that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _known() -> dict[str, ModuleType]:
    return {area.NAME: area for area in (*AREAS, *LONG)}


def main(arguments: list[str] | None = None) -> int:
    """Run all areas, or the ones named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    areas = _known()
    long = ", ".join(area.NAME for area in LONG)
    parser.add_argument(
        "names", nargs="*", help=f"which: {', '.join(areas)} (default: all but {long})"
    )
    parser.add_argument("--seed", type=int, default=0, help="what chance begins with (default: 0)")
    parser.add_argument(
        "--share", type=float, default=1.0, help="how much of it, from 0 to 1 (default: 1)"
    )
    parser.add_argument(
        "--jobs", type=int, default=_JOBS, help=f"areas that run at once (default: {_JOBS})"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in areas:
            parser.error(f"unknown area '{name}'; known: {', '.join(areas)}")
    if not 0 < options.share <= 1:
        parser.error(f"--share {options.share}: give a number above 0, at most 1")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: give a whole number of at least 1")
    print(f"seed {options.seed}, share {options.share:g}")
    print(f"{'area':<24} {'tried':>9} {'failures':>9} {'seconds':>8} {'processor':>9}")
    outcomes = []
    names = options.names or [area.NAME for area in AREAS]
    for outcome in _outcomes(names, options.seed, options.share, options.jobs):
        outcomes.append(outcome)
        print(outcome.row(), flush=True)
    return _report(outcomes)


def _outcomes(names: list[str], seed: int, share: float, jobs: int) -> Iterator[Outcome]:
    """The areas in their order, so many at once as there are jobs."""
    run_area = functools.partial(attack, seed=seed, share=share)
    if jobs == 1 or len(names) == 1:
        yield from map(run_area, names)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run_area, names)


def _report(outcomes: list[Outcome]) -> int:
    """Print each failure; the exit status."""
    for outcome in outcomes:
        for attempt in outcome.failures[:_SHOWN]:
            tried, failure = _shortened(attempt.what), _shortened(attempt.failure)
            print(f"{outcome.area}: {tried}: {failure}", file=sys.stderr)
        unprinted = len(outcome.failures) - _SHOWN
        if unprinted > 0:
            print(f"{outcome.area}: {unprinted} more", file=sys.stderr)
    return int(any(outcome.failures for outcome in outcomes))


def _shortened(text: str) -> str:
    """Text on one line, with nothing that a terminal acts on."""
    line = text if text.isprintable() else ascii(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


if __name__ == "__main__":
    sys.exit(main())
