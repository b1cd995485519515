"""The campaign of attacks: a tenth of each area, and what a failure looks like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from scripts.attack import __main__ as campaign
from scripts.attack.areas import AREAS, LONG, builds, crowded_builds
from scripts.attack.bare import bare_checkout
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import whole_checkout


def _marked(area: ModuleType) -> Any:
    """An area that needs a browser runs where the other tests with one run."""
    marks = [pytest.mark.browser] if getattr(area, "BROWSER", False) else []
    return pytest.param(area.NAME, marks=marks)


# Each kill, pair and full disk takes a build. What they are compared with takes two more, which
# the areas of builds share here.
_OF_BUILDS = (builds, crowded_builds)
_OTHERS = [area for area in AREAS if area not in _OF_BUILDS]


@pytest.mark.parametrize("area", map(_marked, _OTHERS))
def test_a_tenth_of_each_area_holds(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`make attack` runs all of it, and so does every week."""
    status = campaign.main([area, "--share", "0.1"])
    printed = capsys.readouterr()
    assert status == 0, printed.err


def test_a_twentieth_of_the_areas_of_builds_holds(tmp_path: Path) -> None:
    checkout = bare_checkout(tmp_path / "checkout-0")
    counts = {builds.killed: builds.KILLS, **crowded_builds.COUNTS}
    twentieth = Campaign("builds", tmp_path, share=0.05)
    attempts = list(builds.attacked(twentieth, checkout, builds.EDIT, counts))
    assert [attempt for attempt in attempts if attempt.failure] == []
    assert len(attempts) > len(counts)  # each kind, and a build after all of it


def area_of(*attempts: Attempt | Exception) -> Any:
    """An area that has these attempts; an exception is raised in its turn."""

    def attack(_: Campaign) -> Iterator[Attempt]:
        for attempt in attempts:
            if isinstance(attempt, Exception):
                raise attempt
            yield attempt

    return SimpleNamespace(NAME="made up", attack=attack)


def test_a_failure_is_counted_and_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    area = area_of(Attempt("one"), Attempt("two\x1b[2J", "it ran"), ValueError("over"))
    monkeypatch.setattr(campaign, "AREAS", (area,))
    assert campaign.main([]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].split()[:4] == ["made", "up", "2", "2"]
    assert "made up: 'two\\x1b[2J': it ran" in printed.err and "ValueError: over" in printed.err


def test_the_same_seed_tries_the_same(tmp_path: Any) -> None:
    def drawn(area: str, seed: int) -> float:
        return Campaign(area, tmp_path, seed=seed).rng.random()

    assert drawn("a", 1) == drawn("a", 1)
    assert len({drawn("a", 1), drawn("b", 1), drawn("a", 2)}) == 3


def test_a_share_of_an_area_is_never_nothing(tmp_path: Any) -> None:
    assert Campaign("a", tmp_path, share=0.1).count(50) == 5
    assert Campaign("a", tmp_path, share=0.1).count(2) == 1


def test_long_areas_are_run_where_they_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign, "AREAS", (area_of(Attempt("one")),))
    monkeypatch.setattr(campaign, "LONG", (SimpleNamespace(**{**vars(area_of()), "NAME": "slow"}),))
    assert campaign.main([]) == 0 and "slow" not in capsys.readouterr().out
    assert campaign.main(["slow"]) == 0 and "slow" in capsys.readouterr().out


def test_every_area_is_listed() -> None:
    """A module of the folder that no list names would never attack."""
    folder = Path(campaign.__file__).parent / "areas"
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert names == {area.__name__.rpartition(".")[2] for area in (*AREAS, *LONG)}


def test_a_whole_checkout_has_what_is_tracked(tmp_path: Path) -> None:
    folder = whole_checkout(tmp_path / "checkout")
    assert (folder / "scripts" / "build_site.py").is_file()
    assert (folder / "docs" / "handbook" / "index.md").is_file()
    assert not list(folder.glob(".venv*")) and not (folder / "build").exists()


@pytest.mark.parametrize("words", [["nowhere"], ["--share", "0"], ["--share", "2"]])
def test_what_cannot_be_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        campaign.main(words)
