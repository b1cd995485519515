"""Work that a build does on its second core: a function in a copy of this process."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar, cast

from scripts.website.build.exchange import end_with_parent

# Tells the programs of a build that it is to take one core.
ALONE = "FLOPBOOK_ALONE"
Item = TypeVar("Item")
Made = TypeVar("Made")


@contextlib.contextmanager
def forked(is_alone: bool, function: Callable[[], Made]) -> Iterator[Callable[[], Made]]:
    """Run a function while the block runs; what the block gets waits for its answer.

    The copy has read all data that this process has read. It ends with the block at the latest.
    Where only one thing is to run at a time, or where a copy of a process is not safe (macOS), the
    function runs when it is asked.
    """
    if is_alone or sys.platform != "linux":
        yield function
        return
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork, initializer=_begin) as pool:
        process = pool.submit(os.getpid).result()
        try:
            yield pool.submit(function).result
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def halved(
    items: Sequence[Item], function: Callable[[Sequence[Item]], Made], *, is_alone: bool
) -> list[Made]:
    """What a function makes of every other item, and what it makes of those between.

    The second half is made in a copy of this process, under the conditions of `forked`.
    """
    with forked(is_alone, functools.partial(function, items[1::2])) as made:
        return [function(items[0::2]), made()]


def each(items: Sequence[Item], function: Callable[[Item], Made], *, is_alone: bool) -> list[Made]:
    """What a function makes of each item, in their order, under the conditions of `halved`."""
    made: list[Made | None] = [None] * len(items)
    made[0::2], made[1::2] = halved(items, functools.partial(_apply, function), is_alone=is_alone)
    return cast("list[Made]", made)


def _apply(function: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    return [function(item) for item in items]


def _begin() -> None:
    """An interruption from the keyboard goes to both, and one of them answers it."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
