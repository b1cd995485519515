"""One time limit for a whole request: the connection, the headers and the body together.

A timeout of a socket bounds one wait for data, so a server that sends a byte every half second
would never meet it. Here a timer cuts the connection instead, wherever the exchange has come to.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from types import TracebackType


class Deadline:
    """Cuts the connections of this thread's request when its time is over.

    >>> with Deadline(30.0) as deadline:
    ...     round(deadline.left_s)
    30
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.expired = seconds, False
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    @property
    def left_s(self) -> float:
        """Seconds that are left, a few milliseconds at least: zero means no limit to a socket."""
        return max(self._end - time.monotonic(), 0.005)

    def watch(self, connection: socket.socket) -> None:
        """Cut this connection, too. TLS takes the socket over, so a second handle is kept."""
        with self._lock:
            self._sockets.append(socket.socket(fileno=os.dup(connection.fileno())))
        if self.expired:
            self._cut()

    def _cut(self) -> None:
        self.expired = True
        with self._lock:
            for handle in self._sockets:
                with contextlib.suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Deadline:
        _OF_THREAD.deadline = self
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        _OF_THREAD.deadline = None
        with self._lock:
            for handle in self._sockets:
                handle.close()
            self._sockets.clear()


class _OfThread(threading.local):
    deadline: Deadline | None = None


_OF_THREAD = _OfThread()


def current() -> Deadline | None:
    """The time limit of the request that this thread makes."""
    return _OF_THREAD.deadline
