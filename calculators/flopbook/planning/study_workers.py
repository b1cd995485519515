"""Who computes the cases of a study: this process, or the workers of a Dask cluster.

Both give the same answers, for each case is planned by the same function in one piece. Whoever
computes, an answer comes as soon as it is there, in any order.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import logging
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from flopbook.errors import FlopbookError, printable, shorten
from flopbook.planning.study import Answer, Options, answer, answer_of, made_with

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[\w.:\[\]-]+:\d{1,5}/?", re.ASCII)
_EXPECTED = "expected a Dask scheduler, such as 10.0.0.1:8786"
_OTHER_CODE = "a worker has other code or data of flopbook; install the same"
Answered = tuple[Options, Answer]
AHEAD = 4  # cases that wait at each worker, so that none is idle
CONNECT_SECONDS = 10
WORKERS_SECONDS = 120  # that a cluster without a worker is waited for
_LOOKS = 20  # for workers in that time
_PAUSE_SECONDS = 0.02  # until it is looked again for what has arrived
_FETCH_SECONDS = 2.0  # that an answer is waited for before it is looked whether its worker is gone
# A case whose worker died is tried elsewhere; one that kills so many workers ends the study.
RETRIES = 3


def in_this_process(cases: Sequence[Options], top: int) -> Iterator[Answered]:
    """One case after the other."""
    for options in cases:
        yield options, answer(options, top)


def on_a_cluster(cases: Sequence[Options], top: int, address: str) -> Iterator[Answered]:
    """By the workers of a Dask scheduler, which takes cases of dead workers to others.

    Raises FlopbookError where no scheduler answers, where it goes away, where it has had no worker
    for WORKERS_SECONDS, or where a worker has other code or data.
    """
    if not _ADDRESS.fullmatch(address):
        raise FlopbookError(f"--scheduler {_said(address)}: it is no address; {_EXPECTED}")
    dask = _distributed()
    client = _client(dask, address)
    try:
        _check_workers(client, address)
        yield from _gathered(dask, client, cases, top, address)
    except dask.CancelledError:
        raise FlopbookError(f"the scheduler at {_said(address)} is gone; run again") from None
    except dask.KilledWorker as error:
        raise FlopbookError(f"workers died: {shorten(error, 200)}; run again to go on") from None
    finally:
        client.close(timeout=CONNECT_SECONDS)


def _gathered(
    dask: Any, client: Any, cases: Sequence[Options], top: int, address: str
) -> Iterator[Answered]:
    waiting = iter(cases)
    threads = sum(client.nthreads().values())
    asked: dict[str, Options] = {}

    def send(count: int) -> list[Any]:
        futures = []
        for options in itertools.islice(waiting, count):
            future = client.submit(answer, dict(options), top, pure=False, retries=RETRIES)
            asked[future.key] = options
            futures.append(future)
        return futures

    watch = _Watch(client, address)
    arriving = dask.as_completed(send(max(AHEAD * threads, AHEAD)), loop=client.loop)
    for future in _finished(arriving, watch):
        finished = _result(dask, future, watch)
        if finished.made_with != made_with():
            raise FlopbookError(_OTHER_CODE)
        for added in send(1):
            arriving.add(added)
        yield asked.pop(future.key), finished


class _Watch:
    """Looks whether a cluster that says nothing has a worker left.

    Dask itself waits without end: a cluster that lost its workers may get new ones.
    """

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._alive = self._asked = time.monotonic()

    def hear(self) -> None:
        """Something arrived, so somebody computes."""
        self._alive = time.monotonic()

    def look(self) -> None:
        """Raise FlopbookError if there has been no worker for WORKERS_SECONDS."""
        if time.monotonic() - max(self._alive, self._asked) < WORKERS_SECONDS / _LOOKS:
            return
        has_workers = _has_workers(self._client)
        self._asked = time.monotonic()
        if has_workers:
            self._alive = self._asked
        elif self._asked - self._alive > WORKERS_SECONDS:
            raise _no_worker(self._address)


def _finished(arriving: Any, watch: _Watch) -> Iterator[Any]:
    """The futures as they are done. Raises FlopbookError once nobody is left to do the others."""
    while arriving.count():
        batch = arriving.next_batch(block=False)
        yield from batch
        if batch:
            watch.hear()
            continue
        watch.look()
        time.sleep(_PAUSE_SECONDS)


def _has_workers(client: Any) -> bool:
    """Whether anybody computes, as far as the scheduler says in time."""
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=CONNECT_SECONDS))
    except (TimeoutError, OSError):
        return False


def _result(dask: Any, future: Any, watch: _Watch) -> Answer:
    """What a worker answered.

    An answer stays with its worker until it is fetched. Where the worker is gone, another computes
    it again. Raises FlopbookError where none is left, or where a worker failed or sent no answer
    of ours.
    """
    while True:
        try:
            return answer_of(future.result(timeout=_FETCH_SECONDS)._asdict())
        except (dask.CancelledError, dask.KilledWorker):
            raise
        except Exception as error:  # a worker runs what it has: any of it may fail, in any way
            if not isinstance(error, TimeoutError) or future.status == "error":
                raise _failed(error) from None
        watch.look()


def _check_workers(client: Any, address: str) -> None:
    """Ask all workers for their code: a case kills one that has no flopbook at all.

    A cluster may still be starting, but one without workers would be waited for without end.
    """
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except (TimeoutError, OSError):
        raise _no_worker(address) from None
    try:
        digests = client.run(made_with)
    except Exception as error:  # as above
        raise _failed(error) from None
    if set(digests.values()) != {made_with()}:
        raise FlopbookError(_OTHER_CODE)


def _no_worker(address: str) -> FlopbookError:
    return FlopbookError(
        f"the scheduler at {_said(address)} had no worker for {WORKERS_SECONDS:g} s; "
        "start some and run again: finished cases are kept"
    )


def _failed(error: Exception) -> FlopbookError:
    reason = printable(shorten(f"{type(error).__name__}: {error}", 200))
    return FlopbookError(f"a worker failed ({reason}); install the same flopbook on each")


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        remedy = "--scheduler needs Dask: pip install 'flopbook[dask]'"
        raise FlopbookError(remedy) from None


def _client(dask: Any, address: str) -> Any:
    """A connection to a scheduler. Raises FlopbookError where none answers."""
    # What Dask logs while it tries again is said once, in the message.
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        asyncio.run(asyncio.wait_for(_check_scheduler(dask, address), CONNECT_SECONDS))
        return dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception:  # what listens there may speak anything, and Dask fails on it in any way
        raise FlopbookError(f"--scheduler {_said(address)}: none answers; {_EXPECTED}") from None
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


async def _check_scheduler(dask: Any, address: str) -> None:
    """Ask who listens there: a client of Dask itself waits without end for one that says nothing.

    Raises whatever Dask makes of it, ValueError for a worker.
    """
    async with dask.rpc(address, timeout=CONNECT_SECONDS) as peer:
        identity = await peer.identity()
    if not str(identity.get("type")).endswith("Scheduler"):
        raise ValueError("no scheduler")


def _said(address: str) -> str:
    return printable(shorten(address))
