"""Clusters: the same answers though workers die, and one line where they send rubbish."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from flopbook.errors import FlopbookError
from flopbook.planning import study_workers
from flopbook.planning.study import Answer, Study, made_with, name_of
from flopbook.planning.study_workers import on_a_cluster
from tests.support.studies import CASES


def named(answered: Iterator[study_workers.Answered]) -> dict[str, Answer]:
    return {name_of(case, 2): found for case, found in answered}


@contextlib.contextmanager
def one_worker(distributed: Any) -> Iterator[Any]:
    """A cluster of one worker in threads of this process, which is ended whatever it waits for."""
    cluster = distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    )
    try:
        yield cluster
    finally:
        cluster.close(timeout=30)


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that takes a moment."""
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


def test_workers_of_a_cluster_give_the_same_answers_though_one_is_killed(
    study: Study, alone: dict[str, Answer]
) -> None:
    """Half way a worker gets SIGKILL: its cases go to the other, and none is missing."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        found: dict[str, Answer] = {}
        for case, one in on_a_cluster(study.cases, 2, cluster.scheduler_address):
            found[name_of(case, 2)] = one
            if len(found) == CASES // 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
        assert len(found) == CASES and found == alone
        again = named(on_a_cluster(study.cases[:3], 2, cluster.scheduler_address))
        assert again == {name: alone[name] for name in again}


def test_a_cluster_that_loses_all_workers_is_not_waited_for_without_end(
    study: Study, alone: dict[str, Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was finished has come before: the study keeps it, and says what to do."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "WORKERS_SECONDS", 0.5)
    monkeypatch.setattr(study_workers, "AHEAD", 1)
    with one_worker(distributed) as cluster:
        answered = on_a_cluster(study.cases, 2, cluster.scheduler_address)
        first, found = next(answered)
        assert found == alone[name_of(first, 2)]
        cluster.scale(0)
        with pytest.raises(FlopbookError, match=r"no worker for 0.5 s.*finished cases are kept"):
            list(answered)


def test_an_answer_that_goes_with_the_last_worker_is_not_waited_for_without_end(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next case is done, and its answer not fetched yet, when the worker leaves."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "WORKERS_SECONDS", 0.5)
    monkeypatch.setattr(study_workers, "_FETCH_SECONDS", 0.5)
    monkeypatch.setattr(study_workers, "AHEAD", 1)
    with one_worker(distributed) as cluster:
        answered = on_a_cluster(study.cases, 2, cluster.scheduler_address)
        next(answered)
        tasks = cluster.scheduler.tasks
        wait_until(lambda: all(task.state == "memory" for task in list(tasks.values())))
        cluster.scale(0)
        wait_until(lambda: not cluster.scheduler.workers)
        with pytest.raises(FlopbookError, match=r"no worker for 0.5 s.*finished cases are kept"):
            list(answered)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:9", "none answers"),
        ("tcp://127.0.0.1:9", "none answers"),
        ("nowhere", "it is no address"),
        ("smoke://127.0.0.1:9", "it is no address"),
    ],
)
def test_an_address_that_does_not_answer_is_one_line(
    address: str, said: str, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "CONNECT_SECONDS", 0.5)
    with pytest.raises(FlopbookError, match=f"--scheduler {address}: {said}") as error:
        list(on_a_cluster(study.cases, 1, address))
    assert "\n" not in str(error.value)


def test_without_dask_the_message_says_what_to_install(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(FlopbookError, match=r"needs Dask: pip install 'flopbook\[dask\]'"):
        list(on_a_cluster(study.cases, 1, "127.0.0.1:9"))


class FakeArriving:
    """Futures that are done when they are sent."""

    def __init__(self, futures: list[Any], loop: Any) -> None:
        self.futures = futures

    def add(self, future: Any) -> None:
        """One more."""
        self.futures.append(future)

    def count(self) -> int:
        """How many have not been taken."""
        return len(self.futures)

    def next_batch(self, block: bool) -> list[Any]:
        """All of them."""
        assert not block
        self.futures, batch = [], self.futures
        return batch


class FakeFuture:
    """A case that a worker of another version answered."""

    key = "case"

    def result(self, timeout: float) -> Answer:
        """An answer of other parameters."""
        return Answer((), 0, "does not fit", "0.0 other")


class FakeClient:
    """A cluster of one worker."""

    loop = None
    digests: ClassVar[tuple[str, ...]] = (made_with(),)

    def wait_for_workers(self, *_: Any, **__: Any) -> None:
        """All are there."""

    def run(self, *_: Any) -> dict[str, str]:
        """The code of each worker."""
        return {str(number): digest for number, digest in enumerate(self.digests)}

    def nthreads(self) -> dict[str, int]:
        """Threads by worker."""
        return {"one": 1}

    def submit(self, *_: Any, **__: Any) -> FakeFuture:
        """A case is taken."""
        return FakeFuture()

    def close(self, **_: Any) -> None:
        """The end."""


def test_a_worker_with_another_version_is_refused(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "_client", lambda *_: FakeClient())
    monkeypatch.setattr(dask, "as_completed", FakeArriving)
    with pytest.raises(FlopbookError, match="a worker has other code or data of flopbook"):
        list(on_a_cluster(study.cases, 1, "127.0.0.1:9"))


class FailedFuture:
    """A case that a worker answered with something else, or failed at."""

    key = "case"
    status = "error"

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def result(self, timeout: float) -> Any:
        """What it sent, or what stopped it."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class FakeDask:
    """What of Dask a study needs when a case fails."""

    class CancelledError(Exception):
        """The scheduler is gone."""

    class KilledWorker(Exception):  # its name in Dask
        """A case that ends workers."""

    Client = rpc = None

    as_completed = FakeArriving


@pytest.mark.parametrize(
    "outcome",
    [
        {"layouts": []},
        "\x1b[2J",
        None,
        Answer((), 0, "", made_with()),
        Answer(({"tp": 1},), 1, "", made_with()),
        ImportError("No module named 'flopbook'"),
        RuntimeError("one\ntwo\x1b[2J"),
        TimeoutError("a case that gave up"),
    ],
)
def test_what_a_worker_sends_is_checked(
    outcome: Any, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rubbish was written into the journal, and stopped each later run with a traceback."""
    client = FakeClient()
    monkeypatch.setattr(study_workers, "_distributed", FakeDask)
    monkeypatch.setattr(study_workers, "_client", lambda *_: client)
    monkeypatch.setattr(client, "submit", lambda *_, **__: FailedFuture(outcome))
    with pytest.raises(FlopbookError, match="a worker failed") as error:
        list(on_a_cluster(study.cases[:1], 1, "127.0.0.1:9"))
    assert str(error.value).isprintable()


def test_workers_are_asked_for_their_code_first(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case kills a worker that has no flopbook, and nobody else would ever answer it."""
    client = FakeClient()
    monkeypatch.setattr(study_workers, "_distributed", FakeDask)
    monkeypatch.setattr(study_workers, "_client", lambda *_: client)
    monkeypatch.setattr(client, "digests", (made_with(), "other"))
    with pytest.raises(FlopbookError, match="a worker has other code or data"):
        list(on_a_cluster(study.cases[:1], 1, "127.0.0.1:9"))

    def fail(*_: Any, **__: Any) -> None:
        raise TimeoutError

    monkeypatch.setattr(client, "wait_for_workers", fail)
    with pytest.raises(FlopbookError, match="had no worker for 120 s; start some"):
        list(on_a_cluster(study.cases[:1], 1, "127.0.0.1:9"))
    monkeypatch.undo()
    monkeypatch.setattr(study_workers, "_distributed", FakeDask)
    monkeypatch.setattr(study_workers, "_client", lambda *_: client)
    monkeypatch.setattr(client, "run", fail)
    with pytest.raises(FlopbookError, match="; install the same flopbook"):
        list(on_a_cluster(study.cases[:1], 1, "127.0.0.1:9"))


def test_a_scheduler_that_falls_silent_is_not_waited_for_without_end(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Never(FakeArriving):
        def next_batch(self, block: bool) -> list[Any]:
            """Nothing is done."""
            return []

    def fail(*_: Any, callback_timeout: float) -> None:
        raise TimeoutError

    client = FakeClient()
    monkeypatch.setattr(study_workers, "WORKERS_SECONDS", 0.1)
    monkeypatch.setattr(study_workers, "_distributed", FakeDask)
    monkeypatch.setattr(study_workers, "_client", lambda *_: client)
    monkeypatch.setattr(FakeDask, "as_completed", Never)
    monkeypatch.setattr(client, "sync", fail, raising=False)
    monkeypatch.setattr(client, "scheduler", SimpleNamespace(ncores=None), raising=False)
    with pytest.raises(FlopbookError, match=r"no worker for 0.1 s"):
        list(on_a_cluster(study.cases[:1], 1, "127.0.0.1:9"))


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 1000, b"\1" * 40]
)
def test_a_port_that_speaks_something_else_is_one_line(
    head: bytes, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says nothing was waited for without end; others ended in a traceback of Dask."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "CONNECT_SECONDS", 1.0)
    taken: list[socket.socket] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                taken.append(listener.accept()[0])
                taken[-1].sendall(head)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(FlopbookError, match="none answers"):
            list(on_a_cluster(study.cases[:1], 1, address))
    for connection in taken:
        connection.close()
