"""Adapters of torchtune's table of savings keep their activations on the host."""

from __future__ import annotations

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.prediction import memory
from flopbook.prediction.fits import cases_of, predicted

ROWS = {"torchtune-3b-lora-mem": 0.15, "torchtune-3b-qlora-mem": 0.15}
CASES = {case.row.id: case for case in cases_of(memory.MODEL, run_files().values()).cases}


@pytest.mark.parametrize("row", ROWS)
def test_what_is_offloaded_is_not_on_the_device(row: str) -> None:
    """The command of the last row has `enable_activation_offloading=True` (README of torchtune)."""
    offloaded = CASES["torchtune-3b-activation-offload-mem"].inputs.options
    adapters = CASES[row].inputs.options
    for option in ("activation_bytes", "logit_bytes", "loss_chunks"):
        assert adapters[option] == offloaded[option]


@pytest.mark.parametrize(("row", "within"), ROWS.items())
def test_adapters_take_what_was_measured(row: str, within: float) -> None:
    case = CASES[row]
    assert predicted(memory.MODEL, [case], {})[0] == pytest.approx(case.measured, rel=within)
