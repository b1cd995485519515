"""The ablation takes away what it says, and its committed errors are those of the runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from flopbook.errors import UnknownName
from flopbook.prediction.fits import predicted
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.step_time import StepParts, step_parts
from flopbook.prediction.training import MODEL
from scripts.fit_ablation import (
    FILE,
    NOT_ALONE,
    PIECES,
    errors_of,
    fitted_cases,
    kept_seconds,
    without,
)
from scripts.website.measured.ablation import ablation, line_of

CASES = fitted_cases()
PARAMETERS = fitted_kinds()[MODEL.kind].parameters
RUNS = Layouts([case.inputs for case in CASES])


def test_nothing_missing_is_the_prediction_itself() -> None:
    assert without(()).priors == PRIORS
    assert predicted(without(()), CASES, PARAMETERS) == pytest.approx(
        predicted(MODEL, CASES, PARAMETERS)
    )


def test_parts_that_are_dropped_shorten_the_step_and_nothing_lengthens_it() -> None:
    """By their seconds and by their share of what follows from them; all of them leave nothing."""
    parts = step_parts(RUNS, PARAMETERS)
    assert kept_seconds(parts, set()) == pytest.approx(parts.seconds)
    for name in StepParts._fields:
        kept, part = kept_seconds(parts, {name}), getattr(parts, name)
        assert np.all(kept <= parts.seconds - part + 1e-9 * parts.seconds), name
        assert np.all(kept >= 0)
    assert np.all(kept_seconds(parts, set(StepParts._fields)) == 0)


def test_every_piece_names_parts_and_parameters_that_exist_and_does_something() -> None:
    whole = predicted(MODEL, CASES, PARAMETERS)
    for piece in PIECES:
        assert set(piece.drops) <= set(StepParts._fields), piece.name
        assert {*piece.held, *piece.tied, *piece.tied.values()} <= set(PRIORS), piece.name
        model = without([piece])
        assert not set(model.priors) & set(piece.held), piece.name
        free = {name: PARAMETERS[name] for name in model.priors}
        assert np.max(np.abs(predicted(model, CASES, free) / whole - 1)) > 0.01, piece.name
    assert {name for piece in PIECES for name in piece.drops} <= set(StepParts._fields) - {
        "products",
        "experts",
        "head",
    }, "the bare roofline keeps the products of the weights"


def test_without_any_piece_the_arithmetic_runs_at_the_printed_peak() -> None:
    """Six FLOPs of each weight that multiplies, over the peak: no run can be faster.

    Two of them are gradients, which only weights that are trained get.
    """
    bare = without(PIECES)
    free = {name: PARAMETERS[name] for name in bare.priors}
    tokens = predicted(bare, CASES, free)
    for case, rate in zip(CASES, tokens, strict=True):
        run = case.inputs
        peak = {"fp8": run.machine.peak_8bit, "fp4": run.machine.peak_4bit}.get(
            run.precision, run.machine.peak_16bit
        )
        assert rate * (4 + 2 * run.trained) * run.shape.layer_weights <= peak * 1.001, case.row.id


def test_the_committed_errors_are_those_of_the_runs() -> None:
    """The first lines and the last are fitted again; the others came from the same command."""
    committed = json.loads(FILE.read_text(encoding="utf-8"))
    names = [piece.name for piece in PIECES]
    assert [line["name"] for line in committed["added"]] == ["bare", *names]
    assert [line["name"] for line in committed["left_out"]] == [
        name for name in names if name not in NOT_ALONE
    ]
    assert committed["rows"] == sum(case.is_sound for case in CASES)
    for place, missing in ((0, PIECES), (1, PIECES[1:]), (-1, ())):
        line = committed["added"][place]
        found = errors_of(without(missing), CASES)
        message = f"{line['label']}: run python -m scripts.fit_ablation"
        assert found["median"] == pytest.approx(line["median"], abs=0.01), message
        assert found["mean"] == pytest.approx(line["mean"], rel=0.1), message


def test_more_pieces_bring_the_error_down_to_a_third() -> None:
    """What the picture says; the whole is the best line but for noise."""
    found = ablation()
    assert found.whole.median < found.added[1].median / 2 < found.added[0].median / 2
    assert all(line.mean > found.whole.mean - 0.01 for line in found.left_out)
    with pytest.raises(UnknownName, match="bubbel"):
        line_of(found.added, "bubbel")
