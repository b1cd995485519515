"""The fit finds what made the data, ignores outliers, and is the one that is committed."""

from __future__ import annotations

import functools
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.measured_runs import run_files
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of, fitted, left_out_errors, predicted
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.fitting import ROBUST, Objective, Together, fit, optimum
from flopbook.prediction.validation import (
    GATES,
    GROUPINGS,
    Validation,
    grouped,
    summary_of,
    validate,
)
from scripts.fit import fit_kind

RNG = np.random.default_rng(1)
SIZES = np.linspace(1, 9, 40)


@functools.cache
def validated() -> Validation:
    """All published runs beside what is predicted for them; it takes a second."""
    return validate(run_files().values())


def objective(measured: np.ndarray, spread: float = 3.0) -> Objective:
    """A line through the origin on doubly logarithmic paper: a factor and a power."""
    return Objective(
        lambda points: points[:, :1] + np.exp(points[:, 1:]) * np.log(SIZES),
        measured=measured,
        weights=np.ones(len(SIZES)),
        start=np.array([1.0, 1.0]),
        spread=np.array([spread, spread]),
    )


@given(st.floats(0.2, 5), st.floats(0.4, 2))
def test_a_fit_finds_what_made_the_data(factor: float, power: float) -> None:
    point = fit(objective(factor * SIZES**power))
    assert np.exp(point) == pytest.approx([factor, power], rel=0.02)


def test_an_outlier_pulls_but_does_not_rule() -> None:
    measured = 2 * SIZES
    measured[7] *= 50
    assert np.exp(fit(objective(measured)))[0] == pytest.approx(2, rel=0.05)


def test_what_a_group_has_in_common_does_not_bend_a_slope() -> None:
    """Large sizes come from a source that is off by a factor: within groups the power is right."""
    groups = (SIZES > 5).astype(int)
    measured = 2 * SIZES * np.where(groups == 1, 1.3, 1.0)
    plain = objective(measured)
    parts = (plain.predict, measured, plain.weights, np.array([1.0, 1.0]), np.array([3.0, 3.0]))
    bent, straight = fit(plain), fit(Objective(*parts, Together(groups, 0.3)))
    assert len(straight) == 2
    assert abs(straight[1]) < 0.5 * abs(bent[1])
    assert fit(Objective(*parts, Together(groups, 1e-6))) == pytest.approx(bent, abs=1e-4)


def test_a_strong_prior_holds() -> None:
    assert np.exp(fit(objective(5 * SIZES, spread=1e-3)))[0] == pytest.approx(1, rel=0.05)


def test_a_fit_knows_what_it_leaves_open() -> None:
    """Of a factor: the width of its prior, over as many runs as there are and the robust size."""
    problem = Objective(
        lambda points: np.repeat(points, len(SIZES), axis=1),
        measured=np.full(len(SIZES), 1.5),
        weights=np.ones(len(SIZES)),
        start=np.array([1.5]),
        spread=np.array([0.3]),
    )
    found = optimum(problem)
    assert np.exp(found.point) == pytest.approx([1.5])
    information = len(SIZES) / ROBUST**2 + 1 / 0.3**2
    assert found.covariance == pytest.approx(np.array([[1 / information]]))


def test_a_left_out_group_is_not_seen() -> None:
    """Wrong values of a group change the errors of its own rows only by their own ratio."""
    model = MODELS["p2p_bandwidth"]
    cases = cases_of(model, run_files().values()).cases
    before = left_out_errors(model, cases, lambda case: case.row.id)
    doubled = [cases[0]._replace(measured=2 * cases[0].measured), *cases[1:]]
    after = left_out_errors(model, doubled, lambda case: case.row.id)
    assert 1 + after[0] == pytest.approx((1 + before[0]) / 2, rel=1e-6)


@pytest.mark.parametrize("kind", MODELS)
def test_the_committed_parameters_are_those_of_the_runs(kind: str) -> None:
    """Rebuilt from the rows marked `fit` and the data of today, as `scripts.fit --check` does."""
    rebuilt = fit_kind(MODELS[kind], with_bands=False)
    committed = fitted_kinds()[kind]
    assert rebuilt["parameters"] == pytest.approx(dict(committed.parameters), rel=1e-4)
    assert rebuilt["residuals"] == pytest.approx(dict(committed.residuals), abs=2e-3)
    assert rebuilt["moves"].keys() == committed.moves.keys() == MODELS[kind].priors.keys()
    for name, row in committed.moves.items():
        assert rebuilt["moves"][name] == pytest.approx(row, abs=1e-4), name


def test_a_generation_without_rows_is_taken_as_chips_in_general() -> None:
    """What all reach is learnt from all; a generation moves away from it as its rows insist."""
    p = fitted_kinds()["matmul_peak"].parameters
    assert 0.8 < p["best"] < 0.9
    assert p["best_neuron"] == pytest.approx(1, rel=1e-6)
    assert p["best_cdna"] < 1 < p["best_gaudi"]


def test_left_out_sources_of_matmul_rates_are_met() -> None:
    """The median error without a source; 11.9 percent while each generation stood alone."""
    model = MODELS["matmul_peak"]
    cases = cases_of(model, run_files().values(), use="fit").cases
    errors = left_out_errors(model, cases, lambda case: case.source, 1000)
    sizes = np.abs(errors[np.array([case.is_sound for case in cases])])
    assert np.median(sizes) < 0.08 and np.mean(sizes) < 0.125


def test_only_rows_marked_for_it_are_fitted() -> None:
    fit_ids = {row.id for file in run_files().values() for row in file.rows if row.use == "fit"}
    for known in fitted_kinds().values():
        assert set(known.residuals) <= fit_ids


def test_a_row_to_check_changes_no_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit is the same with a wild measurement beside the rows, unless that is marked `fit`."""
    model = MODELS["p2p_bandwidth"]
    files = dict(run_files())
    name, file, row = next(
        (name, file, row)
        for name, file in files.items()
        for row in file.rows
        if row.kind == model.kind
    )
    wild = row._replace(id="wild", measured={"bandwidth_gb_per_s": 1.0})
    before = fit_kind(model, with_bands=False)["parameters"]
    for use, is_seen in (("check", False), ("fit", True)):
        rows = (*file.rows, wild._replace(use=use))
        changed = {**files, name: file._replace(rows=rows)}
        monkeypatch.setattr("scripts.fit.run_files", lambda changed=changed: changed)
        assert (fit_kind(model, with_bands=False)["parameters"] != before) == is_seen


def test_no_parameter_is_of_one_row_or_paper() -> None:
    """A few dozen parameters for all rows; every kind has more rows than parameters it needs."""
    ids = {row.id for file in run_files().values() for row in file.rows}
    names = {name for model in MODELS.values() for name in model.priors}
    assert not names & ids
    assert len(MODELS["training_throughput"].priors) < 70


def test_errors_stay_where_they_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates on the rows of the fit: a change that makes them worse is a mistake or a decision."""
    assert GATES.keys() == MODELS.keys()
    found = validated()
    assert found.failed_gates() == ()
    monkeypatch.setitem(GATES, "collective", 1e-6)
    (said,) = found.failed_gates()
    assert said.startswith("collective: the median error is")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert run(["validate"]) == 1


def test_nearly_all_complete_rows_are_answered() -> None:
    files = list(run_files().values())
    complete = {row.id for file in files for row in file.rows if row.complete}
    refused = {row_id for row_id, _, _ in validated().refused}
    assert len(refused & complete) < 0.05 * len(complete)


@pytest.mark.parametrize("kind", ["collective", "training_memory"])
def test_bands_are_those_of_rows_that_were_left_out(kind: str) -> None:
    """Of kinds without parameters of their own, bands are quick to make: the committed ones."""
    rebuilt = fit_kind(MODELS[kind], with_bands=True)["bands"]
    assert rebuilt == pytest.approx(dict(fitted_kinds()[kind].bands), rel=1e-3)


def test_the_paper_of_selective_recomputation_is_met_by_a_fit_that_never_saw_it() -> None:
    """Korthikanti et al. 2023, Table 5: step times of four models on A100.

    The fit leaves both sources of the paper out. The largest error is below the 8.87 percent of
    Calculon on the table, the mean below its 3.65.
    """
    model, table = MODELS["training_throughput"], "korthikanti2022-t5"
    cases = cases_of(model, run_files().values(), use="fit").cases
    p = fitted(model, [case for case in cases if not case.source.startswith("korthikanti2022")])
    left_out = [case for case in cases if case.source == table]
    measured = np.array([case.measured for case in left_out])
    errors = np.abs(predicted(model, left_out, p) / measured - 1)
    assert len(errors) == 4 and np.mean(errors) < 0.0365 and max(errors) < 0.0887


def test_validation_has_one_line_for_every_row() -> None:
    files = list(run_files().values())
    record = validated().record()
    ids = [row["id"] for row in record["rows"]]
    assert sorted(ids) == sorted(row.id for file in files for row in file.rows)
    for row in record["rows"]:
        if "refused" in row:
            assert set(row) == {"id", "kind", "refused"} and row["refused"]
        else:
            assert row["low"] <= row["predicted"] <= row["high"] and row["measured"] > 0
            assert row["error"] == pytest.approx(row["predicted"] / row["measured"] - 1)
    assert sum(kind["n"] + kind["refused"] for kind in record["kinds"].values()) == len(ids)


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_have_every_row_once(by: str) -> None:
    found = validated()
    kinds = found.record()["kinds"]
    for kind, groups in grouped(found, by).items():
        assert sum(group["n"] for group in groups.values()) == kinds[kind]["n"]
        counts = [group["n"] for group in groups.values()]
        assert counts == sorted(counts, reverse=True)
    assert len(grouped(found, by)["training_throughput"]) > 1


def test_the_command_tells_groups_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "--by", "experts", "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert set(groups["training_throughput"]) == {"dense", "mixture"}
    assert run(["validate", "--by", "experts"]) == 0
    assert "mixture" in capsys.readouterr().out
    assert run(["validate", "--by", "weather"]) == 2
    assert "unknown grouping 'weather'" in capsys.readouterr().err


def test_an_empty_table_says_so() -> None:
    assert summary_of([])["n"] == 0 and summary_of([])["median"] is None


FILE = """\
sources:
  acme: {title: A test, year: 2025}
rows:
  - id: mine
    kind: matmul_peak
    hardware: {chip: H100-SXM-80GB}
    run: {precision: bf16, matmul_shape_mxnxk: 8192x8192x8192}
    measured: {matmul_tflops_per_s: 700}
    source: {key: acme}
"""


def flopbook(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flopbook", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_file_of_ones_own_runs_is_validated(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(FILE, encoding="utf-8")
    result = flopbook("validate", str(path), "--json")
    assert result.returncode == 0 and not result.stderr
    (line,) = json.loads(result.stdout)["rows"]
    assert line["id"] == "mine" and line["unit"] == "FLOP/s" and line["measured"] == 7e14
    assert 0.5 < line["predicted"] / 7e14 < 1.5
    shown = flopbook("validate", str(path), "--rows").stdout
    assert "matmul_peak" in shown and "mine" in shown


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("measured:", "measurd:", "found no 'measured'"),
        ("kind: matmul_peak", "kind: matmul", "one of"),
        ("key: acme", "key: emca", "one of acme"),
    ],
)
def test_a_wrong_field_is_one_line_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(FILE.replace(old, new), encoding="utf-8")
    result = flopbook("validate", str(path), "--json")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "mine.yaml:" in result.stderr and said in result.stderr
    (line,) = json.loads(result.stdout)["rows"]
    assert line["id"] == "mine" and said in line["refused"]


def test_a_missing_file_is_one_line() -> None:
    result = flopbook("validate", "nowhere.yaml")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and "nowhere.yaml" in result.stderr
