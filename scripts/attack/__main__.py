"""Attacks the project: hostile data, prose, files and moments, area by area.

Prints a table of areas with what was tried and how much of it failed, then each failure with what
was tried. The same seed tries the same. Exit status: 0 all held, 1 something failed, 2 bad usage.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from scripts.attack.areas import AREAS, LONG
from scripts.attack.campaign import Attempt, Campaign

_SHOWN = 20  # failures of an area that are printed
_LONGEST = 300  # characters of each


class Outcome(NamedTuple):
    """What came of an area: how many attempts, and those that failed."""

    area: str
    tried: int
    failures: list[Attempt]
    seconds: float

    def row(self) -> str:
        """The line of the table."""
        return f"{self.area:<24} {self.tried:>9,} {len(self.failures):>9,} {self.seconds:>8.1f}"


def attack(area: ModuleType, *, seed: int, share: float) -> Outcome:
    """Run one area in a folder of its own; an exception of the area is a failure too."""
    begun = time.monotonic()
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
    return Outcome(area.NAME, tried, failures, time.monotonic() - begun)


def main(arguments: list[str] | None = None) -> int:
    """Run all areas, or the ones named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = {area.NAME: area for area in AREAS}
    known = {**usual, **{area.NAME: area for area in LONG}}
    long = ", ".join(area.NAME for area in LONG)
    parser.add_argument(
        "names", nargs="*", help=f"which: {', '.join(known)} (default: all but {long})"
    )
    parser.add_argument("--seed", type=int, default=0, help="what chance begins with (default: 0)")
    parser.add_argument(
        "--share", type=float, default=1.0, help="how much of it, from 0 to 1 (default: 1)"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in known:
            parser.error(f"unknown area '{name}'; known: {', '.join(known)}")
    if not 0 < options.share <= 1:
        parser.error(f"--share {options.share}: give a number above 0, at most 1")
    print(f"seed {options.seed}, share {options.share:g}")
    print(f"{'area':<24} {'tried':>9} {'failures':>9} {'seconds':>8}")
    outcomes = []
    for name in options.names or usual:
        outcomes.append(attack(known[name], seed=options.seed, share=options.share))
        print(outcomes[-1].row(), flush=True)
    return _report(outcomes)


def _report(outcomes: list[Outcome]) -> int:
    """Print each failure; the exit status."""
    for outcome in outcomes:
        for attempt in outcome.failures[:_SHOWN]:
            tried, failure = _shortened(attempt.what), _shortened(attempt.failure)
            print(f"{outcome.area}: {tried}: {failure}", file=sys.stderr)
        more = len(outcome.failures) - _SHOWN
        if more > 0:
            print(f"{outcome.area}: {more} more", file=sys.stderr)
    return int(any(outcome.failures for outcome in outcomes))


def _shortened(text: str) -> str:
    """Text on one line, with nothing that a terminal acts on."""
    line = text if text.isprintable() else ascii(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


if __name__ == "__main__":
    sys.exit(main())
