"""Calibration finds a factor that runs share, and reads nothing but runs of its kind."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.runs import MeasuredRun, RunFile, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.bands import AS_FITTED, Adjustment
from flopbook.prediction.calibration import LEAST_ROWS, calibrated, calibrations
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import validate
from tests.prediction.test_own_runs import EXAMPLES, raw, written
from tests.prediction.test_step_time import row

SOURCES = {"acme": RunSource(year=2025)}
DEGREES = (2, 4, 8, 1)
KIND = "training_throughput"


def predicted(rows: list[MeasuredRun], adjustment: Adjustment = AS_FITTED) -> list[float]:
    """What is predicted for some runs, in tokens per second and chip."""
    measured = [one._replace(measured={"tokens_per_s_per_chip": 1.0}) for one in rows]
    file = RunFile(SOURCES, tuple(measured))
    return [line.predicted for line in validate([file], (), {KIND: adjustment}).lines]


def runs(factor: float, count: int = 3, noise: tuple[float, ...] = (1.0,)) -> RunFile:
    """Runs that reach `factor` times what is predicted, times a noise each."""
    rows = [row(tp=tp, dp=64 // tp)._replace(id=f"run-{tp}", kind=KIND) for tp in DEGREES[:count]]
    values = predicted(rows)
    measured = [
        one._replace(measured={"tokens_per_s_per_chip": factor * value * noise[place % len(noise)]})
        for place, (one, value) in enumerate(zip(rows, values, strict=True))
    ]
    return RunFile(SOURCES, tuple(measured))


@given(st.floats(0.5, 2), st.integers(LEAST_ROWS, len(DEGREES)))
def test_a_common_factor_is_recovered(factor: float, count: int) -> None:
    found = calibrated(KIND, [runs(factor, count)])
    assert found.rows == count
    assert found.factor == pytest.approx(factor, rel=1e-9)
    assert found.error_before == pytest.approx(abs(1 / factor - 1), abs=1e-9)
    # Each of three is predicted by two, which know less surely that they share it.
    assert found.error_after == pytest.approx(0, abs=1e-4)
    assert 1 < found.band < fitted_kinds()[KIND].bands[""]
    file = runs(factor, count)
    for line in validate([file], (), {KIND: found.adjustment}).lines:
        assert line.error == pytest.approx(0, abs=1e-9)


def test_runs_that_scatter_move_less_and_narrow_less() -> None:
    quiet, loud = runs(1.3), runs(1.3, noise=(0.75, 1.0, 1 / 0.75))
    steady, moved = calibrated(KIND, [quiet]), calibrated(KIND, [loud])
    assert 1 < moved.factor < steady.factor
    assert moved.band > steady.band


def test_runs_that_differ_by_a_parameter_move_it() -> None:
    """On a machine with slow links the runs tell which layouts lose, as no factor can."""
    known = fitted_kinds()[KIND]
    slow = {**known.parameters, "tp_exposed": 3 * known.parameters["tp_exposed"]}
    rows = [row(tp=tp, dp=64 // tp)._replace(id=f"run-{tp}", kind=KIND) for tp in (1, 2, 4, 8)]
    values = predicted(rows, Adjustment(parameters=slow))
    measured = [
        one._replace(measured={"tokens_per_s_per_chip": value})
        for one, value in zip(rows, values, strict=True)
    ]
    own, other = RunFile(SOURCES, tuple(measured[1:])), RunFile(SOURCES, tuple(measured[:1]))
    found = calibrated(KIND, [own])
    assert found.adjustment.parameters["tp_exposed"] > 1.5 * known.parameters["tp_exposed"]
    (line,) = validate([other], (), {KIND: found.adjustment}).lines
    assert found.factor < 0.92, "the run without links would be as much too slow by a factor"
    assert abs(line.error) < 0.7 * (1 - found.factor)


def test_runs_in_a_wrong_unit_still_give_numbers() -> None:
    file = runs(1e30)
    found = calibrated(KIND, [file])
    (line, *_) = validate([file], (), {KIND: found.adjustment}).lines
    assert math.isfinite(found.factor) and math.isfinite(line.predicted) and line.predicted > 0


def test_more_runs_narrow_more() -> None:
    assert calibrated(KIND, [runs(1.3, 4)]).band < calibrated(KIND, [runs(1.3, 3)]).band


def test_rows_of_other_kinds_are_not_read() -> None:
    mine = runs(1.2)
    other = [one for one in EXAMPLES if one["kind"] == "inference"]
    assert other
    wild = MeasuredRun(
        id="wild",
        kind="matmul_peak",
        publication="acme",
        where="",
        measured={"matmul_tflops_per_s": 1e-9},
        hardware={"chip": "H100-SXM"},
        run={"matmul_shape_mxnxk": "64x64x64"},
    )
    both = RunFile(SOURCES, (*mine.rows, wild, wild, wild))
    assert calibrated(KIND, [both]) == calibrated(KIND, [mine])
    assert set(calibrations([both])) == {KIND, "matmul_peak"}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_runs_say_nothing(count: int) -> None:
    file = RunFile(SOURCES, runs(1.2).rows[:count])
    with pytest.raises(FlopbookError, match="3 or more rows of training_throughput"):
        calibrated(KIND, [file])
    assert calibrations([file]) == {}


def test_the_command_says_by_how_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, [raw(one) for one in runs(1.5).rows], {"acme": {"year": 2025}})
    before, after = (_record(path, capsys, *more) for more in ([], ["--calibrate", str(path)]))
    assert before["kinds"][KIND]["median"] == pytest.approx(1 - 1 / 1.5, rel=1e-6)
    assert after["kinds"][KIND]["median"] == pytest.approx(0, abs=1e-9)
    said = after["calibration"][KIND]
    assert said["factor"] == pytest.approx(1.5) and said["rows"] == 3
    for one, other in zip(before["rows"], after["rows"], strict=True):
        assert math.log(other["high"] / other["low"]) < math.log(one["high"] / one["low"])
    assert run(["validate", str(path), "--calibrate", str(path)]) == 0
    assert "calibrated training_throughput on 3 runs: x 1.500" in capsys.readouterr().out


def _record(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    assert run(["validate", str(path), "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def test_too_few_runs_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, [raw(one) for one in runs(1.5).rows[:2]])
    assert run(["validate", str(path), "--calibrate", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "3 or more rows" in err and "mine.yaml" in err
