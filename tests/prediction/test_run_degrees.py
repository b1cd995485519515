"""Degrees that do not multiply to the chips are refused wherever somebody's file is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flopbook.cli.app import run
from flopbook.data.run_degrees import WRONG_DEGREES

ROW = """\
  - id: run-{number}
    kind: training_throughput
    model: {{n_params: 8030000000, n_layers: 32, d_model: 4096, n_heads: 32, n_kv_heads: 8,
            d_ff: 14336, vocab_size: 128256, gated_ffn: true, seq_len_tokens: 8192}}
    hardware: {{chip: H100-SXM-80GB, n_chips: 8}}
    parallelism: {degrees}
    run: {{precision: bf16}}
    measured: {{tokens_per_s_per_chip: 9000}}
    source: {{key: acme, where: log}}
"""
STUDY = "model: llama-3-8b\nchip: h100-sxm\nbatch-tokens: 4Mi\n"
PREDICT = [
    *("predict", "--model", "llama-3-8b", "--chip", "h100-sxm"),
    *("--chips", "8", "--batch-tokens", "4Mi"),
]
SOUND = "{tp: 4, dp: 2}"
WRONG = "{tp: 4, dp: 3}"


def written(folder: Path, *degrees: str, more: str = "") -> Path:
    rows = [ROW.format(number=number, degrees=one) for number, one in enumerate(degrees)]
    path = folder / "mine.yaml"
    head = "sources:\n  acme: {title: mine, year: 2026}\nrows:\n"
    path.write_text(head + "".join(rows) + more, encoding="utf-8")
    return path


def test_validate_refuses_the_row_at_its_place_and_answers_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, WRONG, SOUND)
    assert run(["validate", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    rows = {row["id"]: row for row in json.loads(out)["rows"]}
    assert "refused" in rows["run-0"] and rows["run-1"]["predicted"] > 0
    (line,) = err.splitlines()
    assert "mine.yaml:9:18: run: found tp 4 x dp 3 = 12, expected a product of 8 chips" in line
    assert line.endswith(f"mend a degree, or flag {WRONG_DEGREES}")


@pytest.mark.parametrize("degrees", [SOUND, "{tp: 4}", "{tp: 16, parallel_unit: NeuronCore}"])
def test_degrees_that_make_the_chips_are_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], degrees: str
) -> None:
    assert run(["validate", str(written(tmp_path, degrees))]) == 0
    assert not capsys.readouterr().err


def test_a_row_that_owns_up_is_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, WRONG, more=f"    flags: [{WRONG_DEGREES}]\n")
    assert run(["validate", str(path)]) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize("command", [PREDICT, ["validate"]])
def test_nothing_is_calibrated_on_a_file_with_such_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Three sound rows would be enough: the wrong one is not left out without a word."""
    path = written(tmp_path, SOUND, SOUND, SOUND, "{tp: 3}")
    assert run([*command, "--calibrate", str(path)]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert not out and "mine.yaml:" in line
    assert "found tp 3 = 3, expected a divisor of the 8 chips" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("chips: 8\ntp: 4\ndp: 3\n", "6:5: study: found tp 4 x dp 3 = 12, expected a product of 8"),
        ("chips: 8\ntp: 3\n", "5:5: study: found tp 3 = 3, expected a divisor of the 8 chips"),
        ("tp: [3, 5]\nchips: [8, 16]\n", "4:6: study: found tp 3 = 3, expected a divisor of the 8"),
    ],
)
def test_a_study_of_degrees_that_never_make_the_chips_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY + options, encoding="utf-8")
    assert run(["study", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"study.yaml:{message}" in line and "mend a degree" in line
    assert not path.with_suffix(".study").exists()


def test_a_study_keeps_combinations_of_which_some_make_the_chips(tmp_path: Path) -> None:
    from flopbook.planning.study import read_study

    path = tmp_path / "study.yaml"
    path.write_text(STUDY + "chips: [8, 9]\ntp: [3, 4]\n", encoding="utf-8")
    assert len(read_study(path).cases) == 4
