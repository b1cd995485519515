"""Limits per host, and several hosts at once."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from scripts.linkcheck.schedule import HostLimiter, Limits, host_of, run_in_lanes
from tests.support.linkserver import FakeClock


def test_requests_to_one_host_are_spaced(clock: FakeClock) -> None:
    limiter = HostLimiter(Limits(delay_s=3.0), clock)
    for _ in range(3):
        with limiter.turn("one.test"):
            pass
    with limiter.turn("two.test"):
        pass
    assert clock.slept == [3.0, 3.0]


def test_a_pause_is_for_one_host(clock: FakeClock) -> None:
    limiter = HostLimiter(Limits(delay_s=0.0), clock)
    limiter.pause("one.test", 30.0)
    limiter.pause("one.test", 10.0)  # the longer one holds
    with limiter.turn("two.test"):
        pass
    assert clock.slept == []
    with limiter.turn("one.test"):
        pass
    assert clock.slept == [30.0]


def test_every_link_is_checked_once_and_no_host_by_more_threads_than_allowed() -> None:
    urls = [f"https://{host}.test/{page}" for host in "abc" for page in range(20)]
    lock, running, most, visited = threading.Lock(), Counter[str](), Counter[str](), Counter[str]()

    def work(url: str) -> None:
        host = host_of(url)
        with lock:
            visited[url] += 1
            running[host] += 1
            most[host] = max(most[host], running[host])
        with lock:
            running[host] -= 1

    run_in_lanes(urls, work, Limits(jobs=8, per_host=2))
    assert visited == Counter(urls)
    assert max(most.values()) <= 2


def test_several_hosts_at_once() -> None:
    """Four links of four hosts meet at a barrier that none passes alone."""
    barrier = threading.Barrier(4, timeout=20)
    run_in_lanes(
        [f"https://{name}.test/" for name in "abcd"],
        lambda url: bool(barrier.wait()),
        Limits(jobs=4, per_host=1),
    )


def test_one_slow_host_does_not_take_all_threads() -> None:
    other_done = threading.Event()

    def work(url: str) -> None:
        if host_of(url) == "slow.test":
            assert other_done.wait(20)
        else:
            other_done.set()

    urls = [f"https://slow.test/{page}" for page in range(50)] + ["https://quick.test/"]
    run_in_lanes(urls, work, Limits(jobs=3, per_host=2))


def test_a_fault_in_the_work_is_not_swallowed() -> None:
    def work(url: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_lanes(["https://a.test/"], work, Limits())
