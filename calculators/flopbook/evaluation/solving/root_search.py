"""Looks for the places where a function of one number meets a target. Knows nothing of formulas.

The function is sampled over its domain, evenly in the logarithm. Between two samples that lie on
different sides of the target the domain is halved until no number is left between its ends. Needs
no NumPy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

PER_DECADE = 8  # samples: dense enough that a formula seldom turns twice between two of them
SMALL = 64  # whole numbers up to here are all tried
NEARBY = 64  # so far around a refused whole number another one is looked for
MOST_EDGES = 16  # changes between refused and allowed that are looked at; a saw has too many
DENSE = 200  # samples around a jump, in the second look
TEETH = 8  # whole numbers on either side of a jump, in the second look
EXACT, CLOSE = 1e-12, 1e-9  # relative distances: equal but for rounding, and met by halving
_GOLDEN = (math.sqrt(5) - 1) / 2

Function = Callable[[float], Any]  # gives None where its argument is refused
Test = Callable[[Any], bool]


class Domain(NamedTuple):
    """Where to look.

    `seeds` are tried beside the samples; whole numbers may have to fit multiples of `steps`.
    """

    low: float
    high: float
    whole: bool = False
    zero: bool = False  # zero is allowed too, below the least
    seeds: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()


class Sample(NamedTuple):
    """A point and the value there, None where the point is refused."""

    x: float
    y: Any


class Span(NamedTuple):
    """All points from low to high meet the target.

    `open_low`, `open_high` where the domain itself ends there.
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False


class Jump(NamedTuple):
    """Two neighbouring points between which the function passes over the target."""

    before: Sample
    after: Sample


def samples(function: Function, domain: Domain) -> list[Sample]:
    """The function over its domain, in order; where it begins and ceases to answer, to the digit.

    Of whole numbers only those that are not refused, since the others may lie anywhere between
    them.
    """
    values = {x: function(x) for x in _grid(domain)}
    allowed = sum(y is not None for y in values.values())
    if domain.whole and 2 * allowed < len(values):
        # Most are refused, so a rule asks for multiples: look for those.
        values |= {x: function(x) for x in _multiples(domain) if x not in values}
    points = _in_order(values)
    edges = [(a, b) for a, b in _pairs(points, domain) if (a.y is None) != (b.y is None)]
    for a, b in edges[:MOST_EDGES]:
        values |= dict(_edge(function, domain, a, b))
    points = _in_order(values)
    if not domain.whole:
        return points
    return [point for point in points if point.y is not None]


def with_extremes(
    function: Function, domain: Domain, points: Sequence[Sample], target: float
) -> list[Sample]:
    """The samples with those peaks below a target, and troughs above it, that lie between them."""
    extremes = []
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        if None in (a.y, b.y, c.y) or a.x == 0 or math.isinf(b.y):
            continue
        sign = 1 if b.y < target else -1  # a peak below, or a trough above
        highest_side = max(sign * a.y, sign * c.y)
        if sign * b.y > highest_side + EXACT * abs(b.y):
            extremes.append(_peak(_signed(function, sign), domain, a.x, c.x))
    # The samples come second: what is known already is kept.
    values = {x: function(x) for x in extremes} | dict(points)
    return _in_order(values)


def equal(
    function: Function, domain: Domain, points: Sequence[Sample], target: float
) -> tuple[list[Span], list[Jump]]:
    """Where a function has a value, and where it jumps over it."""

    def is_target(y: float) -> bool:
        return is_close(y, target, EXACT)

    hits = spans(function, domain, points, is_target)
    jumps = []
    for a, b in _pairs(points, domain):
        if None in (a.y, b.y) or (a.y < target) == (b.y < target) or _is_inside(hits, a, b):
            continue
        before, after = _halve(function, domain, (a, b), lambda y: y < target)
        best = min((before, after), key=lambda point: abs(point.y - target))
        # Halving ends at neighbouring numbers; their values differ by more where it is steep. The
        # samples say how large zero is: beside another target they may stand beyond a jump.
        scale = abs(target) or max(abs(y) for y in (a.y, b.y) if math.isfinite(y))
        if is_target(best.y):
            hits += spans(function, domain, [a, best, b], is_target)
        elif abs(best.y - target) <= CLOSE * scale and not domain.whole:
            hits.append(Span(best.x, best.x))
        else:
            jumps.append(Jump(before, after))
    return sorted(set(hits)), jumps


def denser(
    function: Function, domain: Domain, points: Sequence[Sample], jumps: Sequence[Jump]
) -> list[Sample]:
    """The samples with many more around each jump: a saw has its teeth side by side."""
    values = dict(points)
    for jump in jumps[:MOST_EDGES]:
        if domain.whole:
            values |= _teeth(function, domain, jump)
            continue
        low = max((x for x in values if x < jump.before.x), default=domain.low)
        high = min((x for x in values if x > jump.after.x), default=domain.high)
        step = (high - low) / DENSE
        between = {jump.before.x, jump.after.x, *(low + step * n for n in range(1, DENSE))}
        values |= {x: function(x) for x in between}
    return _in_order(values)


def _teeth(function: Function, domain: Domain, jump: Jump) -> dict[float, Any]:
    """The function at the whole numbers beside a jump that are not refused."""
    low = max(jump.before.x - TEETH, domain.low)
    high = min(jump.after.x + TEETH, domain.high)
    values = {x: function(x) for x in (low + n for n in range(int(high - low) + 1))}
    return {x: y for x, y in values.items() if y is not None}


def spans(function: Function, domain: Domain, points: Sequence[Sample], test: Test) -> list[Span]:
    """The stretches of the domain on which a test of the value holds."""
    stretches: list[Span] = []
    run: list[int] = []
    # One refused point more, so that a run which reaches the last sample ends too.
    for number, point in enumerate([*points, Sample(math.inf, None)]):
        if point.y is not None and test(point.y):
            run.append(number)
        elif run:
            low, open_low = _run_end(function, domain, points, (run[0], -1), test)
            high, open_high = _run_end(function, domain, points, (run[-1], 1), test)
            stretches.append(Span(low, high, open_low, open_high))
            run = []
    return stretches


def is_close(value: Any, target: float, distance: float) -> bool:
    """Whether a value is a target but for a relative distance."""
    return math.isclose(value, target, rel_tol=distance) or value == target


def _in_order(values: dict[float, Any]) -> list[Sample]:
    return [Sample(x, values[x]) for x in sorted(values)]


def _signed(function: Function, sign: int) -> Callable[[float], float]:
    """The function, or its negative, without refused points: a peak is never there."""

    def signed(x: float) -> float:
        y = function(x)
        return -math.inf if y is None else float(sign * y)

    return signed


def _is_inside(hits: Sequence[Span], a: Sample, b: Sample) -> bool:
    return any(span.low <= b.x and span.high >= a.x for span in hits)


def _pairs(points: Sequence[Sample], domain: Domain) -> Iterator[tuple[Sample, Sample]]:
    """Neighbours; zero has none among the real numbers, for it stands for "there are none"."""
    pairs = itertools.pairwise(points)
    return ((a, b) for a, b in pairs if a.x > 0 or domain.whole)


def _run_end(
    function: Function, domain: Domain, points: Sequence[Sample], place: tuple[int, int], test: Test
) -> tuple[float, bool]:
    """The last point of a run in one direction, and whether the domain ends there."""
    number, step = place
    last = points[number]
    if not 0 <= number + step < len(points):
        return last.x, True
    beyond = points[number + step]
    if beyond.y is None or (not domain.whole and 0 in (last.x, beyond.x)):
        return last.x, True
    if step > 0:
        return _halve(function, domain, (last, beyond), test)[0].x, False
    return _halve(function, domain, (beyond, last), test)[1].x, False


def _grid(domain: Domain) -> Iterator[float]:
    """The points that are always tried: zero, the seeds, small whole numbers, then evenly."""
    if domain.zero:
        yield 0.0
    yield from (x for x in domain.seeds if domain.low <= x <= domain.high)
    if domain.whole:
        most = int(min(domain.high, SMALL))
        yield from (float(n) for n in range(math.ceil(domain.low), most + 1))
    ratio = math.log(domain.high / domain.low)
    count = max(1, math.ceil(PER_DECADE * ratio / math.log(10)))
    for n in range(count + 1):
        # Rounding may carry the first and the last sample out of the domain.
        x = min(max(domain.low * math.exp(ratio * n / count), domain.low), domain.high)
        yield float(round(x)) if domain.whole else x


def _multiples(domain: Domain) -> Iterator[float]:
    """Multiples of the steps near the samples, and the steps themselves."""
    grid = list(_grid(domain))
    for step in domain.steps:
        for x in (step, *grid):
            multiple = x // step * step
            if domain.low <= multiple <= domain.high:
                yield multiple


def _middle(low: float, high: float, whole: bool) -> float:
    """A number between two others, half-way in the logarithm while they are far apart."""
    # Two roots instead of one of the product, which could overflow.
    middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else low + (high - low) / 2
    return float(math.floor(middle)) if whole else middle


def _edge(function: Function, domain: Domain, a: Sample, b: Sample) -> tuple[Sample, Sample]:
    """Neighbours of which one is refused."""
    while a.x < (x := _middle(a.x, b.x, domain.whole)) < b.x:
        middle = Sample(x, function(x))
        if (middle.y is None) == (a.y is None):
            a = middle
        else:
            b = middle
    return a, b


def _halve(
    function: Function, domain: Domain, pair: tuple[Sample, Sample], test: Test
) -> tuple[Sample, Sample]:
    """Neighbours of which one passes a test, between two samples of which one does."""
    low, high = pair
    low_passes = test(low.y)
    while (middle := _between(function, domain, low.x, high.x)) is not None:
        if test(middle.y) == low_passes:
            low = middle
        else:
            high = middle
    return low, high


def _between(function: Function, domain: Domain, low: float, high: float) -> Sample | None:
    """A sample between two points, None where there is no more.

    Beside a refused whole number another one is taken.
    """
    middle = _middle(low, high, domain.whole)
    candidates = [middle, *_neighbours(domain, middle)] if domain.whole else [middle]
    for x in candidates:
        if not low < x < high:
            continue
        y = function(x)
        if y is not None:
            return Sample(x, y)
    return None


def _neighbours(domain: Domain, middle: float) -> Iterator[float]:
    """Whole numbers near a refused one: multiples of the steps first, for a rule asks for them."""
    for step in domain.steps:
        yield middle // step * step
        yield middle // step * step + step
    for distance in range(1, NEARBY + 1):
        yield middle - distance
        yield middle + distance


def _peak(function: Callable[[float], float], domain: Domain, low: float, high: float) -> float:
    """The highest point between two others, by golden section in the logarithm."""

    def place(u: float) -> float:
        return float(round(math.exp(u))) if domain.whole else math.exp(u)

    start, stop = math.log(low), math.log(high)
    while stop - start > EXACT * max(1.0, abs(stop)):
        lower, upper = stop - _GOLDEN * (stop - start), start + _GOLDEN * (stop - start)
        if function(place(lower)) < function(place(upper)):
            start = lower
        else:
            stop = upper
    return min(max(place((start + stop) / 2), low), high)
