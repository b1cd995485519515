"""Commands that are asked to stop: one line, the status of the signal, nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flopbook.cli import stopping
from flopbook.cli.stopping import INTERRUPTED, Stopped, stop_in_order
from flopbook.data import files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the system has other signals")
# Stops itself where a draft lies beside the file and has not taken its place yet.
_IN_THE_MIDDLE = """
import os, signal, sys
from flopbook.data import files
number = int(sys.argv.pop())
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
def stopped(draft, path, *, replace):
    os.kill(os.getpid(), number)
files._move = stopped
from flopbook.cli import main
main()
"""


@pytest.fixture
def handlers() -> Iterator[None]:
    """The process that tests run in gets its own back."""
    before = {number: signal.getsignal(number) for number in stopping._REQUESTS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_leaves_no_draft(
    number: int, status: int, tmp_path: Path
) -> None:
    """SIGTERM left the draft of a file behind, and said nothing."""
    command = [sys.executable, "-c", _IN_THE_MIDDLE, "export", str(tmp_path), str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "flopbook: stopped\n")
    assert not list(tmp_path.iterdir())


def test_a_command_that_is_interrupted_in_a_program_says_so(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without handlers of ours, as in a notebook, Python's own request has the same status."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "_move", interrupted)
    outcome = cli("export", str(tmp_path))
    assert (outcome.status, outcome.err) == (INTERRUPTED, "flopbook: stopped\n")


def test_a_second_request_does_not_interrupt_tidying_up(handlers: None) -> None:
    stop_in_order()
    with pytest.raises(Stopped) as request:
        os.kill(os.getpid(), signal.SIGTERM)
    assert request.value.status == 143
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)


def test_what_a_shell_keeps_from_a_command_stays_kept(handlers: None) -> None:
    """A shell starts what runs in the background with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop_in_order()
    os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
