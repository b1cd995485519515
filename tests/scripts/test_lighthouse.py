"""What Lighthouse found becomes a table: medians, goals, and what costs points."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import lighthouse
from scripts.lighthouse import GOALS, LighthouseError, Report, medians, missed, report_of, table
from scripts.website.build.reviewed import TEMPLATES, chosen

ROOT = Path(__file__).resolve().parents[2]
FULL = Report(dict.fromkeys(GOALS, 100), dict.fromkeys(GOALS, ()))
POINTS = st.integers(min_value=0, max_value=100)


def written(**scores: float | None) -> dict[str, Any]:
    """A report as Lighthouse writes it: each category has one audit of weight 2 and one of 1."""
    audits: dict[str, dict[str, Any]] = {"not-asked": {"score": None}}
    categories = {}
    for name in GOALS:
        score = scores.get(name.replace("-", "_"), 1.0)
        audits[f"{name}-heavy"] = {"score": score, "displayValue": "3 s"}
        audits[f"{name}-light"] = {"score": score}
        references = [{"id": f"{name}-light", "weight": 1}, {"id": f"{name}-heavy", "weight": 2}]
        references.append({"id": "not-asked", "weight": 5})
        categories[name] = {"score": score, "auditRefs": references}
    return {"categories": categories, "audits": audits, "requestedUrl": "http://x/"}


def test_points_are_whole_numbers_of_a_hundred() -> None:
    report = report_of(written(performance=0.949, accessibility=1, seo=0))
    assert report.points == {
        "performance": 95,
        "accessibility": 100,
        "best-practices": 100,
        "seo": 0,
    }


def test_what_costs_points_is_named_the_most_costly_first() -> None:
    report = report_of(written(performance=0.5))
    assert report.costs["performance"] == ("performance-heavy 3 s", "performance-light")
    assert report.costs["seo"] == ()


def test_a_page_that_was_not_seen_is_an_error_with_its_address() -> None:
    broken = {"runtimeError": {"message": "no answer"}, "requestedUrl": "http://x/y"}
    with pytest.raises(LighthouseError, match="http://x/y: no answer"):
        report_of(broken)


def test_a_category_without_a_score_has_no_points() -> None:
    assert report_of(written(seo=None)).points["seo"] == 0


@given(st.lists(POINTS, min_size=1, max_size=7))
def test_a_median_is_one_of_the_runs_and_in_their_middle(points: list[int]) -> None:
    reports = [FULL._replace(points=dict.fromkeys(GOALS, got)) for got in points]
    middle = medians(reports).points["performance"]
    assert middle in points
    assert sum(got < middle for got in points) <= len(points) / 2
    assert sum(got > middle for got in points) <= len(points) / 2


def test_costs_are_those_of_the_run_in_the_middle() -> None:
    runs = [report_of(written(performance=score)) for score in (0.9, 0.5, 0.7)]
    named = [
        points._replace(costs={**points.costs, "performance": (str(points.points["performance"]),)})
        for points in runs
    ]
    assert medians(named).costs["performance"] == ("70",)


@given(st.fixed_dictionaries(dict.fromkeys(GOALS, POINTS)))
def test_a_goal_is_missed_below_it_alone(points: dict[str, int]) -> None:
    below = missed(FULL._replace(points=points))
    assert below == {name: got for name, got in points.items() if got < GOALS[name]}
    assert not missed(FULL)


def test_the_table_has_a_line_for_each_and_says_what_to_mend() -> None:
    slow = report_of(written(performance=0.5))
    lines = list(table({"home": FULL, "calculator": slow}))
    assert lines[0].split() == ["template", "perf", "access", "best", "seo"]
    assert lines[1].split() == ["home", "100", "100", "100", "100"]
    assert lines[2].split() == ["calculator", "50", "100", "100", "100"]
    assert lines[3] == "calculator: performance below 95: performance-heavy 3 s; performance-light"
    assert len(lines) == 4


# Templates.


def test_there_are_fourteen_templates_each_a_folder_of_the_site() -> None:
    assert len(TEMPLATES) == len(set(TEMPLATES.values())) == 14
    assert all(page == "" or page.endswith("/") for page in TEMPLATES.values())
    assert chosen([]) == dict(TEMPLATES)
    assert chosen(["chip"]) == {"chip": "accelerators/nvidia/h100-sxm/"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hoem"], "no template hoem"),
        (["--runs", "0"], "at least 1"),
        (["--site", "nowhere"], "make site"),
        (["--runs", "many"], "invalid int"),
    ],
)
def test_bad_usage_is_said_and_ends_with_two(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").touch()
    site = [] if "--site" in arguments else ["--site", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        lighthouse.main([*arguments, *site])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_without_npm_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").touch()
    monkeypatch.setattr(lighthouse, "INSTALLED", tmp_path / "node")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lighthouse.main(["--site", str(tmp_path)]) == 2
    assert "npm was not found" in capsys.readouterr().err


def test_what_is_installed_as_locked_is_not_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a lock that has changed is."""
    monkeypatch.setattr(lighthouse, "INSTALLED", tmp_path)
    program = tmp_path / "node_modules" / "lighthouse" / "cli" / "index.js"
    program.parent.mkdir(parents=True)
    program.touch()
    stamp = tmp_path / "installed.json"
    stamp.write_bytes((lighthouse.LOCKED / "package-lock.json").read_bytes())
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(lighthouse.subprocess, "run", run)
    monkeypatch.setattr(lighthouse.shutil, "which", lambda _: "npm")
    assert lighthouse.install() == program and asked == []
    stamp.write_text("{}", encoding="utf-8")
    assert lighthouse.install() == program
    assert len(asked) == 1 and "--ignore-scripts" in asked[0] and asked[0][1] == "ci"


# The lock.


def test_every_package_is_locked_with_its_hash() -> None:
    """And one package is asked for, at one version."""
    lock = json.loads((lighthouse.LOCKED / "package-lock.json").read_text(encoding="utf-8"))
    asked = json.loads((lighthouse.LOCKED / "package.json").read_text(encoding="utf-8"))
    packages = {name: locked for name, locked in lock["packages"].items() if name}
    assert len(packages) > 50
    for name, package in packages.items():
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", package["integrity"]), name
        assert "link" not in package and not package.get("resolved", "").startswith("git"), name
    assert list(asked["dependencies"]) == ["lighthouse"]
    assert packages["node_modules/lighthouse"]["version"] == asked["dependencies"]["lighthouse"]


def test_nothing_but_lighthouse_needs_node() -> None:
    """`make site` and `make test` go on needing Python and make alone."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^(\w+):[^\n]*\n((?:\t[^\n]*\n)+)", text, re.MULTILINE)
    asking = [name for name, lines in recipes if "lighthouse" in lines or "npm" in lines]
    assert asking == ["lighthouse"]
