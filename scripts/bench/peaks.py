"""The memory of a command and of all that it starts, as the system counts it while they run.

What a browser takes is the browser's own: it is left out.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_EVERY_S = 0.1
_PROCESSES = Path("/proc")
_BROWSERS = ("chrom", "headless_shell", "headless-shell")


class Peak(NamedTuple):
    """Exit status; megabytes of the largest process, and of all at once; the complaints.

    `other` has the words of the largest process where it is not the command itself.
    """

    status: int
    largest: float
    together: float
    error: str
    other: str = ""


class _Process(NamedTuple):
    """A process that runs: its parent, and its kilobytes at most and now."""

    number: int
    parent: int
    is_browser: bool
    most: int
    now: int


def peak(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Peak:
    """Run a command to its end, looking at it and all below it ten times a second.

    The system keeps the most that a process ever had, so only its last tenth can go unseen.
    """
    largest = together = owner = 0
    other = ""
    with tempfile.TemporaryFile() as complaints:
        started = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=complaints
        )
        while started.poll() is None:
            ours = [one for one in _below(started.pid) if not one.is_browser]
            top = max(ours, key=lambda one: one.most, default=None)
            if top and top.most > largest:
                largest = top.most
                if owner != top.number:
                    owner, other = top.number, _words(top.number, started.pid)
            together = max(together, sum(one.now for one in ours))
            time.sleep(_EVERY_S)
        complaints.seek(0)
        error = complaints.read().decode("utf-8", "replace")
    return Peak(started.returncode, largest / 1000, together / 1000, error, other)


def _words(number: int, command: int) -> str:
    """What a process was started as, in short; nothing for the command itself."""
    if number == command:
        return ""
    try:
        words = (_PROCESSES / str(number) / "cmdline").read_text(errors="replace").split("\0")
    except OSError:  # it has ended
        return f"process {number}"
    return " ".join(Path(word).name for word in words[:3]).strip()


def _below(root: int) -> Iterator[_Process]:
    """A process and its descendants."""
    running = dict(_running())
    family = {root}
    # A child may have a lower number than its parent, so look until no more are found.
    while found := {pid for pid, one in running.items() if one.parent in family} - family:
        family |= found
    yield from (running[pid] for pid in family if pid in running)


def _running() -> Iterator[tuple[int, _Process]]:
    for folder in _PROCESSES.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            lines = (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:  # it has ended
            continue
        facts = dict(line.split(":", 1) for line in lines if ":" in line)
        if "VmHWM" in facts:  # else it is one of the kernel, or has just ended
            is_browser = any(word in facts["Name"] for word in _BROWSERS)
            most, now = (int(facts[name].split()[0]) for name in ("VmHWM", "VmRSS"))
            number, parent = int(folder.name), int(facts["PPid"])
            yield number, _Process(number, parent, is_browser, most, now)
