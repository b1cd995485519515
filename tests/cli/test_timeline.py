"""`flopbook bubble --timeline` and `--plot`: the schedule beside its closed form."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import with_options

BASE = ("bubble", "--stages", "4", "--microbatches", "8")


def test_the_timeline_stands_below_the_answer(cli: Any) -> None:
    outcome = cli(*BASE, "--schedule", "zb-h1", "--timeline")
    assert outcome.status == 0 and outcome.err == ""
    assert outcome.out.startswith(cli(*BASE, "--schedule", "zb-h1").out.rstrip())
    assert "run pass by pass: idle 11.11 %, 27 s a step (27 s from the first pass" in outcome.out
    assert "\nstage 1 |F1F2F3F4......B1W1" in outcome.out


def test_where_the_closed_form_ends_the_schedule_still_runs(cli: Any) -> None:
    words = (
        *BASE,
        "--schedule",
        "dualpipe",
        "--forward",
        "10ms",
        "--backward-input",
        "12ms",
        "--backward-weight",
        "8ms",
    )
    refused = cli(*words)
    assert refused.status == 2 and "see --timeline for the schedule itself" in refused.err
    shown = cli(*words, "--timeline")
    assert shown.status == 0 and shown.out.startswith(
        "no closed form here: the closed form of dualpipe and dualpipe-v"
    )
    assert "run pass by pass: idle " in shown.out and "stage 4 |" in shown.out


def test_it_is_as_wide_as_the_terminal(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = cli(*BASE, "--timeline").out.splitlines()
        stages = [line for line in lines if line.startswith("stage") and "|" in line]
        assert len(stages) == 4 and max(map(len, stages)) <= columns


def test_a_picture_is_written_whole(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "zb.svg"
    outcome = cli(*BASE, "--schedule", "zb-v", "--plot", str(path))
    assert outcome.status == 0 and outcome.out.rstrip().endswith(f"wrote {path}")
    assert ET.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")
    assert list(tmp_path.iterdir()) == [path] and path.stat().st_mode & 0o777 == 0o644


def test_json_and_working_stay_what_they_are_beside_a_picture(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "one.svg"
    assert cli(*BASE, "--plot", str(path), "--json").out == cli(*BASE, "--json").out
    assert path.exists() and json.loads(cli(*BASE, "--json").out)["calculator"] == "bubble"
    assert cli(*BASE, "--plot", str(path), "--explain").out == cli(*BASE, "--explain").out


FAILS: dict[str, tuple[tuple[str, ...], str]] = {
    "no picture": (("--plot", "one.png"), "--plot writes SVG: 'one.png' does not end in .svg"),
    "empty name": (("--plot", ""), "does not end in .svg"),
    "no folder": (("--plot", "nowhere/at/all.svg"), "--plot: there is no folder 'nowhere/at'"),
    "json": (
        ("--timeline", "--json"),
        "--timeline prints text of its own; leave out --json and --explain",
    ),
    "value": (("--timeline=yes",), "--timeline takes no value"),
    "chunks": (
        ("--timeline", "--virtual", "2"),
        "virtual stages belong to the interleaved schedule",
    ),
    "indivisible": (
        ("--timeline", "--schedule", "interleaved", "--microbatches", "6"),
        "multiple of the stages",
    ),
    "odd": (
        ("--timeline", "--schedule", "dualpipe", "--stages", "3"),
        "dualpipe needs an even number of stages",
    ),
    "fraction": (("--timeline", "--stages", "2.5"), "--stages is 2.5, expected a whole number"),
    "none": (("--timeline", "--microbatches", "0"), "--microbatches is 0, expected at least 1"),
    "negative": (("--timeline", "--forward", "-1ms"), "--forward is -0.001, expected more than 0"),
    "too many passes": (
        ("--timeline", "--microbatches", "1e6"),
        "passes are too many to go through one by one",
    ),
    "too many stages": (("--timeline", "--stages", "100"), "a timeline of 100 stages does not fit"),
    "too large a picture": (
        ("--plot", "x.svg", "--microbatches", "2000"),
        "are too many for a picture",
    ),
    "unit": (("--timeline", "--forward", "10GB"), "--forward"),
}


@pytest.mark.parametrize(("words", "message"), FAILS.values(), ids=FAILS)
def test_what_cannot_be_drawn_is_one_line(
    words: tuple[str, ...],
    message: str,
    fails: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in fails(*with_options(BASE, words))
    assert not list(tmp_path.iterdir())


def test_only_what_has_a_schedule_is_drawn(fails: Any, cli: Any) -> None:
    assert fails("training-flops", "--params", "1e9", "--tokens", "1e9", "--timeline").startswith(
        "unknown option"
    )
    assert (
        "--timeline" in cli("bubble", "--help").out
        and "--timeline" not in cli("min-batch", "--help").out
    )
