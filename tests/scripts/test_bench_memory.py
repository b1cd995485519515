"""The measurement of memory: commands that exist, each within its bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.cli.plain import PLAIN
from flopbook.formulas import CATALOGUE
from flopbook.planning.study import read_study
from scripts.bench import memory
from scripts.bench.large import Measured
from scripts.bench.processes import ROOT


def test_it_measures_commands_that_exist() -> None:
    assert {words[0] for words in memory.COMMANDS} <= {*CATALOGUE, *PLAIN}
    for name, *_ in memory.PROGRAMS:
        assert (ROOT / "scripts" / f"{name}.py").is_file()


def test_its_study_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sizes.yaml"
    file.write_text(memory.SIZES, encoding="utf-8")
    assert len(read_study(file).cases) == 72


def test_it_tells_what_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(words: tuple[str, ...], *_: object) -> Measured:
        asked.append(words)
        return Measured(2 if words[0] == "predict" else 0, 1.0, 120.4, "no chips\n")

    monkeypatch.setattr(memory, "measured", measured)
    lines = [result.line() for result in memory.memory(1)]
    assert len(lines) == len(asked) == len(memory.COMMANDS) + len(memory.PROGRAMS)
    assert all("120 MB of 500" in line for line in lines)
    assert [line for line in lines if "refused: no chips" in line] == [
        line for line in lines if "memory of predict" in line
    ]
    assert not any("{" in word for words in asked for word in words)
