"""The measurements of keystrokes find a field on every form, and an answer to what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.bench import keystrokes, pages
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


@pytest.mark.browser
def test_forms_are_timed_whatever_they_draw(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that is folded away, a picture of the form's own, a table of blocks."""
    typed = {"min-batch": "bandwidth", "roofline": "kernels", "shard": "layout"}
    assert all(pages._TYPED[name][0] == field for name, field in typed.items())
    monkeypatch.setattr(pages, "_TYPED", {name: pages._TYPED[name] for name in typed})
    timed = list(pages.form(site, 1))
    assert [one.name.partition(":")[0] for one in timed[::2]] == list(typed)
    assert all(one.times and all(time > 0 for time in one.times) for one in timed)
