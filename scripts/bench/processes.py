"""Other processes and the time they take: a start-up is only measured in a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
COMMAND = str(Path(PYTHON).parent / "flopbook")


def timed(command: Sequence[str], runs: int, scale: float = 1000.0) -> list[float]:
    """Wall time of a whole process, several times; in ms, or in s with a scale of 1."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        _run(command)
        times.append((time.perf_counter() - begun) * scale)
    return times


def busy(command: Sequence[str], runs: int) -> list[float]:
    """Processor time of a process in ms: what it takes where others use the machine as well."""
    times = []
    for _ in range(runs):
        before = _processor_seconds()
        _run(command)
        times.append((_processor_seconds() - before) * 1000)
    return times


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _processor_seconds() -> float:
    """Of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def printed(program: str, environment: Mapping[str, str], *arguments: str) -> str:
    """What a Python program prints in a process of its own."""
    command = [PYTHON, "-c", program, *arguments]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return process.stdout
