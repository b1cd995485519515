"""A row of a file of runs is predicted as options would be, and as `validate` does."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from flopbook.cli.app import run
from flopbook.data.measured_runs import run_files
from flopbook.prediction.validation import validate
from tests.support.building import ROOT

RUNS = ROOT / "calculators" / "runs"
TITAN, ROW = RUNS / "titan-h100-202412.yaml", "titan-h100-t1-fsdp-compile-tps"
ONE = """
rows:
  - id: mine
    kind: training_throughput
    model: {name: Llama-3-8B, seq_len_tokens: 8192}
    hardware: {chip: H100-SXM-80GB, n_chips: 64, PLACE}
    parallelism: {zero_stage: 3, micro_batch_seqs: 1, global_batch_seqs: 128}
    run: {precision: bf16, software: torchtitan, recompute: selective}
    measured: {}
"""


def written(folder: Path, text: str = ONE, place: str = "chips_per_node: 8") -> str:
    path = folder / "mine.yaml"
    path.write_text(text.replace("PLACE", place), encoding="utf-8")
    return str(path)


def predicted(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    assert run(["predict", *words, "--json"]) == 0
    found: dict[str, float] = json.loads(capsys.readouterr().out)["prediction"]
    return found


def test_a_row_is_predicted_as_validate_does(capsys: pytest.CaptureFixture[str]) -> None:
    found = predicted(capsys, "--run", f"{TITAN}:{ROW}")
    (line,) = (
        line
        for line in validate([run_files()["titan-h100-202412"]]).lines
        if line.case.row.id == ROW
    )
    assert found["tokens_per_s_per_chip"] == pytest.approx(line.predicted, rel=1e-9)
    assert found["high"] / found["seconds"] == pytest.approx(line.high / line.predicted, rel=1e-6)


def test_a_run_that_nobody_measured_is_what_options_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The only row of a file needs no name, and a model on file gives its sizes."""
    options = "--model=llama-3-8b --chip=h100-sxm --chips=64 --batch=128 --seq=8192 --zero=3"
    options += " --micro-batch=1 --recompute=selective --stack=torchtitan"
    found = predicted(capsys, "--run", written(tmp_path))
    assert found == pytest.approx(predicted(capsys, *options.split()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--run", "nowhere.yaml"], "no file 'nowhere.yaml'; give a file of runs"),
        (["--run", str(TITAN)], "rows; name one as --run FILE:ROW: titan-h100-"),
        (["--run", f"{TITAN}:titan-h100-t1"], "unknown row 'titan-h100-t1'; nearest: titan-h100-"),
        (["--run", f"{TITAN}:{ROW}", "--tp", "8"], "--tp is said by the row; leave it out with"),
        (["--run", f"{TITAN}:{ROW}", "--answer", "8"], "--answer is said by the row"),
        (["--run", f"{RUNS / 'kipply.yaml'}:KIPPLY"], "is of the kind inference; --run takes"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kipply = run_files()["kipply"].rows[0].id
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    assert run(["predict", *(word.replace("KIPPLY", kipply) for word in words)]) == 2
    assert said in shown.getvalue() and shown.getvalue().count("\n") == 1


@pytest.mark.parametrize("name", ["", ":mine"])
def test_a_wrong_field_has_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    path = written(tmp_path, place="chips_per_nod: 8")
    assert run(["predict", "--run", f"{path}{name}"]) == 2
    assert "mine.yaml:6:50: field: found 'chips_per_nod', expected 'chips_per_node'" in (
        shown.getvalue()
    )
