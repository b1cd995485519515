"""A run that states no layout is given one that somebody would choose, and only where it must."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.runs import MeasuredRun
from flopbook.prediction.layouts import RunLayout, training_run
from flopbook.prediction.machines import machine
from flopbook.prediction.transformers import transformer
from flopbook.prediction.usual_layouts import SAID, STATE_SHARE, usual_degrees

LARGE = {"n_layers": 126, "d_model": 16384, "n_heads": 128, "n_kv_heads": 8, "d_ff": 53248}
LARGE |= {"vocab_size": 128256, "n_params": 405853388800, "seq_len_tokens": 8192}
SMALL = {"n_layers": 32, "d_model": 4096, "n_heads": 32, "d_ff": 14336, "vocab_size": 128256}
SHAPE, H100 = transformer(LARGE), machine("H100-SXM-80GB")


def run_of(chips: int, run: dict[str, Any] | None = None, **degrees: Any) -> RunLayout:
    row = MeasuredRun(
        id="one",
        kind="training_throughput",
        publication="acme",
        where="",
        measured={},
        model=LARGE,
        hardware={"chip": "H100-SXM-80GB", "n_chips": chips},
        parallelism=degrees,
        run={"software": "NeMo", **(run or {})},
    )
    return training_run(row, 2025)


def test_a_large_model_is_cut_inside_the_node_and_then_into_stages() -> None:
    """As NVIDIA ran it in MLPerf Training 5.0 on 512 H100: tensor 8, pipeline 8."""
    found = usual_degrees({}, SHAPE, H100, 512, 256)
    assert found == {"tp": 8, "pp": 8, "cp": 1, "dp": 8}
    laid = run_of(512, global_batch_seqs=1152)
    assert (laid.tp, laid.pp, laid.dp) == (1, 1, 512)  # sequences suffice, so it shards
    laid = run_of(2048, global_batch_seqs=1152)
    assert laid.tp == 8 and laid.pp > 1 and laid.inferred[0] == "layout"


@pytest.mark.parametrize("name", SAID)
def test_what_a_run_says_of_its_layout_is_kept(name: str) -> None:
    assert usual_degrees({name: 1}, SHAPE, H100, 2048, 64) == {}


def test_nothing_is_chosen_where_sharding_over_all_chips_does() -> None:
    assert usual_degrees({}, transformer(SMALL), H100, 64, 512) == {}
    assert usual_degrees({}, transformer(SMALL), H100, 1, None) == {}
    assert usual_degrees({}, SHAPE, machine("tpu-v5p"), 2048, 64) == {}


@given(st.sampled_from([64, 96, 512, 2560, 8192]), st.integers(1, 4096))
def test_degrees_make_the_chips_and_what_is_held_fits(chips: int, batch: int) -> None:
    found = usual_degrees({}, SHAPE, H100, chips, batch)
    if not found:
        assert batch >= chips and 16 * SHAPE.parameters / chips <= H100.memory
        return
    assert math.prod(found.values()) == chips and found["tp"] <= 8
    cut = found["tp"] * found["pp"]
    held = SHAPE.parameters / cut * (4 + 12 * cut / chips)
    assert held <= STATE_SHARE * H100.memory or cut >= chips // 3 or chips % (2 * cut)


def test_a_submission_to_mlperf_is_in_8_bits_where_the_chip_has_them() -> None:
    laid = run_of(2048, {"benchmark": "MLPerf Training v5.1"}, global_batch_seqs=1152)
    assert laid.precision == "fp8" and "number format" in laid.inferred
    stated = run_of(2048, {"benchmark": "MLPerf Training v5.1", "precision": "bf16"}, tp=8, pp=8)
    assert stated.precision == "bf16" and "number format" not in stated.inferred
    assert run_of(2048, tp=8, pp=8).precision == "bf16"
