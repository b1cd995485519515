"""`flopbook study`: Parquet that goes on where it was stopped, and mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flopbook.planning import study_workers
from flopbook.planning.study import answer
from flopbook.quantities.units import percent

SIZES = """\
model: llama-3-8b
chip: [h100-sxm, b200]
chips: [7, 8, 16, 32]
batch-tokens: 256Ki
seq: 8192
price: 2USD/h
"""
_PARQUET = "select * from '{}' order by chip, chips"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sizes.yaml"
    path.write_text(SIZES, encoding="utf-8")
    return path


def stored(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    import duckdb

    relation = duckdb.sql(_PARQUET.format(path))
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def test_results_are_parquet_with_a_row_for_each_case(file: Path, cli: Any) -> None:
    outcome = cli("study", str(file))
    assert outcome.status == 0 and outcome.err == ""
    assert "6 of 8 cases have a layout that fits" in outcome.out
    kept = stored(file.with_suffix(".study") / "results.parquet")
    record = json.loads(cli("study", str(file), "--json").out)
    assert record["cases"] == record["finished"] == len(kept) == 8 and record["planned"] == 6
    by_case = {(row["chip"], row["chips"]): row for row in record["rows"]}
    for row in kept:
        told = by_case[row["chip"], row["chips"]]
        assert {name: row[name] for name in told} == told
        assert (row["seconds"] is None) == (row["rank"] == 0) == bool(row["problem"])
    assert "2 rows without one: does not fit" in outcome.out
    best = min((row for row in kept if row["rank"] == 1), key=lambda row: row["seconds"])
    assert best["chip"] == "b200" and best["chips"] == "32"
    first = next(line for line in outcome.out.splitlines() if "b200" in line)
    assert percent(best["mfu"]) in first


def test_a_study_that_was_stopped_goes_on_where_it_was(
    file: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was finished is in the Parquet file of the stopped one, and is not asked again."""
    asked: list[Any] = []

    def stopped(cases: Any, top: int) -> Any:
        for options in cases:
            if len(asked) == 3:
                raise KeyboardInterrupt
            asked.append(options)
            yield options, answer(options, top)

    monkeypatch.setattr(study_workers, "in_this_process", stopped)
    outcome = cli("study", str(file))
    assert outcome.status != 0 and "Traceback" not in outcome.err
    path = file.with_suffix(".study") / "results.parquet"
    assert len(stored(path)) == 3
    monkeypatch.undo()
    seen: list[Any] = []
    whole = study_workers.in_this_process

    def counted(cases: Any, top: int) -> Any:
        seen.extend(cases)
        return whole(cases, top)

    monkeypatch.setattr(study_workers, "in_this_process", counted)
    again = cli("study", str(file))
    assert again.status == 0 and "3 cases were finished before" in again.out
    assert len(seen) == 5 and not [case for case in seen if case in asked]
    after = stored(path)
    fresh = cli("study", str(file), "--output", str(file.with_name("fresh")))
    assert fresh.status == 0
    assert stored(file.with_name("fresh") / "results.parquet") == after


def test_more_values_ask_for_the_new_cases_alone(file: Path, cli: Any) -> None:
    assert cli("study", str(file)).status == 0
    file.write_text(SIZES.replace("32]", "32, 64]").replace("2USD", "4USD"), encoding="utf-8")
    outcome = cli("study", str(file), "--json")
    record = json.loads(outcome.out)
    assert (record["cases"], record["asked"]) == (10, 2) and all(
        row["price"] == pytest.approx(4 / 3600) for row in record["rows"]
    )


def test_progress_is_told_as_it_is_made(
    file: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flopbook.cli.studying.PAUSE_OF_LOGS", 0.0)
    outcome = cli("study", str(file))
    assert outcome.err.splitlines() == [f"{done} of 8 cases" for done in range(1, 9)]


def test_several_layouts_of_a_case_are_ranked(file: Path, cli: Any) -> None:
    record = json.loads(cli("study", str(file), "--top", "3", "--json").out)
    ranked = [row for row in record["rows"] if row["chips"] == "16" and row["chip"] == "b200"]
    assert [row["rank"] for row in ranked] == [1, 2, 3]
    assert [row["seconds"] for row in ranked] == sorted(row["seconds"] for row in ranked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--scheduler 127.0.0.1:9", "--scheduler 127.0.0.1:9: none answers"),
        ("--scheduler nowhere", "--scheduler nowhere: it is no address"),
        ("--top 0", "--top is 0"),
        ("--top 1000", "expected at most 100"),
        ("--output /dev/null/x", "was not written"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    words: str, said: str, file: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "9" in words:
        pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "CONNECT_SECONDS", 0.5)
    outcome = cli("study", str(file), *words.split())
    assert outcome.status == 2 and said in outcome.err and outcome.err.count("\n") == 1
    assert not (file.with_suffix(".study") / "results.parquet").exists()


def test_a_file_that_is_missing_or_wrong_says_so(tmp_path: Path, cli: Any) -> None:
    missing = cli("study", str(tmp_path / "none.yaml"))
    assert missing.status == 2 and "none.yaml" in missing.err
    path = tmp_path / "wrong.yaml"
    path.write_text("model: llama-3-8b\nchips: 8\ncihp: h100-sxm\n", encoding="utf-8")
    wrong = cli("study", str(path))
    assert wrong.status == 2 and "wrong.yaml:3:7: study" in wrong.err
    assert "found no chip" in wrong.err and "found no batch-tokens" in wrong.err
