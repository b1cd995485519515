"""Steps with progress while they run and their times at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_WIDTH = 90  # characters of a line of progress


class BuildSteps:
    """Prints each step as it begins, and at the end how long each took."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.times: list[tuple[str, float]] = []
        self.begun = time.perf_counter()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Run a block as one step; its time is noted even when it fails."""
        print(f"[{len(self.times) + 1}/{self.total}] {name} ...", flush=True)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.times.append((name, time.perf_counter() - start))

    def detail(self, text: str) -> None:
        """A line of progress inside a step; it overwrites itself on a terminal."""
        line_end = "\r" if sys.stdout.isatty() else "\n"
        print(f"      {text[:_WIDTH]:<{_WIDTH}}", end=line_end, flush=True)

    def summary(self) -> str:
        """One line for each step and the sum."""
        lines = [f"  {seconds:6.1f} s  {name}" for name, seconds in self.times]
        return "\n".join([*lines, f"  {time.perf_counter() - self.begun:6.1f} s  in all"])
