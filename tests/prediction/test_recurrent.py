"""What a prediction says of the kernels that it does not time in layers with a recurrent state."""

from __future__ import annotations

from statistics import median

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.prediction.asking import predict
from flopbook.prediction.recurrent import NARROW_RUNS, TIMES_TOO_FAST, left_out
from flopbook.prediction.validation import Comparison, validate

KIND = "training_throughput"


def narrow_lines() -> list[Comparison]:
    """Measured runs of models with recurrent states in 8 and 4 bits."""
    training = (line for line in validate(run_files().values()).lines if line.case.row.kind == KIND)
    return [line for line in training if left_out(line.case.inputs)]


def test_the_size_that_is_told_is_that_of_the_runs() -> None:
    """Predicted over measured rates of runs that no fit has seen."""
    lines = narrow_lines()
    assert len(lines) == NARROW_RUNS
    assert all(line.case.row.use == "check" for line in lines)
    assert median(1 + line.error for line in lines) == pytest.approx(TIMES_TOO_FAST, rel=0.05)


@pytest.mark.parametrize(
    ("model", "dtype", "is_told"),
    [
        ("nemotron-3-super-120b-a12b", "fp8", True),
        ("nemotron-3-super-120b-a12b", "bf16", False),
        ("llama-3-70b", "fp8", False),
    ],
)
def test_answers_tell_it_where_it_counts(model: str, dtype: str, is_told: bool) -> None:
    found = predict({"model": model, "chip": "gb300", "chips": "64", "dtype": dtype})
    assert any("recurrent states" in name for name in found.inferred) == is_told
