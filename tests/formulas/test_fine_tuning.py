"""Fine-tuning: trained parameters, memory and arithmetic; laws and published runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError
from flopbook.formulas import fine_tuning, memory
from tests.support.tuning import LLAMA_2_7B, tuned

GIB = 2**30
PARTS = (
    *("weights", "gradients", "optimizer", "activations", "logits"),
    *("gathered", "working", "step", "reserved", "context"),
)
LLAMA_3B: dict[str, Any] = {
    "params": 3212749824,
    "compute_params": 3212749824,
    "layers": 28,
    "d_model": 3072,
    "heads": 24,
    "kv_heads": 8,
    "vocab": 128256,
    "d_ff": 8192,
    "tied_embeddings": "yes",
    "seq": 4096,
    "micro_batch": 2,
}
LLAMA_70B: dict[str, Any] = {
    "params": 70553706496,
    "compute_params": 70553706496 - 128256 * 8192,
    "layers": 80,
    "d_model": 8192,
    "heads": 64,
    "kv_heads": 8,
    "vocab": 128256,
    "d_ff": 28672,
    "seq": 2048,
    "micro_batch": 2,
}
# What PyTorch allocates, with states in pure bf16, as torchtune and LitGPT report them.
TENSORS = {"reserve": 0, "context_bytes": 0, "optimizer_kind": "adam-pure"}
SAVING = {"recompute": "full", "offload": "yes", "loss_chunks": 8}
LITGPT = {**TENSORS, "rank": 8, "adapted": "qv", "fusion": "eager"}
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "torchtune-3b-lora-mem": (LLAMA_3B, {**TENSORS, **SAVING, "rank": 64}, GIB),
    "torchtune-3b-qlora-mem": (
        LLAMA_3B,
        {**TENSORS, **SAVING, "rank": 64, "method": "qlora"},
        GIB,
    ),
    "torchtune-llama-3-70b-lora-a100-sxm-80gb-mem": (
        LLAMA_70B,
        {**TENSORS, "rank": 16, "dp": 8, "zero": 3, "recompute": "full", "loss_chunks": 8},
        GIB,
    ),
    "litgpt-lora-llama-2-7b-mb1-1gpu-mem": (LLAMA_2_7B, LITGPT, 1e9),
    "litgpt-lora-llama-2-7b-mb2-1gpu-mem": (LLAMA_2_7B, {**LITGPT, "micro_batch": 2}, 1e9),
    "litgpt-lora-llama-2-7b-mb1-1gpu-nf4-mem": (
        LLAMA_2_7B,
        {**LITGPT, "method": "qlora", "frozen_bytes": 0.5625},
        1e9,
    ),
}
methods = st.sampled_from(["full", "frozen", "lora", "qlora"])
adapted = st.sampled_from(["qv", "attention", "all"])


def measured(name: str) -> float:
    """The printed peak of a published run."""
    rows = (row for file in ("torchtune", "litgpt-res") for row in run_files()[file].rows)
    found = next(row for row in rows if row.id == name).measured
    return float(found.get("peak_memory_gib") or found["peak_memory_gb"])


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_peaks(name: str) -> None:
    """torchtune README (pytorch2026torchtune), "active" GiB; LitGPT resource tables
    (lightning2023resources), GB. LitGPT's bnb.nf4 keeps the scale of 64 weights in fp32.
    """
    shape, options, unit = PUBLISHED[name]
    assert fine_tuning(**{**shape, **options})["total"] / unit == pytest.approx(
        measured(name), rel=0.15
    )


def test_trained_parameters_as_litgpt_counts_them() -> None:
    """lightning2023resources: 4,194,304 of Llama 2 7B, rank 8 beside queries and values; 6,553,600
    of Llama 2 13B.
    """
    assert tuned(rank=8, adapted="qv")["trainable"] == 4_194_304
    wide = {"layers": 40, "d_model": 5120, "heads": 40, "d_ff": 13824}
    assert tuned(**wide, rank=8, adapted="qv", params=13e9)["trainable"] == 6_553_600


def test_adapters_by_hand() -> None:
    """r(in + out) for each matrix: four of attention, three of a gated block."""
    grouped = tuned(rank=16, adapted="attention", kv_heads=8)["trainable"]
    assert grouped == 32 * 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024))
    attention = tuned(rank=16, adapted="attention")["trainable"]
    gated, plain = (
        tuned(rank=16, ffn_kind=kind)["trainable"] - attention for kind in ("gated", "plain")
    )
    assert gated == 32 * 16 * 3 * (4096 + 11008) and plain == gated * 2 / 3
    wide = tuned(rank=16, adapted="qv", head_dim=256)["trainable"]
    assert wide == 32 * 16 * 2 * (4096 + 8192)


@given(methods, adapted, st.integers(1, 64), st.sampled_from([1, 2, 8]), st.sampled_from([0, 1, 3]))
def test_the_parts_add_up(method: str, sides: str, rank: int, dp: int, zero: int) -> None:
    out = tuned(method=method, adapted=sides, rank=rank, dp=dp, zero=zero)
    assert sum(out[part] for part in PARTS) == pytest.approx(out["total"])
    assert min(out[part] for part in PARTS) >= 0
    assert out["share"] == out["trainable"] / LLAMA_2_7B["params"]


@given(adapted, st.integers(1, 512), st.sampled_from(["none", "full"]))
def test_lora_never_takes_more_than_full_and_grows_with_the_rank(
    sides: str, rank: int, recompute: str
) -> None:
    run = {"recompute": recompute, "adapted": sides}
    full = tuned(**run, method="full")
    lora, more = (tuned(**run, rank=r) for r in (rank, rank + 1))
    assert lora["total"] < more["total"] <= full["total"]
    assert lora["flop_per_token"] < more["flop_per_token"] <= full["flop_per_token"]
    assert tuned(**run, rank=rank, method="qlora")["weights"] < lora["weights"]
    assert lora["trainable"] < full["trainable"] == LLAMA_2_7B["params"]


@given(methods, st.sampled_from([2, 4, 8]), st.sampled_from([1, 2]))
def test_more_devices_never_hold_more(method: str, dp: int, zero: int) -> None:
    alone, shared = tuned(method=method), tuned(method=method, dp=dp, zero=zero)
    assert shared["total"] <= alone["total"]
    cut = tuned(method=method, dp=dp, zero=3)
    assert cut["weights"] == pytest.approx(alone["weights"] / dp)
    assert cut["gradients"] == pytest.approx(alone["gradients"] / dp)
    assert cut["optimizer"] == pytest.approx(alone["optimizer"] / dp)


def test_what_each_stage_of_zero_divides() -> None:
    one, four = tuned(method="full"), {"method": "full", "dp": 4}
    for zero, parts in ((1, ("optimizer",)), (2, ("optimizer", "gradients"))):
        out = tuned(**four, zero=zero)
        for part in ("weights", "gradients", "optimizer"):
            assert out[part] == pytest.approx(one[part] / (4 if part in parts else 1))
        assert out["gathered"] == 0
    tables, layer = 2 * 32000 * 4096, (6738415616 - 2 * 32000 * 4096) / 32
    assert tuned(**four, zero=3)["gathered"] == pytest.approx(2 * (tables + 2 * layer))
    assert tuned(**four, zero=3, prefetch=1)["gathered"] == pytest.approx(2 * (tables + layer))
    assert tuned(method="full", zero=3)["gathered"] == 0


def test_full_tuning_holds_the_states_of_training() -> None:
    shape = {name: value for name, value in LLAMA_2_7B.items() if name != "compute_params"}
    trained, tuned_whole = memory(**shape), tuned(method="full")
    for part in ("weights", "gradients", "optimizer"):
        assert tuned_whole[part] == pytest.approx(trained[part])


def test_states_of_adapters_and_of_frozen_layers() -> None:
    lora = tuned(rank=8, adapted="qv")
    assert lora["weights"] == pytest.approx(2 * (6738415616 + 4194304))
    assert lora["gradients"] == 2 * 4194304 and lora["optimizer"] == 12 * 4194304
    layer = (6738415616 - 2 * 32000 * 4096) / 32
    frozen = tuned(method="frozen", trained_layers=4)
    assert frozen["trainable"] == pytest.approx(4 * layer)
    assert frozen["weights"] == 2 * 6738415616
    eight_bits = tuned(method="frozen", trained_layers=4, frozen_bytes=1)
    assert frozen["weights"] - eight_bits["weights"] == pytest.approx(28 * layer)
    assert frozen["activations"] == pytest.approx(tuned(method="full")["activations"] / 8)


def test_nf4_takes_4127_thousandths_of_a_bit_and_tables_stay() -> None:
    """dettmers2023qlora: double quantisation adds 0.127 bits to each of 4."""
    tables = 2 * 32000 * 4096
    nf4 = tuned(method="qlora", rank=1, adapted="qv")
    adapters = nf4["trainable"]
    bits = 8 * (nf4["weights"] - 2 * (tables + adapters)) / (6738415616 - tables)
    assert bits == pytest.approx(4.127, abs=5e-4)
    tied = tuned(method="qlora", rank=1, adapted="qv", tied_embeddings="yes")
    assert tied["weights"] < nf4["weights"]


def test_activations_by_hand() -> None:
    """Norms, queries, keys, values, result, two inner products, inputs of what has an adapter."""
    d, f, tokens = 4096, 11008, 1304
    kept = {
        "qv": 2 * d + d + 4 * d + 2 * f,
        "attention": 2 * d + d + 4 * d + 2 * f,
        "all": 2 * d + 2 * d + f + 4 * d + 2 * f,
    }
    for sides, values in kept.items():
        out = tuned(adapted=sides)["activations"]
        assert out == pytest.approx(32 * tokens * (2 * values + 4 * 32))
        quantised = tuned(adapted=sides, method="qlora")["activations"]
        assert quantised == pytest.approx(32 * tokens * (2 * kept["all"] + 4 * 32))
    assert tuned(method="full")["activations"] == tuned(adapted="all")["activations"]
    eager = 8 * d + 2 * (d + 4 * d + 2 * d + 3 * f) + 4 * 32
    assert tuned(adapted="qv", fusion="eager")["activations"] == pytest.approx(32 * tokens * eager)
    plain = tuned(adapted="qv", ffn_kind="plain")["activations"]
    assert plain == pytest.approx(32 * tokens * (2 * (7 * d + f) + 4 * 32))
    assert tuned(kv_heads=8)["activations"] < tuned()["activations"]


def test_recomputation_and_offloading() -> None:
    plain, again = tuned(), tuned(recompute="full")
    assert again["activations"] == pytest.approx(2 * 4096 * 32 * 1304)
    assert plain["working"] == 0 and again["working"] == pytest.approx(plain["activations"] / 32)
    gone = tuned(recompute="full", offload="yes")
    assert gone["activations"] == 0 and gone["working"] == again["working"]
    assert tuned(offload="yes")["activations"] == 0


def test_logits_and_runtime() -> None:
    assert tuned()["logits"] == 12 * 32000 * 1304
    assert tuned(loss_chunks=8, micro_batch=2)["logits"] == 12 * 32000 * 1304 / 4
    out, bare = tuned(), tuned(reserve=0, context_bytes=0)
    assert out["reserved"] == pytest.approx(0.05 * bare["total"])
    assert out["context"] == 1271 * 2**20
    assert out["total"] == pytest.approx(1.05 * bare["total"] + out["context"])


def test_arithmetic_of_a_token() -> None:
    """6 operations with each trained weight, 4 with each frozen one, 2 more for recomputation."""
    active, head = LLAMA_2_7B["compute_params"], 32000 * 4096
    inside = active - head
    assert tuned(method="full")["flop_per_token"] == 6 * active
    assert tuned(method="full", recompute="full")["flop_per_token"] == 6 * active + 2 * inside
    added = tuned(rank=8)["trainable"]
    for method in ("lora", "qlora"):
        out = tuned(rank=8, method=method)["flop_per_token"]
        assert out == pytest.approx(4 * active + 6 * added)
    again = tuned(rank=8, recompute="full")["flop_per_token"]
    assert again == pytest.approx(4 * active + 6 * added + 2 * (inside + added))
    top = tuned(method="frozen", trained_layers=8)["flop_per_token"]
    assert top == pytest.approx(2 * active + 2 * head + 4 * inside / 4)
    repeated = tuned(method="frozen", trained_layers=8, recompute="full")["flop_per_token"]
    assert repeated == pytest.approx(top + 2 * inside / 4)


def test_a_model_and_a_chip_from_the_data() -> None:
    result = calculate("fine-tuning", model="llama-3-8b", chip="rtx-4090", seq=2048, method="qlora")
    assert result["free"] == pytest.approx(24e9 - result["total"])
    assert calculate("fine-tuning", model="llama-3-8b", seq=2048)["free"] is None
    dense = calculate("fine-tuning", model="llama-3-8b", seq=2048, dtype="fp32")
    assert dense.inputs["bytes_per_param"].value == 4


def test_arrays_equal_floats() -> None:
    ranks = np.array([1.0, 8.0, 64.0])
    together = tuned(rank=ranks)
    for place, rank in enumerate(ranks):
        alone = tuned(rank=float(rank))
        for name in ("trainable", "total", "flop_per_token"):
            assert together[name][place] == pytest.approx(alone[name])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 1.5}, "whole number"),
        ({"rank": 5000}, "such an adapter is larger than its matrix"),
        ({"method": "prefix"}, "method"),
        ({"adapted": "some"}, "adapted"),
        ({"method": "frozen", "trained_layers": 33}, "more than --layers 32"),
        ({"kv_heads": 64}, "kv"),
        ({"seq": 0}, "seq"),
        ({"zero": 4}, "zero"),
        ({"experts": 2, "experts_per_token": 3}, "cannot visit more experts"),
        ({"experts": 4, "dense_layers": 33}, "larger than --layers"),
        ({"state_layers": 33}, "are some of --layers 32"),
        ({"attention_layers": 33}, "are some of --layers 32"),
        ({"kv_lora_rank": 512}, "needs --qk-nope-head-dim"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        tuned(**change)


def test_a_card_of_24_gb_tunes_8_billion_with_qlora_and_not_with_all_weights() -> None:
    run = {"model": "llama-3-8b", "chip": "rtx-4090", "seq": 2048, "recompute": "full"}
    assert calculate("fine-tuning", **run, method="qlora")["free"] > 0
    whole = calculate("fine-tuning", **run, method="full")
    assert whole["free"] < 0 and whole.as_json()["fits"] is False


@pytest.mark.parametrize("method", ["full", "frozen", "lora", "qlora"])
def test_twice_the_micro_batch_takes_twice_the_activations(method: str) -> None:
    one, two = tuned(method=method), tuned(method=method, micro_batch=2)
    for part in ("activations", "logits"):
        assert two[part] == pytest.approx(2 * one[part])
    for part in ("weights", "gradients", "optimizer", "flop_per_token", "trainable"):
        assert two[part] == one[part]
    assert tuned(method=method, seq=2608)["activations"] == pytest.approx(two["activations"])


def test_widths_of_weights_gradients_and_moments() -> None:
    wide = tuned(method="full", bytes_per_param=4, grad_bytes=4)
    assert wide["weights"] == wide["gradients"] == 4 * 6738415616
    assert wide["optimizer"] == 8 * 6738415616
    lora = {"rank": 8, "adapted": "qv"}
    assert tuned(**lora, grad_bytes=4)["gradients"] == 4 * 4194304
    assert tuned(**lora, optimizer_bytes=1)["optimizer"] == 6 * 4194304
    assert tuned(**lora, activation_bytes=4)["activations"] > tuned(**lora)["activations"]


@given(methods, st.sampled_from(["none", "full"]), st.sampled_from(["no", "yes"]))
def test_two_devices_gather_what_they_divide(method: str, recompute: str, offload: str) -> None:
    run = {"method": method, "recompute": recompute, "offload": offload, "zero": 3}
    assert tuned(**run, dp=1)["gathered"] == 0
    two, eight = tuned(**run, dp=2), tuned(**run, dp=8)
    assert two["gathered"] == eight["gathered"] > 0
    assert two["weights"] == pytest.approx(4 * eight["weights"])
    assert eight["total"] < two["total"]


@given(st.integers(1, 32))
def test_each_frozen_layer_trained_more_takes_more(trained_layers: int) -> None:
    one = tuned(method="frozen", trained_layers=trained_layers)
    top = tuned(method="frozen", trained_layers=32)
    for part in ("trainable", "activations", "flop_per_token", "total"):
        assert one[part] <= top[part] <= tuned(method="full")[part] * (1 + 1e-9)


@given(methods, adapted)
def test_free_memory_and_total_are_the_whole(method: str, sides: str) -> None:
    out = tuned(method=method, adapted=sides, memory=80e9)
    assert out["free"] + out["total"] == pytest.approx(80e9)
    assert tuned(method=method, adapted=sides)["total"] == out["total"]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 6))
def test_each_recurrent_mixer_brings_as_much(attending: int, mixers: int, wide: int) -> None:
    """A matrix in and one out beside each; what goes in and what its rows make is kept."""
    hybrid = {"layers": 24, "attention_layers": attending, "adapted": "all"}
    weights = wide * 4096 * 2048
    without, one, some, wider = (
        tuned(**hybrid, state_layers=count, state_layer_params=size)
        for count, size in ((0, weights), (1, weights), (mixers, weights), (mixers, 2 * weights))
    )
    for name in ("trainable", "activations"):
        more = one[name] - without[name]
        assert more > 0
        assert some[name] - without[name] == pytest.approx(mixers * more)
        assert wider[name] > some[name]


def test_a_rank_of_one_trains_least() -> None:
    sides = [tuned(rank=1, adapted=name)["trainable"] for name in ("qv", "attention", "all")]
    assert sides == sorted(sides) and sides[0] == 32 * 4 * 4096


def test_scores_of_windows_are_no_longer_than_these() -> None:
    """Gemma 3 27B at 65,536 tokens: 10 layers see all, 52 a window of 1,024."""
    result = calculate("fine-tuning", model="gemma-3-27b", seq=65536)
    seen = 10 * 65537 + 52 * 1024 * (2 - 1023 / 65536)  # a window fills at first
    share = 6 * 32 * 128 * seen / result["flop_per_token"]
    assert result.omitted["attention_scores"].share == pytest.approx(share)


def test_scores_that_are_left_out_are_told_with_their_size() -> None:
    """At 32,768 tokens scores of an 8B model are most of LoRA's arithmetic; at 512 a few percent.

    Two products of each pair, half of them masked, forward and twice backward: 6 L H d (s + 1).
    """
    long, short = (calculate("fine-tuning", model="llama-3-8b", seq=seq) for seq in (32768, 512))
    assert list(short.omitted) == [] and list(long.omitted) == ["attention_scores"]
    share = 6 * 32 * 4096 * 32769 / long["flop_per_token"]
    assert long.omitted["attention_scores"].share == pytest.approx(share)
