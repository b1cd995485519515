"""Ranks as processes: order of results, what a failing rank says, no process left behind.

PyTorch is replaced by a module that does nothing: a forked child sees it too.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from types import ModuleType
from typing import Any

import pytest

from flopbook.sharding import ranks
from flopbook.sharding.ranks import run_ranks


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A PyTorch whose process group is formed at once."""
    module, distributed = ModuleType("torch"), ModuleType("torch.distributed")
    module.set_num_threads = lambda count: None  # type: ignore[attr-defined]
    module.distributed = distributed  # type: ignore[attr-defined]
    distributed.init_process_group = lambda *words, **options: None  # type: ignore[attr-defined]
    distributed.destroy_process_group = lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    return module


def squared(rank: int, plus: int = 0) -> tuple[int, int]:
    return rank * rank + plus, os.getpid()


def test_results_come_in_the_order_of_the_ranks_from_processes_of_their_own() -> None:
    answers = run_ranks(3, squared, 7)
    assert [value for value, _ in answers] == [7, 8, 11]
    assert len({process for _, process in answers} | {os.getpid()}) == 4


def test_a_function_of_the_caller_needs_no_module() -> None:
    assert run_ranks(2, lambda rank: rank + 1) == [1, 2]


def test_a_failing_rank_is_reported_with_its_traceback_and_none_is_left() -> None:
    def breaks(rank: int) -> int:
        if rank == 1:
            raise ValueError("not a power of two")
        return rank

    with pytest.raises(RuntimeError, match=r"in breaks[\s\S]*ValueError: not a power of two"):
        run_ranks(3, breaks)
    assert not multiprocessing.active_children()


def test_a_rank_that_ends_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaves(rank: int) -> Any:
        os._exit(3)

    monkeypatch.setattr(ranks, "TIMEOUT_S", 5.0)
    with pytest.raises(RuntimeError, match="a rank ended without an answer"):
        run_ranks(2, leaves)


def test_a_rank_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(rank: int) -> Any:
        while True:
            os.read(os.pipe()[0], 1)

    monkeypatch.setattr(ranks, "TIMEOUT_S", 0.5)
    with pytest.raises(RuntimeError, match=r"a rank did not answer within 0\.5 s"):
        run_ranks(1, hangs)
    assert not multiprocessing.active_children()
