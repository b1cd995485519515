"""From values to places in a picture: scales, round ticks, and room for labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

LINE = 13  # height of a line of text
LETTER = 6.3  # width of a letter in the middle, at 12 pixels
MOST_STEPS = 6  # between the first and the last tick of a linear scale
ROUNDING = 1e-9  # by how much a step or an end may miss a round value and still be it
_Shift = tuple[float, float, str]  # to the right, down, anchor
# Where a label may be beside its point, best first: shift to the right, shift down, anchor.
_PLACES: tuple[_Shift, ...] = (
    (-6, -5, "end"),
    (9, 4, "start"),
    (-9, 4, "end"),
    (0, -9, "middle"),
    (0, 17, "middle"),
)
# Where it may be as well if it stands clear of lines there.
_CLOSE: tuple[_Shift, ...] = ((9, -5, "start"), (9, 14, "start"), (-9, 14, "end"))
_CORNERS: tuple[_Shift, ...] = (
    *_CLOSE,
    (9, -16, "start"),
    (-9, -16, "end"),
    (9, 25, "start"),
    (-9, 25, "end"),
)
_STEP = 2.0  # pixels from one piece of a line that labels avoid to the next
# How far off a label may be at the end of a pointer, and in how many directions.
_REACHES = (20.0, 28.0, 36.0, 46.0, 58.0, 72.0)
_DIRECTIONS = 24
TO_WORDS = 3.0  # pixels from the end of a pointer to its words
_POINTER_STEP = 3.0  # pixels from one piece of a pointer to the next
Box = tuple[float, float, float, float]  # left, top, right, bottom


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
        """Round values on the scale: of a linear one whole numbers, such as years.

        Of a logarithmic one powers of ten, with factors of 3, or of 2 and 5, where these are few.
        """
        if not self.log:
            step = max(1, math.ceil((self.high - self.low) / MOST_STEPS))
            first = math.ceil(self.low / step) * step
            return [float(tick) for tick in range(first, math.floor(self.high) + 1, step)]
        for factors in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
            ticks = self._decimal_ticks(factors)
            if len(ticks) >= 3:
                break
        return ticks

    def _decimal_ticks(self, factors: tuple[float, ...]) -> list[float]:
        """These factors times powers of ten, as far as they are on the scale."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        candidates = [factor * 10.0**power for power in powers for factor in factors]
        return [tick for tick in candidates if self.low <= tick <= self.high]

    def round_ticks(self) -> list[float]:
        """Round values of any size: on a linear scale steps of 1, 2 or 5 times a power of ten."""
        if self.log:
            return self.ticks()
        rough_step = (self.high - self.low) / MOST_STEPS
        power = 10.0 ** math.floor(math.log10(rough_step))
        steps = (factor * power for factor in (1, 2, 5, 10))
        step = next(step for step in steps if step >= rough_step * (1 - ROUNDING))
        first = math.ceil(self.low / step - ROUNDING)
        last = math.floor(self.high / step + ROUNDING)
        # Twelve digits: 3 * 0.1 is to be written 0.3.
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


_HOUR, _DAY, _YEAR = 3600.0, 86400.0, 365 * 86400.0
# Between ticks of times of hours, in seconds.
_TIME_STEPS = (360.0, 720.0, 1800.0, *(_HOUR * count for count in (1, 2, 3, 6, 12)))


def ticks_in(scale: Scale, unit: str) -> list[float]:
    """Ticks that are round as they are written: long times in hours, days or years.

    `unit` is that of the values, in SI.
    """
    if unit != "s" or scale.high < _HOUR:
        return scale.round_ticks()
    if scale.log:
        return _long_times(scale)
    step = next((step for step in _TIME_STEPS if step * MOST_STEPS >= scale.high - scale.low), 0.0)
    if not step and _YEAR < scale.high < 2 * _YEAR:
        return _fifths_of_years(scale)
    if not step:
        step = _YEAR if scale.high >= 2 * _YEAR else _DAY
    in_steps = Scale(scale.low / step, scale.high / step, scale.start, scale.end, log=False)
    times = [step * tick for tick in in_steps.round_ticks()]
    return [time for time in times if _is_round(time)]


def _is_round(time: float) -> bool:
    """Whether three digits write a time in the unit that it is written in."""
    unit = next((unit for unit in (_YEAR, _DAY, _HOUR) if time >= unit), 1.0)
    number = time / unit
    return math.isclose(float(f"{number:.3g}"), number, rel_tol=1e-9)


def _fifths_of_years(scale: Scale) -> list[float]:
    """Ticks 73 days apart, which are round in days as well as in years."""
    fifth = _YEAR / 5
    first, last = math.ceil(scale.low / fifth), math.floor(scale.high / fifth)
    return [fifth * number for number in range(first, last + 1)]


def _long_times(scale: Scale) -> list[float]:
    """Ticks of a logarithmic scale of times: seconds, an hour, six hours, days, years."""
    times = [tick for tick in scale.ticks() if tick <= _HOUR / 2]
    times += [_HOUR, 6 * _HOUR, *(_DAY * 10.0**power for power in range(3))]
    years = math.ceil(math.log10(max(scale.high / _YEAR, 1))) + 1
    times += [_YEAR * 10.0**power for power in range(years)]
    return [time for time in times if scale.low <= time <= scale.high]


class _Way(NamedTuple):
    """A pointer to a label: what it passes over, its direction, where it ends, the label's box."""

    passed: int
    number: int
    end: tuple[float, float]
    box: Box
    anchor: str


@dataclass(slots=True)
class Room:
    """Where text may still stand: the boxes taken so far inside a frame, and lines to avoid."""

    frame: Box
    taken: list[Box] = field(default_factory=list)
    written: list[Box] = field(default_factory=list)  # of them those of labels
    crossed: list[Box] = field(default_factory=list)

    def block(self, points: Iterable[tuple[float, float]], radius: float = 5) -> None:
        """Keep labels off these points."""
        self.taken += [_around(x, y, radius) for x, y in points]

    def avoid(self, line: Sequence[tuple[float, float]]) -> None:
        """Let labels stand on this line only where there is no other place for them."""
        for (x0, y0), (x1, y1) in itertools.pairwise(line):
            count = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / _STEP))
            for number in range(count + 1):
                share = number / count
                self.crossed.append(_around(x0 + share * (x1 - x0), y0 + share * (y1 - y0)))

    def clear(self, text: str, x: float, y: float) -> tuple[float, float, str] | None:
        """Place and anchor of a label close to a point and off all lines; None without room."""
        return self._kept(self._first(text, (x, y), (*_PLACES, *_CLOSE), self.crossed), (x, y))

    def lead(self, text: str, x: float, y: float) -> tuple[float, float, str] | None:
        """End of a pointer from a point to a label off all lines, and the anchor of the label.

        Of the nearest such places it is that whose pointer passes over the fewest marks. It passes
        over no label and no other pointer. None where there is no room.
        """
        for reach in _REACHES:
            way = min(self._ways(text, (x, y), reach), default=None)
            if way is None:
                continue
            pointer = _pieces((x, y), way.end)
            self.taken += [way.box, *pointer]
            self.written += [way.box, *pointer]
            return *way.end, way.anchor
        return None

    def _ways(self, text: str, point: tuple[float, float], reach: float) -> Iterator[_Way]:
        """All pointers of a length whose label has room, in every direction."""
        x, y = point
        width = len(text) * LETTER
        for number in range(_DIRECTIONS):
            angle = 2 * math.pi * (number + 0.5) / _DIRECTIONS
            end = round(x + reach * math.cos(angle), 1), round(y + reach * math.sin(angle), 1)
            is_right = end[0] > x
            left = end[0] + TO_WORDS if is_right else end[0] - TO_WORDS - width
            box = (left, end[1] - LINE / 2, left + width, end[1] + LINE / 2)
            if not self._free(box, self.crossed):
                continue
            passed = self._passed(point, end)
            if passed is not None:
                yield _Way(passed, number, end, box, "start" if is_right else "end")

    def _passed(self, start: tuple[float, float], end: tuple[float, float]) -> int | None:
        """Over how many marks and pieces of lines a pointer passes; None over a label."""
        passed = 0
        for piece in _pieces(start, end):
            if any(_overlap(piece, box) for box in self.written):
                return None
            passed += sum(_overlap(piece, box) for box in self.taken)
            passed += any(_overlap(piece, line) for line in self.crossed)
        return passed

    def place(self, text: str, x: float, y: float) -> tuple[float, float, str] | None:
        """Place and anchor of a label beside a point; None where there is no room for it."""
        clear = self._first(text, (x, y), (*_PLACES, *_CORNERS), self.crossed)
        found = clear if self.crossed and clear else self._first(text, (x, y), _PLACES, ())
        return self._kept(found, (x, y))

    def _kept(
        self, found: tuple[_Shift, Box] | None, point: tuple[float, float]
    ) -> tuple[float, float, str] | None:
        """Place and anchor of a label that was found, whose box is taken from now on."""
        if found is None:
            return None
        (across, down, anchor), box = found
        self.taken.append(box)
        self.written.append(box)
        return round(point[0] + across, 1), round(point[1] + down, 1), anchor

    def _first(
        self,
        text: str,
        point: tuple[float, float],
        places: Iterable[_Shift],
        lines: Sequence[Box],
    ) -> tuple[_Shift, Box] | None:
        """The first of some places where a label stands on nothing, and its box there."""
        width = len(text) * LETTER
        before = {"start": 0.0, "end": width, "middle": width / 2}  # text left of its anchor
        for shift in places:
            dx, dy, anchor = shift
            left = point[0] + dx - before[anchor]
            box = (left, point[1] + dy - LINE + 3, left + width, point[1] + dy + 3)
            if self._free(box, lines):
                return shift, box
        return None

    def _free(self, box: Box, lines: Sequence[Box]) -> bool:
        """Whether a box lies in the frame, on nothing that is taken and on none of the lines."""
        left, top, right, bottom = self.frame
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        return not any(_overlap(box, other) for other in itertools.chain(self.taken, lines))


def _pieces(start: tuple[float, float], end: tuple[float, float]) -> list[Box]:
    """Pieces of a pointer from outside of its mark on, each a box around it."""
    (x0, y0), (x1, y1) = start, end
    count = math.floor(math.hypot(x1 - x0, y1 - y0) / _POINTER_STEP)
    shares = [number / count for number in range(2, count + 1)]
    return [_around(x0 + share * (x1 - x0), y0 + share * (y1 - y0), 1.5) for share in shares]


def _around(x: float, y: float, radius: float = 1) -> Box:
    return (x - radius, y - radius, x + radius, y + radius)


def _overlap(box: Box, taken: Box) -> bool:
    """Whether two boxes share more than an edge."""
    beside = box[2] <= taken[0] or box[0] >= taken[2]
    above_or_below = box[3] <= taken[1] or box[1] >= taken[3]
    return not (beside or above_or_below)
