"""From values to places in a picture: scales, round ticks, and labels that keep clear of each
other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

LINE = 13  # height of a line of text
LETTER = 6.3  # width of a letter in the middle, at 12 pixels


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic or linear scale from values to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = True

    def at(self, value: float) -> float:
        """The place of a value; a value below the scale stands at its beginning."""
        value = max(value, self.low)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round values on the scale: powers of ten, with 2 and 5 where there are few; whole steps
        when linear.
        """
        if not self.log:
            step = max(1, math.ceil((self.high - self.low) / 6))
            first = math.ceil(self.low / step) * step
            return [float(value) for value in range(first, math.floor(self.high) + 1, step)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
            found = [
                f * 10.0**p for p in powers for f in factors if self.low <= f * 10.0**p <= self.high
            ]
            if len(found) >= 3:
                break
        return found

    def round_ticks(self) -> list[float]:
        """Round values on the scale, of any size: steps of 1, 2 or 5 times a power of ten when
        linear.
        """
        if self.log:
            return self.ticks()
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(
            factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9)
        )
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


@dataclass(slots=True)
class Room:
    """Where text may still stand: boxes taken so far inside a frame (left, top, right, bottom)."""

    frame: tuple[float, float, float, float]
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)

    def block(self, points: Iterable[tuple[float, float]], radius: float = 5) -> None:
        """Keep labels off these points."""
        self.taken += [(x - radius, y - radius, x + radius, y + radius) for x, y in points]

    def place(self, text: str, x: float, y: float) -> tuple[float, float, str] | None:
        """Place and anchor of a label beside a point: above left, right, left, above, below; None
        without room.
        """
        width = len(text) * LETTER
        for dx, dy, anchor in (
            (-6, -5, "end"),
            (9, 4, "start"),
            (-9, 4, "end"),
            (0, -9, "middle"),
            (0, 17, "middle"),
        ):
            left = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            box = (left, y + dy - LINE + 3, left + width, y + dy + 3)
            if self._free(box):
                self.taken.append(box)
                return round(x + dx, 1), round(y + dy, 1), anchor
        return None

    def _free(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = self.frame
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        return all(
            box[2] <= t[0] or box[0] >= t[2] or box[3] <= t[1] or box[1] >= t[3] for t in self.taken
        )
