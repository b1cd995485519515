"""The measurements of keystrokes find a field on every form, and an answer to what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.bench import keystrokes
from scripts.bench.results import Timed


@pytest.mark.browser
def test_forms_and_planners_are_timed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystrokes, "formulas", lambda: ("min-batch", "tp-limit"))
    monkeypatch.setattr(keystrokes, "PLANNED", keystrokes.PLANNED[:1])
    timed = [*keystrokes.forms(site, 1), *keystrokes.planners(site, 2)]
    assert len(timed) == 3
    for one in timed:
        assert isinstance(one, Timed) and one.times and all(time > 0 for time in one.times)
    assert len(timed[-1].times) == 2
