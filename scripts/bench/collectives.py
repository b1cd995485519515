"""Collectives: published times against those of the calculator, by kind of link."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from scripts.bench.collective_rows import ROWS, Row, computed, read_rows
from scripts.bench.results import Counted

CLOSE = 1.3  # factor within which an answer serves
SMALLEST, LARGEST = 2**15, 2**32  # of the arrays that are held to it, bytes


def collectives(_: int, path: Path = ROWS) -> Iterator[Counted]:
    """For each kind of link: rows, median and worst factor, how many are close; and all of them."""
    found = list(read_rows(path))
    rows = [row for row in found if isinstance(row, Row)]
    groups: dict[str, list[float]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(factor(row))
    for name, factors in groups.items():
        yield Counted(f"collectives on {name}", _words(factors))
    yield Counted("collectives, all", _words([factor(row) for row in rows]))
    held = [factor(row) for row in rows if SMALLEST <= row.options["bytes"] <= LARGEST]
    yield Counted("collectives, 32 KiB to 4 GiB", _words(held))
    yield Counted("collectives, not computed", f"{len(found) - len(rows)}")


def factor(row: Row) -> float:
    """By how much the calculator is off, the larger over the smaller of the two times."""
    seconds = float(computed(row)["seconds"])
    return max(seconds / row.seconds, row.seconds / seconds)


def _words(factors: list[float]) -> str:
    if not factors:
        return "no rows"
    close = sum(factor <= CLOSE for factor in factors)
    middle, worst = statistics.median(factors), max(factors)
    return f"median {middle:.2f}, worst {worst:.2f}, {close} of {len(factors)} within {CLOSE}"
