"""What a measurement gives: times, weights and counts, each with the line that is printed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

NAME_WIDTH = 44


@dataclass(frozen=True, slots=True)
class Timed:
    """Times of several runs: what was timed, the times in `unit`, and their budget."""

    name: str
    times: list[float]
    budget: str = "none"
    unit: str = "ms"

    def line(self) -> str:
        """Median, range, number of runs, budget."""
        middle = f"median {statistics.median(self.times):8.1f} {self.unit}"
        spread = f"({min(self.times):.1f} to {max(self.times):.1f}, n={len(self.times)})"
        return f"{self.name:<{NAME_WIDTH}} {middle}  {spread}  budget {self.budget}"


@dataclass(frozen=True, slots=True)
class Weighed:
    """A weight: of what, in bytes gzipped, and its budget."""

    name: str
    size: int
    budget: str = "none"

    def line(self) -> str:
        """Kilobytes and budget."""
        size = f"{self.size / 1000:8.1f} kB gzipped"
        return f"{self.name:<{NAME_WIDTH}}        {size}  budget {self.budget}"


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that is counted, and the count in words."""

    name: str
    count: str

    def line(self) -> str:
        """The count."""
        return f"{self.name:<{NAME_WIDTH}} {self.count}"


Result = Timed | Weighed | Counted
# A measure takes the number of runs and gives its results one by one, as they come.
Measure = Callable[[int], Iterator[Result]]
