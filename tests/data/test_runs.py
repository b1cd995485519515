"""Measured runs: every row of ours is read, what is wrong in a file is named at its place."""

from __future__ import annotations

import datetime
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.data import runs
from flopbook.data.library import library, reference
from flopbook.data.measured_runs import read_run_files, run_files, run_paths
from flopbook.errors import DataError
from flopbook.export.records import measured_runs
from tests.support.cases import every
from tests.support.samples import assert_clean, place

FILE = """\
id: acme
use: fit
sources:
  acme: {source: acme2026one, as_of: 2026-11-21, path: README.md}
rows:
  - id: acme-8b
    kind: training_throughput
    model: {name: Tiny-8B, n_params: 8000000000, gated_ffn: true}
    hardware: {chip: H100-SXM-80GB, n_chips: 8}
    parallelism: {tp: 2, dp: 4, pp: 1}
    run: {precision: bf16}
    measured: {tokens_per_s_per_chip: 9000, tokens_per_s: 72000}
    source: {key: acme, where: Table 1}
    flags: [approximate]
"""


def read(tmp_path: Path, text: str) -> runs.RunFile:
    path = tmp_path / "acme.yaml"
    path.write_text(text, encoding="utf-8")
    return runs.read_run_file(path)


def test_a_row_is_read_with_its_place_and_its_use(tmp_path: Path) -> None:
    (row,) = read(tmp_path, FILE).rows
    assert (row.id, row.kind, row.publication, row.where) == (
        "acme-8b",
        "training_throughput",
        "acme",
        "Table 1",
    )
    assert row.parallelism == {"tp": 2, "dp": 4, "pp": 1}
    assert (row.use, row.complete, row.flags, row.line) == ("fit", True, ("approximate",), 6)


def test_what_others_call_a_field_is_no_field_of_ours() -> None:
    """A name that a row of ours uses would be refused; one that leads nowhere would not help."""
    used = {
        name
        for run in run_files().values()
        for row in run.rows
        for group in (row.model, row.hardware, row.parallelism, row.run, row.measured)
        for name in group
    }
    assert not used & set(runs.ELSEWHERE)
    assert set(runs.ELSEWHERE.values()) <= used


def test_a_batch_per_device_is_no_micro_batch(tmp_path: Path) -> None:
    """MaxText counts it for each chip: with TP 8, a replica has eight times as many sequences."""
    text = FILE.replace("{tp: 2,", "{per_device_batch_size: 4, tp: 2,")
    assert text != FILE
    with pytest.raises(DataError) as raised:
        read(tmp_path, text)
    (problem,) = raised.value.problems
    assert (problem.found, problem.expected) == ("'per_device_batch_size'", "'global_batch_seqs'")
    assert "times all chips" in problem.mend and "gradient accumulation" in problem.mend


def test_a_row_that_says_nothing_of_its_use_is_never_fitted(tmp_path: Path) -> None:
    (row,) = read(tmp_path, FILE.replace("use: fit\n", "")).rows
    assert row.use == "check"


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("n_params", "n_parms", "n_parms", "'n_params'"),
        ("gated_ffn: true", "gated_fn: true", "gated_fn:", "'gated_ffn'"),
        ("n_chips: 8", "gpus: 8", "gpus", "'n_chips'"),
        ("tp: 2,", "tp: 2, fsdp: 8,", "fsdp", "'zero_stage'"),
        ("tokens_per_s_per_chip", "tokens_per_s_per_gpu", "tokens_per_s_per_gpu", "per_chip'"),
        ("kind: training_throughput", "kind: training", "training\n", "one of"),
        ("tp: 2", "tp: two", "two", "number"),
        ("9000", "-9000", "-9000", "0"),
        ("key: acme", "key: acmé2", "acmé2", "one of acme"),
        ("chip: H100-SXM-80GB, ", "", "{n_chips", "chip"),
        ("where: Table 1", "where: <b>Table 1</b>", "<b>", "plain text"),
    ],
)
def test_what_is_wrong_is_named_at_its_place(
    tmp_path: Path, old: str, new: str, at: str, message: str
) -> None:
    text = FILE.replace(old, new)
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert_clean(caught.value)
    problem = caught.value.problems[0]
    assert message in str(problem)
    assert problem.line == place(text, at)[0]


def test_a_field_that_nothing_uses_is_no_mistake(tmp_path: Path) -> None:
    """A user's own notes on a run stand beside what the prediction reads."""
    (row,) = read(tmp_path, FILE.replace("precision: bf16", "precision: bf16, weather: fair")).rows
    assert row.run["weather"] == "fair"


def test_kept_runs_are_those_that_were_read(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(FILE, encoding="utf-8")
    first, problems = read_run_files([path])
    again, _ = read_run_files([path])
    assert first == again
    assert not problems and first["acme"].sources["acme"].source == "acme2026one"


def test_the_files_that_can_be_read_are_read_beside_a_broken_one(tmp_path: Path) -> None:
    good, broken = tmp_path / "acme.yaml", tmp_path / "broken.yaml"
    good.write_text(FILE, encoding="utf-8")
    broken.write_text(FILE.replace("rows:", "lines:"), encoding="utf-8")
    files, problems = read_run_files([broken, good])
    assert list(files) == ["acme"]
    assert {Path(problem.file).name for problem in problems} == {"broken.yaml"}


def test_every_publication_of_ours_is_a_work_that_we_cite() -> None:
    named = {source.source for file in run_files().values() for source in file.sources.values()}
    assert named <= library().reference_keys


def test_every_row_of_ours_has_a_place_in_its_source_and_an_id_of_its_own() -> None:
    rows = [row for file in run_files().values() for row in file.rows]
    assert len({row.id for row in rows}) == len(rows)
    assert all(row.where and row.measured for row in rows)
    assert {row.use for row in rows} <= set(runs.USES)


NUMBERS = st.one_of(st.integers(0, 10**9), st.floats(0, 1e12, allow_nan=False))
WORDS = st.text(alphabet="abc xyz-0123456789.", min_size=1, max_size=20).map(str.strip)
ROWS = st.builds(
    runs.MeasuredRun,
    id=st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True),
    kind=st.sampled_from(["training_throughput", "collective", "whole_run"]),
    publication=st.just("acme"),
    where=WORDS,
    measured=st.dictionaries(st.sampled_from(["mfu_pct", "time_us"]), NUMBERS, min_size=1),
    model=st.fixed_dictionaries({"name": WORDS}, optional={"n_layers": st.integers(1, 200)}),
    hardware=st.fixed_dictionaries({"chip": WORDS}, optional={"n_chips": st.integers(1, 10**5)}),
    parallelism=st.dictionaries(st.sampled_from(["tp", "pp", "dp"]), st.integers(1, 4096)),
    run=st.dictionaries(st.sampled_from(["precision", "software"]), WORDS),
    complete=st.booleans(),
    use=st.sampled_from(runs.USES),
    flags=st.lists(st.sampled_from(["approximate", "slow"]), unique=True).map(tuple),
    line=st.integers(1, 10**4),
)


@given(st.lists(ROWS, max_size=5), st.none() | st.dates())
def test_what_is_kept_comes_back_unchanged(
    rows: list[runs.MeasuredRun], as_of: datetime.date | None
) -> None:
    """Through JSON, as the cache keeps it; the file is the one that it is asked for."""
    source = runs.RunSource("acme2026one", as_of, commit="0123456")
    file = runs.RunFile({"acme": source}, tuple(row._replace(file="acme.yaml") for row in rows))
    record = json.loads(json.dumps(runs.record_of_run_file(file)))
    assert runs.run_file_of_record(record, "acme.yaml") == file


@given(st.sampled_from(FILE.splitlines()[2:]), st.sampled_from("{}[]:,&*!|>'\"%@`\t"))
def test_a_broken_line_is_a_problem_with_a_place_and_never_a_crash(line: str, letter: str) -> None:
    """Whatever a slip of the keyboard puts before a line."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            read(Path(folder), FILE.replace(line, letter + line, 1))
        except DataError as error:
            assert_clean(error)
            assert all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)


def test_the_export_has_every_row_with_the_address_of_its_source() -> None:
    rows = [row for file in run_files().values() for row in file.rows]
    records = {record["id"]: record for record in measured_runs()}
    assert len(records) == len(rows)
    for row in rows:
        record = records[row.id]
        assert record["measured"] == row.measured and record["use"] == row.use
        assert record["source"] in library().reference_keys
        assert record["url"].startswith("https://") or reference(record["source"]).record
        assert not {"file", "line", "publication"} & record.keys()


@every("path", run_paths())
def test_a_file_of_ours_is_of_one_publication_and_names_the_commit_of_a_repository(
    path: Path,
) -> None:
    file = run_files()[path.stem]
    assert list(file.sources) == [path.stem] and file.rows
    source = file.sources[path.stem]
    assert source.as_of is not None
    assert source.source in library().reference_keys
    # A file of a repository is read at a commit; a paper has none.
    if source.commit:
        assert source.path, "a commit says nothing without the path of the file"


# How a name says its unit, so that a number can be read without a manual.
UNITS = ("_gb", "_gib", "_ms", "_us", "_s", "_pct", "_bytes", "_hours", "_days", "_min", "_mwh")
COUNTS = (
    "tokens",
    "steps",
    "samples",
    "seqs",
    "ms_per_token",
    "pue",
    "flops",
    "days_stated",
    "pct_of_peak",
)


def test_every_measured_field_names_its_unit() -> None:
    fields = {name for file in run_files().values() for row in file.rows for name in row.measured}
    unclear = [
        name
        for name in sorted(fields)
        if not name.endswith(UNITS) and "_per_" not in name and not any(c in name for c in COUNTS)
    ]
    assert unclear == []


def test_most_rows_can_be_computed_from_what_they_say() -> None:
    """A row without enough configuration is marked, not hidden; of fitted rows it is not the rule.

    Rows to check come from submissions that publish a rate and not how chips share the model.
    """
    rows = [row for file in run_files().values() for row in file.rows if row.use == "fit"]
    complete = [row for row in rows if row.complete]
    assert len(complete) > 0.75 * len(rows)
    for row in complete:
        if row.kind == "training_throughput":
            assert row.model.get("n_params") or row.model.get("n_layers"), row.id
        if row.kind == "collective":
            assert row.run["op"] and row.hardware["n_chips"] > 1, row.id


@pytest.mark.parametrize("kind", ["training_throughput", "training_memory", "inference"])
def test_a_mixture_of_experts_says_how_many_a_token_visits(kind: str) -> None:
    rows = [row for file in run_files().values() for row in file.rows if row.kind == kind]
    mixtures = [row for row in rows if "n_experts" in row.model]
    for row in mixtures:
        assert 1 <= row.model["experts_per_token"] <= row.model["n_experts"], row.id
    if kind != "training_memory":
        assert mixtures


def test_sizes_that_name_a_model_of_ours_are_its_sizes() -> None:
    """A row that takes its shape from a file of calculators/models/ has the shape of that file."""
    sizes = {"n_layers": "layers", "d_model": "d_model", "n_heads": "heads", "vocab_size": "vocab"}
    for file in run_files().values():
        for row in file.rows:
            origin = row.model.get("dims_from", "")
            if not origin.startswith("calculators/models/") or "," in origin:
                continue
            model = shape(Path(origin).stem)
            for name, field in sizes.items():
                if name in row.model and model.records(field):
                    assert row.model[name] == model.pick(field).value, (row.id, name)


def test_a_row_to_check_is_no_fitted_row_again() -> None:
    """Of one publication, the same speed of a model on as many of the same chips is one run."""
    owners: dict[tuple[object, ...], str] = {}
    files = sorted(run_files().values(), key=lambda file: file.rows[0].use, reverse=True)
    for file in files:
        for row in file.rows:
            tokens = row.measured.get("tokens_per_s_per_chip")
            if row.kind != "training_throughput" or not tokens:
                continue
            work = file.sources[row.publication].source
            chips = (row.hardware["chip"], row.hardware.get("n_chips"))
            key = (work, row.model["name"], *chips, f"{tokens:.4g}")
            assert row.use == "fit" or key not in owners, (row.id, owners[key])
            if row.use == "fit":
                owners[key] = row.id
