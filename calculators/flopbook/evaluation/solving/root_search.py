"""Looks for the places where a function of one number meets a target. Knows nothing of formulas,
needs no NumPy.

The function is sampled over the whole range, evenly in its logarithm. Between two samples that lie
on different sides of the target the range is halved until no number is left between its ends.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

PER_DECADE = 8
SMALL = 64  # whole numbers up to here are all tried
NEARBY = 64  # so far around a refused whole number another one is looked for
MOST_EDGES = 16
DENSE = 200
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
    """All points from low to high meet the target; `open_low`, `open_high` where the range itself
    ends there.
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
    """The function over its domain, in order; where it begins and ceases to answer, to the last
    digit.

    Of whole numbers only those that are not refused, since the others may lie anywhere between
    them.
    """
    found = {x: function(x) for x in _grid(domain)}
    if domain.whole and 2 * sum(y is not None for y in found.values()) < len(found):
        found |= {x: function(x) for x in _multiples(domain) if x not in found}
    points = [Sample(x, found[x]) for x in sorted(found)]
    edges = [(a, b) for a, b in _pairs(points, domain) if (a.y is None) != (b.y is None)]
    for a, b in edges[:MOST_EDGES]:
        found |= dict(_edge(function, domain, a, b))
    return [Sample(x, found[x]) for x in sorted(found) if not domain.whole or found[x] is not None]


def with_extremes(
    function: Function, domain: Domain, points: Sequence[Sample], target: float
) -> list[Sample]:
    """The samples with the peaks that stay below a target, and the troughs above it, where they lie
    between samples.
    """
    more = []
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        if None in (a.y, b.y, c.y) or a.x == 0 or math.isinf(b.y):
            continue
        sign = 1 if b.y < target else -1  # a peak below, or a trough above
        if sign * b.y > sign * max(a.y, c.y, key=lambda y: sign * y) + EXACT * abs(b.y):
            more.append(_peak(lambda x, sign=sign: _signed(function(x), sign), domain, a.x, c.x))
    new = {x: function(x) for x in more} | {point.x: point.y for point in points}
    return [Sample(x, new[x]) for x in sorted(new)]


def equal(
    function: Function, domain: Domain, points: Sequence[Sample], target: float
) -> tuple[list[Span], list[Jump]]:
    """Where a function has a value, and where it jumps over it."""
    hits = spans(function, domain, points, lambda y: is_close(y, target, EXACT))
    jumps = []
    for a, b in _pairs(points, domain):
        if None in (a.y, b.y) or (a.y < target) == (b.y < target) or _inside(hits, a, b):
            continue
        left, right = _halve(function, domain, (a, b), lambda y: y < target)
        best = min((left, right), key=lambda point: abs(point.y - target))
        finite = [abs(y) for y in (a.y, b.y) if math.isfinite(y)]
        if is_close(best.y, target, EXACT):
            near = [a, best, b]
            hits += spans(function, domain, near, lambda y: is_close(y, target, EXACT))
        elif abs(best.y - target) <= CLOSE * max(abs(target), *finite) and not domain.whole:
            hits.append(Span(best.x, best.x))
        else:
            jumps.append(Jump(left, right))
    return sorted(set(hits)), jumps


def denser(
    function: Function, domain: Domain, points: Sequence[Sample], jumps: Sequence[Jump]
) -> list[Sample]:
    """The samples with many more around each jump: a saw has its teeth side by side."""
    found = {point.x: point.y for point in points}
    for jump in jumps[:MOST_EDGES]:
        low = max((x for x in found if x < jump.before.x), default=domain.low)
        high = min((x for x in found if x > jump.after.x), default=domain.high)
        step = (high - low) / DENSE
        more = {*jump.before[:1], *jump.after[:1], *(low + step * n for n in range(1, DENSE))}
        found |= {x: function(x) for x in more}
    return [Sample(x, found[x]) for x in sorted(found)]


def spans(function: Function, domain: Domain, points: Sequence[Sample], test: Test) -> list[Span]:
    """The stretches of the domain on which a test of the value holds."""
    found: list[Span] = []
    run: list[int] = []
    for number, point in enumerate([*points, Sample(math.inf, None)]):
        if point.y is not None and test(point.y):
            run.append(number)
        elif run:
            low = _end(function, domain, points, (run[0], -1), test)
            high = _end(function, domain, points, (run[-1], 1), test)
            found.append(Span(low[0], high[0], low[1], high[1]))
            run = []
    return found


def is_close(value: Any, target: float, distance: float) -> bool:
    """Whether a value is a target but for a relative distance."""
    return math.isclose(value, target, rel_tol=distance) or value == target


def _signed(value: Any, sign: int) -> float:
    return -math.inf if value is None else sign * value


def _inside(hits: Sequence[Span], a: Sample, b: Sample) -> bool:
    return any(span.low <= b.x and span.high >= a.x for span in hits)


def _pairs(points: Sequence[Sample], domain: Domain) -> Iterator[tuple[Sample, Sample]]:
    """Neighbours; zero has none among the real numbers, for it stands for something else."""
    pairs = itertools.pairwise(points)
    return ((a, b) for a, b in pairs if a.x > 0 or domain.whole)


def _end(
    function: Function, domain: Domain, points: Sequence[Sample], place: tuple[int, int], test: Test
) -> tuple[float, bool]:
    """The last point of a run in one direction, and whether the domain ends there."""
    number, step = place
    last = points[number]
    beyond = points[number + step] if 0 <= number + step < len(points) else None
    if beyond is None or beyond.y is None or (not domain.whole and 0 in (last.x, beyond.x)):
        return last.x, True
    pair = (last, beyond) if step > 0 else (beyond, last)
    left, right = _halve(function, domain, pair, test)
    return (left.x if step > 0 else right.x), False


def _grid(domain: Domain) -> Iterator[float]:
    if domain.zero:
        yield 0.0
    yield from (x for x in domain.seeds if domain.low <= x <= domain.high)
    if domain.whole:
        yield from (
            float(n) for n in range(math.ceil(domain.low), int(min(domain.high, SMALL)) + 1)
        )
    ratio = math.log(domain.high / domain.low)
    count = max(1, math.ceil(PER_DECADE * ratio / math.log(10)))
    for n in range(count + 1):
        x = min(max(domain.low * math.exp(ratio * n / count), domain.low), domain.high)
        yield float(round(x)) if domain.whole else x


def _multiples(domain: Domain) -> Iterator[float]:
    """Multiples of the steps near the samples, and the steps themselves."""
    plain = list(_grid(domain))
    for step in domain.steps:
        yield from (
            m for x in (step, *plain) if domain.low <= (m := x // step * step) <= domain.high
        )


def _middle(low: float, high: float, whole: bool) -> float:
    """A number between two others, half-way in the logarithm while they are far apart."""
    middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else low + (high - low) / 2
    return float(math.floor(middle)) if whole else middle


def _edge(function: Function, domain: Domain, a: Sample, b: Sample) -> tuple[Sample, Sample]:
    """Neighbours of which one is refused."""
    while a.x < (x := _middle(a.x, b.x, domain.whole)) < b.x:
        middle = Sample(x, function(x))
        a, b = (middle, b) if (middle.y is None) == (a.y is None) else (a, middle)
    return a, b


def _halve(
    function: Function, domain: Domain, pair: tuple[Sample, Sample], test: Test
) -> tuple[Sample, Sample]:
    """Neighbours of which one passes a test, between two samples of which one does."""
    left, right = pair
    side = test(left.y)
    while (middle := _between(function, domain, left.x, right.x)) is not None:
        left, right = (middle, right) if test(middle.y) == side else (left, middle)
    return left, right


def _between(function: Function, domain: Domain, low: float, high: float) -> Sample | None:
    """A sample between two points, None where there is no more; beside a refused whole number
    another is taken.
    """
    middle = _middle(low, high, domain.whole)
    for x in (middle, *(_others(domain, middle) if domain.whole else ())):
        if low < x < high and (y := function(x)) is not None:
            return Sample(x, y)
    return None


def _others(domain: Domain, middle: float) -> Iterator[float]:
    for step in domain.steps:
        yield middle // step * step
        yield middle // step * step + step
    for distance in range(1, NEARBY + 1):
        yield middle - distance
        yield middle + distance


def _peak(function: Callable[[float], float], domain: Domain, low: float, high: float) -> float:
    """The highest point between two others, by golden section in the logarithm."""
    start, end = math.log(low), math.log(high)
    place = (lambda u: float(round(math.exp(u)))) if domain.whole else math.exp
    while end - start > 1e-12 * max(1.0, abs(end)):
        left, right = end - _GOLDEN * (end - start), start + _GOLDEN * (end - start)
        if function(place(left)) < function(place(right)):
            start = left
        else:
            end = right
    return min(max(place((start + end) / 2), low), high)
