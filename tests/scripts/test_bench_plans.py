"""The measurement of plans gives a line for each promise, with its budget."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.bench import plans
from scripts.bench.results import Counted, Timed

PRINTED = "space 0.05 755040 67965\nmillion 0.25 1136964 280\n"


def test_a_line_for_the_space_the_million_and_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(plans, "printed", lambda program, environment: PRINTED)
    monkeypatch.setattr(plans, "timed", lambda command, runs: [120.0] * runs)
    monkeypatch.setattr(plans, "busy", lambda command, runs: [90.0] * runs)
    monkeypatch.setattr(plans.subprocess, "run", lambda *given, **more: calls.append(given))
    results = list(plans.plans(2))
    assert len(calls) == 5  # each command once before it is timed
    counted = [result for result in results if isinstance(result, Counted)]
    assert counted[0].count == "755,040, 67,965"
    timed = {result.name: result for result in results if isinstance(result, Timed)}
    assert timed["plan of GPT-3 175B on 1,024 chips"].times == [50.0, 50.0]
    assert timed["1,136,964 layouts, parts, memory, ranked"].times == [250.0, 250.0]
    rate = timed["layouts a second"]
    assert rate.times == pytest.approx([4.547856] * 2) and rate.unit == "million"
    assert timed["predict in a new process"].budget == "120 ms"
