"""Who is asked when: several hosts at once, and no host too often."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


class Clock:
    """Time as the checker sees it; tests pass one that does not wait."""

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds on a clock that nobody sets."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass(frozen=True)
class Limits:
    """At once: `jobs` requests in all, `per_host` to one host; `delay_s` between two of those."""

    jobs: int = 16
    per_host: int = 2
    delay_s: float = 0.5


class HostLimiter:
    """Lets requests through as each host's limits allow, and heeds a host that asks for a pause."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._seats: dict[str, threading.BoundedSemaphore] = {}
        self._next_start: dict[str, float] = {}
        self._paused_until: dict[str, float] = {}

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for the turn of one request to the host."""
        with self._lock:
            seat = self._seats.setdefault(host, threading.BoundedSemaphore(self._limits.per_host))
        with seat:
            self._wait(host)
            yield

    def _wait(self, host: str) -> None:
        with self._lock:
            mine = max(self._clock.monotonic(), self._next_start.get(host, 0.0))
            self._next_start[host] = mine + self._limits.delay_s
        while True:  # a pause may be asked for while we wait
            with self._lock:
                wait = max(mine, self._paused_until.get(host, 0.0)) - self._clock.monotonic()
            if wait <= 0:
                return
            self._clock.sleep(wait)

    def pause(self, host: str, seconds: float) -> None:
        """Send nothing to the host for that long, whichever link is next."""
        with self._lock:
            until = self._clock.monotonic() + seconds
            self._paused_until[host] = max(until, self._paused_until.get(host, 0.0))


def host_of(url: str) -> str:
    """The host of a URL for grouping; an invalid URL is its own group."""
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def run_in_lanes(urls: Iterable[str], work: Callable[[str], None], limits: Limits) -> None:
    """Call `work` on each URL, with at most `per_host` threads on links of one host.

    A lane is one thread's walk along the queue of one host. Without lanes, a pool would fill up
    with the links of one slow host, all waiting for their turn, while every other host idles. Hosts
    with the most links start first.
    """
    queues: dict[str, deque[str]] = {}
    for url in urls:
        queues.setdefault(host_of(url), deque()).append(url)
    longest_first = sorted(queues.values(), key=len, reverse=True)
    lanes = [
        queue for depth in range(limits.per_host) for queue in longest_first if len(queue) > depth
    ]
    stop = threading.Event()

    def walk(queue: deque[str]) -> None:
        while not stop.is_set():
            try:
                url = queue.popleft()
            except IndexError:
                return
            work(url)

    with ThreadPoolExecutor(max_workers=limits.jobs) as pool:
        try:
            for lane in as_completed([pool.submit(walk, queue) for queue in lanes]):
                lane.result()
        except BaseException:  # an interrupt too: finish the requests under way, start no others
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
