"""Runs one function as several ranks: processes of this computer that talk over gloo.

The notebooks in PyTorch use it. A child is forked, so that it knows the functions of a notebook;
the parent must not have run a backward pass, because autograd's threads do not survive a fork.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

TIMEOUT_S = 120.0
LOOPBACK = "lo" if Path("/sys/class/net/lo").exists() else "lo0"


def run_ranks(count: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What `function(rank, *arguments)` returns on each of `count` ranks, in their order.

    Inside it `torch.distributed` is ready. Raises RuntimeError with the traceback of a rank that
    failed, or when a rank ends or hangs without an answer.
    """
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        ranks: list[BaseProcess] = []
        receivers: list[Connection] = []
        for number in range(count):
            receiver, sender = context.Pipe(duplex=False)
            work = (number, count, meeting, sender, function, arguments)
            rank = context.Process(target=_rank, args=work, daemon=True)
            rank.start()
            # the child holds the only other end, so that its death ends the wait
            sender.close()
            ranks.append(rank)
            receivers.append(receiver)
        answers = [_answer(receiver) for receiver in receivers]
        _ended(ranks)
    failed = [text for worked, text in answers if not worked]
    if failed:
        raise RuntimeError(failed[0])
    return [value for _, value in answers]


def _answer(receiver: Connection) -> tuple[bool, Any]:
    """Whether a rank worked, and what it returned or how it failed."""
    if not receiver.poll(TIMEOUT_S):
        return False, f"a rank did not answer within {TIMEOUT_S:g} s"
    try:
        answer: tuple[bool, Any] = receiver.recv()
    except EOFError:
        return False, "a rank ended without an answer"
    return answer


def _ended(ranks: list[BaseProcess]) -> None:
    """Wait for the ranks, a moment only: whoever answered has nothing left to do."""
    for rank in ranks:
        rank.join(min(TIMEOUT_S, 5.0))
        if rank.is_alive():
            rank.kill()
            rank.join()


def _rank(
    number: int,
    count: int,
    meeting: str,
    sender: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """One rank: join the others, compute, send the result to the parent."""
    import torch
    import torch.distributed as dist

    os.environ.setdefault("GLOO_SOCKET_IFNAME", LOOPBACK)
    torch.set_num_threads(1)
    try:
        dist.init_process_group(
            "gloo", init_method=f"file://{meeting}", rank=number, world_size=count
        )
        sender.send((True, function(number, *arguments)))
        dist.destroy_process_group()
    except Exception:
        sender.send((False, traceback.format_exc()))
