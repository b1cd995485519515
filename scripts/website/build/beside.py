"""Work that a build does on its second core: a function in a copy of this process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from scripts.website.build.exchange import end_with_parent

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


def _begin() -> None:
    """An interruption from the keyboard goes to both, and one of them answers it."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
