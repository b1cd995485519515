"""A command that is asked to stop takes the way of an exception: no draft is left behind."""

from __future__ import annotations

import signal

_REQUESTS = (signal.SIGINT, signal.SIGTERM)
# What a shell says of a program that a signal ended.
_BASE = 128
INTERRUPTED = _BASE + signal.SIGINT


class Stopped(KeyboardInterrupt):
    """A request to stop; `status` is the exit status that says which."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = _BASE + number


def stop_in_order() -> None:
    """Raise Stopped where a request arrives. What a shell keeps from a command stays kept."""
    for number in _REQUESTS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, _frame: object) -> None:
    """Only the first request stops; tidying up after it is not interrupted by a second."""
    for request in _REQUESTS:
        signal.signal(request, signal.SIG_IGN)
    raise Stopped(number)
