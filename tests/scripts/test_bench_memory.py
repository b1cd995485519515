"""The measurement of memory: commands that exist, each within its bound."""

from __future__ import annotations

import pytest

from flopbook.cli.plain import PLAIN
from flopbook.formulas import CATALOGUE
from scripts.bench import memory
from scripts.bench.large import Measured


def test_it_measures_commands_that_exist() -> None:
    assert {words[0] for words in memory.COMMANDS} <= {*CATALOGUE, *PLAIN}


def test_it_tells_what_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(words: tuple[str, ...], *_: object) -> Measured:
        asked.append(words)
        return Measured(2 if words[0] == "plan" else 0, 1.0, 120.4, "no chips\n")

    monkeypatch.setattr(memory, "measured", measured)
    lines = [result.line() for result in memory.memory(1)]
    assert len(lines) == len(asked) == len(memory.COMMANDS)
    assert all("120 MB of 500" in line for line in lines)
    assert [line for line in lines if "refused: no chips" in line] == [
        line for line in lines if "memory of plan" in line
    ]
    assert not any("{" in word for words in asked for word in words)
