"""Parts of a serving row: bytes that cross the memory bus, launches that show, cores and chips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.prediction.fits import cases_of, left_out_errors
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import machine
from flopbook.prediction.serving import (
    DECODE,
    MODEL,
    PREFILL,
    predict,
    serving_of,
)
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import full_batch, held_weights
from flopbook.prediction.serving_parts import prompt_launches
from tests.support.serving_rows import LLAMA_2, served

P = fitted_kinds()["inference"].parameters


def row(chips: int = 8, tp: int = 8, **run: Any) -> MeasuredRun:
    return served(chips=chips, tp=tp, **{"phase": "decode", "batch_seqs": 64, **run})


def seconds(case: MeasuredRun, year: int | None = None, **changes: Any) -> float:
    return float(predict([serving_of(case, year)[0]._replace(**changes)], P)[0])


def test_kernels_that_widen_weights_move_five_bytes_for_one() -> None:
    """Weights of 8 bits are read, written in 16 and read again: slower than 16 bits, not faster."""
    plain, narrow = row(software="DeepSpeed-Inference"), row(precision="int8", software="vllm")
    widened = serving_of(row(precision="int8", software="DeepSpeed-Inference"))[0]
    assert widened.moved_bytes == 5 and serving_of(narrow)[0].moved_bytes == 1
    assert serving_of(plain)[0].moved_bytes == 2
    assert widened.weight_bytes == 1  # what the memory holds stays narrow
    one = {"batch_seqs": 1, "software": "DeepSpeed-Inference"}
    assert seconds(row(precision="int8", **one)) > seconds(row(**one))


def test_kernels_of_2023_read_the_cache_for_each_query_head() -> None:
    """Then sharing keys and values among heads saved memory and no time."""
    long = row(input_len_tokens=8192)
    assert serving_of(long, 2023)[0].cache_reads == 8
    assert serving_of(long, 2024)[0].cache_reads == serving_of(long)[0].cache_reads == 1
    assert seconds(long, 2023) > 2 * seconds(long, 2024)
    assert seconds(long, 2023, cache_reads=1.0) == pytest.approx(seconds(long))


def test_cores_are_no_chips() -> None:
    """A source that counts two cores to a chip has no more memory bandwidth than its chips."""
    assert seconds(row(chips=4, tp=8)) == pytest.approx(seconds(row(chips=4, tp=4)))


@given(st.floats(1e-6, 1.0), st.sampled_from(["h100-sxm", "gaudi-3", "tpu-v5e"]))
def test_launches_hide_behind_longer_work_and_never_shorten_a_pass(work: float, chip: str) -> None:
    runs_on = machine(chip)
    shown = float(prompt_launches(runs_on, 80.0, P["prompt_launch"], work, P))
    whole = work + shown
    assert shown > 0
    if runs_on.generation == "hopper":
        assert whole >= max(work, 80 * P["prompt_launch"])
        assert shown <= 80 * P["prompt_launch"]
    else:
        assert shown == pytest.approx(80 * P["layer_seconds"])


def test_a_first_token_of_a_short_prompt_waits_for_launches() -> None:
    short, long = row(input_len_tokens=16), row(input_len_tokens=4096)
    least = 80 * P["prompt_launch"]
    each = {"task": PREFILL, "batch": 1.0}
    assert seconds(short, **each) > least
    assert seconds(long, **each) > 2 * seconds(short, **each)


def test_input_embeddings_are_looked_up_and_not_read() -> None:
    large = row()._replace(model={**LLAMA_2, "n_params": 68976648192 + 10**9})
    alone = {"task": DECODE, "batch": 1.0}
    assert seconds(large, **alone) == pytest.approx(seconds(row(), **alone))


def test_a_left_out_engine_is_predicted_within_an_eighth() -> None:
    """Half of the sound rows, by fits that saw nothing of their source."""
    cases = cases_of(MODEL, run_files().values(), use="fit").cases
    errors = left_out_errors(MODEL, cases, lambda case: case.source, 1000)
    sizes = np.abs(errors[np.array([case.is_sound for case in cases])])
    assert np.median(sizes) < 0.125 and np.mean(sizes) < 0.14


LOAD: dict[str, Any] = {
    "phase": "prefill+decode, max load",
    "input_len_tokens": 1024,
    "output_len_tokens": 1024,
    "batch_seqs": None,
}


def rate(chips: int, degrees: dict[str, int], **run: Any) -> float:
    """Tokens per second of all chips at full load."""
    return seconds(row(chips=chips, **{**LOAD, **run})._replace(parallelism=degrees))


@given(st.sampled_from((2, 4, 8)))
def test_layers_that_are_split_over_chips_wait_for_each_other(chips: int) -> None:
    """One chip works at a time: no step is shorter than with all layers on one."""
    split = row(chips=chips, batch_seqs=1)._replace(parallelism={"strategy": "layers split"})
    alone = row(chips=1, batch_seqs=1)._replace(parallelism={})
    assert seconds(split) == pytest.approx(seconds(alone))


@given(st.sampled_from((4, 8)), st.integers(2, 8))
def test_replicas_are_that_many_times_as_fast(tp: int, copies: int) -> None:
    assert rate(tp * copies, {"tp": tp}) == pytest.approx(copies * rate(tp, {"tp": tp}))
    held = serving_of(row(chips=tp * copies, tp=tp))[0]
    assert held_weights(held) == pytest.approx(copies * held_weights(serving_of(row(tp, tp))[0]))


def test_stages_work_side_by_side() -> None:
    """Two stages hold twice the sequences of one chip and more than double what it answers."""
    assert rate(4, {"tp": 2, "pp": 2}) > 1.5 * rate(2, {"tp": 2})
    assert serving_of(row(4)._replace(parallelism={"pp": 2}))[0].tp == 2


def test_ranks_of_attention_hold_a_latent_cache_once() -> None:
    """Tensor-parallel ranks would each have a copy of it; their weights are one to a model."""
    latent = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
    mixture = {"n_experts": 64, "experts_per_token": 6, "moe_d_ff": 2048, "n_params": 2e11}
    model = {**LLAMA_2, **latent, "v_head_dim": 128, **mixture}

    def served(degrees: dict[str, int]) -> Serving:
        asked = row(**LOAD, precision="fp8")._replace(model=model, parallelism=degrees)
        return serving_of(asked)[0]

    ranks, tensor = served({"dp": 8, "ep": 8}), served({"tp": 8})
    assert (ranks.tp, ranks.ranks, ranks.replicas) == (1, 8, 1)
    assert full_batch(ranks, P) > 3 * full_batch(tensor, P)
    assert held_weights(ranks) > held_weights(tensor)
    # Experts that every chip has make replicas of what would be ranks.
    assert served({"dp": 8}).replicas == 8
