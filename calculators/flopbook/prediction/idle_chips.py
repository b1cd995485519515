"""Numbers of chips that no layout divides: how many of them run, and how many would all run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
from flopbook.prediction.layouts import RunLayout

# Numbers of chips that are looked at on either side, and layouts of which the fastest is taken:
# the largest number that works may leave a pipeline of many stages, and a smaller one need none.
TRIED, COMPARED = 64, 3
# The fastest layout of so many chips, or None where none divides and fits.
Search = Callable[[int], RunLayout | None]


def on_fewer_chips(
    search: Search, chips: int, seconds: Callable[[RunLayout], float]
) -> RunLayout | None:
    """The fastest of the layouts that leave the fewest chips idle, more than half of them busy.

    None where no number of chips has one.
    """
    fewer = range(chips - 1, max(chips // 2, chips - 1 - TRIED), -1)
    found = _found(search, fewer, COMPARED)
    return min(found, key=seconds, default=None)


def no_layout(search: Search, chips: int, sequences: int) -> FlopbookError:
    """That nothing runs on so many chips, or on some of them, and the next number that works."""
    more = _found(search, range(chips + 1, chips + 1 + TRIED), 1)
    said = f"no layout of {counted(sequences, 'sequence')} on {counted(chips, 'chip')}"
    mended = f"use {more[0].chips:,.0f} chips" if more else "use another --chips or --batch"
    return FlopbookError(f"{said} divides and fits, some of them idle or not; {mended}")


def _found(search: Search, counts: Iterable[int], most: int) -> list[RunLayout]:
    """The first layouts that some numbers of chips have."""
    layouts: list[RunLayout] = []
    for chips in counts:
        found = search(chips)
        if found:
            layouts.append(found)
        if len(layouts) == most:
            break
    return layouts
