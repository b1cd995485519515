"""The measurement of memory: commands that exist, each within its bound."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from flopbook.cli.plain import PLAIN
from flopbook.formulas import CATALOGUE
from flopbook.planning.study import read_study
from scripts.bench import memory
from scripts.bench.peaks import Peak, peak
from scripts.bench.processes import ROOT


def test_it_measures_commands_that_exist() -> None:
    assert {words[0] for words in memory.COMMANDS} <= {*CATALOGUE, *PLAIN}
    for name, *_ in memory.PROGRAMS:
        assert importlib.util.find_spec(f"scripts.{name}")


def test_its_study_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sizes.yaml"
    file.write_text(memory.SIZES, encoding="utf-8")
    assert len(read_study(file).cases) == 72


def test_it_tells_what_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def peak(words: tuple[str, ...], *_: object) -> Peak:
        asked.append(words)
        return Peak(2 if "predict" in words else 0, 120.4, 121.0, "no chips\n")

    monkeypatch.setattr(memory, "peak", peak)
    lines = [result.line() for result in memory.memory(1)]
    assert len(lines) == len(memory.COMMANDS) + 1 + len(memory.PROGRAMS)
    assert len(asked) == len(lines) - 1 + len(CATALOGUE)
    assert all("120 MB of 500" in line for line in lines)
    assert [line for line in lines if "refused: no chips" in line] == [
        line for line in lines if "memory of predict" in line
    ]
    assert not any("{" in word for words in asked for word in words if words[1] not in CATALOGUE)


def test_every_plain_command_is_measured() -> None:
    """Point by point: no command takes more than its bound because nobody looked."""
    assert {words[0] for words in memory.COMMANDS} >= set(PLAIN)


def test_processes_that_a_command_starts_are_counted_apart_and_together() -> None:
    """One process holds 40 MB and starts another with 60 MB: the larger counts, both are said."""
    other = "import time; held = b'x' * 60_000_000; time.sleep(0.6)"
    words = f"[sys.executable, '-c', {other!r}]"
    code = f"import subprocess, sys; held = b'x' * 40_000_000; subprocess.run({words})"
    run = peak((sys.executable, "-c", code), ROOT, os.environ)
    assert run.status == 0
    assert 60 < run.largest < 90
    assert run.together > 105
    assert run.other.startswith("python") and " -c " in run.other


def test_a_failure_and_its_words_come_back() -> None:
    run = peak((sys.executable, "-c", "raise SystemExit('no such chip')"), ROOT, os.environ)
    assert (run.status, run.error) == (1, "no such chip\n")
