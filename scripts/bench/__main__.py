"""Measures what the project promises: start-up, build times, weight of pages, state of the code.

Prints median and range of each with its budget. Nothing fails here: machines are noisy, so speed is
read, not asserted.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.bench import (
    building,
    collectives,
    keystrokes,
    large,
    library,
    memory,
    pages,
    plans,
    start_up,
    sweeps,
)
from scripts.bench.collective_rows import ROWS
from scripts.bench.results import Counted, Measure


def handbook(_: int) -> Iterator[Counted]:
    """What the handbook holds; counted, not timed."""
    from scripts.bench.handbook import counts  # it reads all data of the site

    for name, count in counts():
        yield Counted(name, count)


def data(_: int) -> Iterator[Counted]:
    """What is recorded of accelerators; counted, not timed."""
    from scripts.bench.data import counts  # it reads all accelerators

    for name, count in counts():
        yield Counted(name, count)


def house(runs: int) -> Iterator[Counted]:
    """The state of the code; counted, not timed."""
    from scripts.bench import house  # it needs the tools of `make lint`

    yield from house.house(runs)


MEASURES: dict[str, Measure] = {
    "cold": start_up.cold_commands,
    "lint": library.lint,
    "rebuild": building.rebuild,
    "edit": building.edit_to_screen,
    "weight": pages.of_site(pages.weights),
    "load": start_up.loading,
    "large": large.large,
    "memory": memory.memory,
    "sweep": sweeps.sweeps,
    "plan": plans.plans,
    "links": library.links,
    "references": library.references,
    "handbook": handbook,
    "data": data,
    "house": house,
    "collectives": collectives.collectives,
    "notebooks": building.notebooks,
    "explorer": pages.of_site(pages.explorer),
    "works": pages.of_site(pages.works),
    "form": pages.of_site(pages.form),
    "forms": pages.of_site(keystrokes.forms),
    "planners": pages.of_site(keystrokes.planners),
    "search": pages.of_site(pages.search),
}


def main(arguments: list[str] | None = None) -> int:
    """Run all measurements, or the ones named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ", ".join(MEASURES)
    parser.add_argument("names", nargs="*", help=f"which: {known} (default: all)")
    parser.add_argument(
        "--runs", type=int, default=15, help="runs of the short measurements (default: 15)"
    )
    parser.add_argument(
        "--rows",
        type=Path,
        default=ROWS,
        metavar="FILE",
        help="published runs that `collectives` is held against (default: those of the project)",
    )
    options = parser.parse_args(arguments)
    measures = MEASURES | {
        "collectives": functools.partial(collectives.collectives, path=options.rows)
    }
    for name in options.names:
        if name not in MEASURES:
            parser.error(f"unknown measurement '{name}'; known: {known}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    for name in options.names or measures:
        for result in measures[name](options.runs):
            print(result.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
