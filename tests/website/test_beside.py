"""What a build does on its second core: answers, failures and ends."""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from flopbook.errors import FlopbookError
from scripts.website.build.beside import each, forked, halved
from scripts.website.build.exchange import beside

needs_forks = pytest.mark.skipif(sys.platform != "linux", reason="forks are safe on Linux only")


def _refuse() -> None:
    raise FlopbookError("a problem of the data")


def _process(_items: object) -> int:
    return os.getpid()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("is_alone", [True, False])
def test_the_answer_of_a_copy_is_that_of_the_function(is_alone: bool) -> None:
    with forked(is_alone, functools.partial(sum, range(100))) as made:
        assert made() == 4950


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_failure_is_told_where_the_answer_is_asked(is_alone: bool) -> None:
    with forked(is_alone, _refuse) as made, pytest.raises(FlopbookError, match="of the data"):
        made()


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_each_keeps_the_order_of_its_items(count: int, is_alone: bool) -> None:
    assert each(range(count), str, is_alone=is_alone) == [*map(str, range(count))]


@needs_forks
def test_two_halves_are_made_by_two_processes() -> None:
    assert len({*halved([1, 2], _process, is_alone=False)}) == 2
    assert {*halved([1, 2], _process, is_alone=True)} == {os.getpid()}


@needs_forks
def test_a_copy_that_is_killed_is_not_waited_for() -> None:
    with forked(False, _die) as made, pytest.raises(BrokenProcessPool):
        made()


@needs_forks
def test_a_copy_ends_with_a_block_that_fails() -> None:
    begun = time.monotonic()
    with pytest.raises(KeyError), forked(False, functools.partial(time.sleep, 600)):
        raise KeyError
    assert time.monotonic() - begun < 300


def test_a_program_that_prints_much_runs_to_its_end(tmp_path: Path) -> None:
    """A pipe holds 64 KiB; what printed more would wait for a reader."""
    command = [sys.executable, "-c", "import sys; print('x' * 1_000_000); sys.exit(3)"]
    with beside(command, tmp_path, dict(os.environ)) as program:
        status, printed = program.wait()
    assert status == 3 and len(printed) == 1_000_001


def test_a_program_ends_with_a_block_that_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    begun = time.monotonic()
    with pytest.raises(KeyError), beside(command, tmp_path, dict(os.environ)):
        raise KeyError
    assert time.monotonic() - begun < 300
