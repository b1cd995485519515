"""Files of other people's runs: every row is answered or refused, and costs no other row."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import GROUPS, MeasuredRun
from flopbook.errors import DataError
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of
from flopbook.prediction.own_runs import read_own_runs

SOURCES = {"acme": {"title": "A test of torchtitan", "year": 2025}}
# What may happen to a field when people write by hand or a program fills it in.
WRONG = (None, "many", "8", "", -1, 0, 0.5, 1e300, float("inf"), float("nan"), True, [], {}, [1])


class WithoutAliases(yaml.SafeDumper):
    """Writes what comes twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def raw(row: MeasuredRun) -> dict[str, Any]:
    """A row on file as a file holds it."""
    groups = {name: dict(getattr(row, name)) for name in (*GROUPS, "measured")}
    source = {"key": "acme", "where": row.where or "a table"}
    return {"id": row.id, "kind": row.kind, **groups, "source": source}


def examples() -> list[dict[str, Any]]:
    """Four rows of every kind."""
    rows = [row for file in run_files().values() for row in file.rows]
    by_kind = {kind: [row for row in rows if row.kind == kind and row.complete] for kind in MODELS}
    return [raw(kept[place * len(kept) // 4]) for kept in by_kind.values() for place in range(4)]


EXAMPLES = examples()


def written(folder: Path, rows: Any, sources: Any = SOURCES) -> Path:
    path = folder / "mine.yaml"
    whole = {"sources": sources, "rows": rows}
    path.write_text(yaml.dump(whole, Dumper=WithoutAliases), encoding="utf-8")
    return path


def validated(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, str]:
    capsys.readouterr()
    status = run(["validate", str(path), "--json"])
    out, err = capsys.readouterr()
    return status, json.loads(out, parse_constant=pytest.fail), err


def test_rows_of_all_kinds_are_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, record, err = validated(written(tmp_path, EXAMPLES), capsys)
    assert status == 0 and not err
    assert [row["id"] for row in record["rows"] if "refused" in row] == []
    assert {row["id"] for row in record["rows"]} == {row["id"] for row in EXAMPLES}
    assert set(record["kinds"]) == set(MODELS)


@given(
    place=st.integers(0, len(EXAMPLES) - 1),
    group=st.sampled_from([*GROUPS, "measured", "source", ""]),
    field=st.integers(0, 30),
    wrong=st.sampled_from(WRONG),
    is_deleted=st.booleans(),
)
def test_a_row_with_anything_wrong_is_answered_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    place: int,
    group: str,
    field: int,
    wrong: Any,
    is_deleted: bool,
) -> None:
    row = json.loads(json.dumps(EXAMPLES[place]))
    part = row[group] if group else row
    names = sorted(part)
    if names:
        name = names[field % len(names)]
        part[name] = wrong
        if is_deleted:
            del part[name]
    # A row of another kind beside it is always answered.
    sound = EXAMPLES[(place + 4) % len(EXAMPLES)]
    path = written(tmp_path_factory.mktemp("runs"), [row, sound])
    own = read_own_runs(path)
    assert len(own.runs.rows) + len(own.unread) == 2 and sound["id"] in {
        one.id for one in own.runs.rows
    }
    from flopbook.prediction.validation import validate

    record = validate([own.runs], own.unread).record()
    assert len(record["rows"]) == 2
    assert all(one.get("refused") or one["predicted"] > 0 for one in record["rows"])
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert all(problem.line > 0 for one in own.unread for problem in one.problems)


@pytest.mark.parametrize("rows", [None, [], {}, "rows", [None], ["a row"], [[1]], [3]])
def test_what_is_no_row_is_one_line_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: Any
) -> None:
    status = run(["validate", str(written(tmp_path, rows)), "--json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    if isinstance(rows, list):
        assert len(json.loads(out)["rows"]) == len(rows)
        assert status == (2 if rows else 0)
    else:
        assert status == 2 and "mine.yaml:" in err and "a list" in err


@pytest.mark.parametrize("text", ["", "rows: [", "- 1", "\x00", "rows:\n- {id: a, id: b}\n"])
def test_what_is_no_file_of_runs_raises_with_its_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.yaml:\d+:\d+"):
        read_own_runs(path)


def test_fields_that_we_do_not_know_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`derived`, remarks and new fields change nothing."""
    plain = validated(written(tmp_path, EXAMPLES), capsys)
    more = [
        row
        | {"derived": {"tokens_per_s_per_chip": 1}, "verified": True, "note": "<b>markup</b>"}
        | {"hardware": row["hardware"] | {"colour": "green"}, "completeness": "full"}
        for row in EXAMPLES
    ]
    assert validated(written(tmp_path, more), capsys) == plain


def test_a_source_may_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{name: part for name, part in row.items() if name != "source"} for row in EXAMPLES]
    for sources in ({}, None, [], {"acme": None}):
        status, record, _ = validated(written(tmp_path, rows, sources), capsys)
        assert status == 0 and not [row for row in record["rows"] if "refused" in row]


def test_an_id_that_comes_twice_is_answered_twice_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, [EXAMPLES[0], EXAMPLES[0], EXAMPLES[5]])
    _, record, _ = validated(path, capsys)
    assert len(record["rows"]) == 3 and record["rows"][0] == record["rows"][1]
    assert run(["validate", str(path)]) == 0
    assert f"ids of more than one row: {EXAMPLES[0]['id']}" in capsys.readouterr().out


def test_a_row_without_an_id_is_named_by_its_line(tmp_path: Path) -> None:
    row = {name: part for name, part in EXAMPLES[0].items() if name != "id"}
    (read,) = read_own_runs(written(tmp_path, [row])).runs.rows
    assert read.id == f"row in line {read.line}"


@pytest.mark.parametrize("kind", MODELS)
def test_a_prediction_sees_nothing_of_what_was_measured(kind: str) -> None:
    """Inputs are the same whatever came out; sizes of messages and tokens are no results."""
    inputs = {"message_bytes", "input_shard_bytes", "transferred_bytes", "tokens"}
    files = list(run_files().values())
    sources = {name: one for file in files for name, one in file.sources.items()}
    model = MODELS[kind]
    for case in cases_of(model, files).cases[::5]:
        results = {
            name: value if name in inputs else 3 * value
            for name, value in case.row.measured.items()
        }
        again = model.read(case.row._replace(measured=results), sources[case.source])
        assert again.inputs == case.inputs
        assert again.measured != case.measured


@pytest.mark.parametrize("name", ["id", "kind"])
@pytest.mark.parametrize("word", ["\x1b[2Jx", "\u202ex", "x" * 100_000, ["\x1b"], {"a": "\x07"}])
@pytest.mark.parametrize("words", [(), ("--rows",), ("--by", "publication"), ("--json",)])
def test_names_of_a_file_drive_no_terminal(
    name: str, word: Any, words: tuple[str, ...], tmp_path: Path, capsys: Any
) -> None:
    """A kind that nobody knows stood in the table as it was, and made it as wide as itself."""
    rows = [{**example, name: word} for example in EXAMPLES[:3]]
    capsys.readouterr()
    run(["validate", str(written(tmp_path, rows)), *words])
    printed = capsys.readouterr()
    for line in (printed.out + printed.err).splitlines():
        assert line.isprintable() and len(line) < 1000, line[:200]


def test_errors_beyond_all_measure_are_short(tmp_path: Path, capsys: Any) -> None:
    """A slip of the units was an error of 300 digits."""
    row = next(one for one in EXAMPLES if one["kind"] == "hbm_bandwidth")
    slip = {"memory_bandwidth_gb_per_s": 1e-9}
    capsys.readouterr()
    assert run(["validate", str(written(tmp_path, [{**row, "measured": slip}])), "--rows"]) == 0
    table = capsys.readouterr().out
    assert "e+" in table and max(map(len, table.splitlines())) < 120


def test_ids_that_come_twice_are_counted_in_one_pass(tmp_path: Path) -> None:
    """20,000 rows were compared with each other."""
    hardware = {"chip": "h100-sxm"}
    row = {"kind": "hbm_bandwidth", "hardware": hardware, "measured": {"x": 1}}
    rows = [{**row, "id": f"r{number % 4000}"} for number in range(8000)]
    begun = time.process_time()
    own = read_own_runs(written(tmp_path, rows))
    assert time.process_time() - begun < 15 and len(own.repeated) == 4000
