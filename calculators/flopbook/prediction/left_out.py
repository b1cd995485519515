"""How often bands held runs that no fit had seen, by what was left out of the fit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from flopbook.prediction.fitted import fitted_kinds

PROMISED = 0.8  # share of runs that a band is to hold
TAIL = 0.025  # of a binomial distribution on either side of its 95 % interval
# Fewer rows than this say little of a share.
ENOUGH_ROWS = 20


class LeftOutCoverage(NamedTuple):
    """Rows of a kind, of which whole groups were left out, and how many their bands held."""

    kind: str
    left_out: str
    rows: int
    held: int

    @property
    def share(self) -> float:
        """The share of the rows that their bands held."""
        return self.held / self.rows

    @property
    def expected(self) -> tuple[float, float]:
        """Between which shares a band of four fifths lies, 95 times of 100."""
        low, high = binomial_interval(self.rows, PROMISED)
        return low / self.rows, high / self.rows

    @property
    def holds(self) -> bool:
        """Whether the bands hold at least what they say, as far as so few rows can tell."""
        return self.share >= self.expected[0]

    def record(self) -> dict[str, Any]:
        """The line as JSON has it."""
        return {
            "kind": self.kind,
            "left_out": self.left_out,
            "n": self.rows,
            "coverage": self.share,
            "expected": list(self.expected),
            "holds": self.holds,
        }


def left_out_coverage() -> tuple[LeftOutCoverage, ...]:
    """The kinds of which enough rows were left out, as `scripts.fit` found them."""
    return tuple(
        LeftOutCoverage(kind, left_out, counts["rows"], counts["held"])
        for kind, known in fitted_kinds().items()
        for left_out, counts in known.coverage.items()
        if counts["rows"] >= ENOUGH_ROWS
    )


def binomial_interval(trials: int, share: float) -> tuple[int, int]:
    """Between which counts 95 of 100 draws of so many trials lie, none of them in either tail."""
    below, low = 0.0, None
    for count in range(trials + 1):
        chance = math.comb(trials, count) * share**count * (1 - share) ** (trials - count)
        below += chance
        if low is None and below > TAIL:
            low = count
        if below >= 1 - TAIL:
            return low or 0, count
    return low or 0, trials
