"""What framework and runtime hold beside states and activations: laws, switches, hand counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import memory
from flopbook.formulas.omissions import omitted
from flopbook.formulas.training_omissions import (
    gradients_in_fp32,
    rows_kept_whole,
    uneven_stages,
    waiting_outputs,
)
from flopbook.quantities.ops import inf

SHAPE: dict[str, Any] = {
    "params": 8030261248,
    "layers": 32,
    "d_model": 4096,
    "vocab": 128256,
    "d_ff": 14336,
    "heads": 32,
    "kv_heads": 8,
    "seq": 4096,
}
TABLE = 128256 * 4096
LAYER = (8030261248 - 2 * TABLE) / 32
OFF = {"reserve": 0, "group_bytes": 0, "context_bytes": 0}
PARTS = (
    *("weights", "gradients", "optimizer", "stage_extra", "activations", "logits", "gathered"),
    *("working", "step", "communication", "reserved", "context"),
)
powers = st.sampled_from([1, 2, 4, 8])
recomputed = st.sampled_from(["none", "selective", "selective-op", "full"])
zeros = st.sampled_from([0, 1, 2, 3])


def held(**more: Any) -> dict[str, Any]:
    return memory(**{**SHAPE, **more})


@given(powers, powers, zeros, recomputed, st.sampled_from(["auto", "whole", "none"]))
def test_the_parts_add_up_to_the_total(
    tp: int, dp: int, zero: int, recompute: str, grad_accumulation: str
) -> None:
    run = {"tp": tp, "dp": dp, "zero": zero, "recompute": recompute}
    out = held(**run, grad_accumulation=grad_accumulation)
    assert sum(out[part] for part in PARTS) == pytest.approx(out["total"])
    assert min(out[part] for part in PARTS) >= 0


@given(powers, powers, zeros)
def test_with_stages_the_fuller_end_counts(tp: int, dp: int, zero: int) -> None:
    out = held(tp=tp, dp=dp, zero=zero, pp=4, microbatches=8)
    others = sum(out[part] for part in PARTS if part not in ("activations", "logits"))
    last = out["activations"] / 4 + out["logits"]
    assert out["total"] == pytest.approx(others + max(out["activations"], last))


@given(powers, zeros, recomputed)
def test_more_copies_and_more_tensor_parallelism_never_take_more(
    dp: int, zero: int, recompute: str
) -> None:
    run = {"zero": zero, "recompute": recompute, **OFF}
    base = held(dp=dp + 1, **run)["total"]
    assert held(dp=2 * (dp + 1), **run)["total"] <= base
    assert held(dp=dp + 1, tp=2, **run)["total"] <= base
    assert held(dp=dp + 1, **{**run, "zero": min(zero, 1) + 1})["total"] <= max(
        base, held(dp=dp + 1, **{**run, "zero": 1})["total"]
    )


def test_recomputing_more_never_keeps_more() -> None:
    kept = [
        held(recompute=name, attention="flash")["activations"]
        for name in ("none", "selective", "selective-op", "full")
    ]
    assert kept == sorted(kept, reverse=True) and kept[0] == kept[1] > kept[2] > kept[3]


def test_fsdp_gathers_two_layers_and_the_tables() -> None:
    """A layer's gradient stands whole in bf16 and, to be reduced, in fp32."""
    out = held(zero=3, dp=64)
    assert out["gathered"] == pytest.approx(2 * (2 * LAYER + 2 * TABLE) + 6 * LAYER)
    assert held(zero=3, dp=64, prefetch=1)["gathered"] == pytest.approx(out["gathered"] - 2 * LAYER)
    assert held(zero=3, dp=64, prefetch=99)["gathered"] == pytest.approx(2 * 8030261248 + 6 * LAYER)
    tied = held(zero=3, dp=64, tied_embeddings="yes", params=8030261248 - TABLE)
    assert out["gathered"] - tied["gathered"] == pytest.approx(2 * TABLE)


def test_nothing_is_gathered_where_nothing_is_divided() -> None:
    for run in ({"zero": 2, "dp": 64}, {"zero": 3}, {"zero": 0, "dp": 8}):
        assert held(**run)["gathered"] == 0
    assert held(zero=3, cp=2)["gathered"] > 0


def test_fsdp_under_pipelines_keeps_weights_and_whole_gradients() -> None:
    """torchtitan: reshard_after_forward is off with pipelines, and gradients wait in fp32."""
    stage = {"zero": 3, "dp": 8, "pp": 4, "microbatches": 8}
    out = held(**stage)
    assert out["gathered"] == pytest.approx(2 * (8 * LAYER + TABLE))
    assert out["gradients"] == pytest.approx(4 * 8030261248 / 4)
    freed = held(**stage, reshard="yes", grad_accumulation="sharded")
    assert freed["gathered"] == pytest.approx(2 * (2 * LAYER + TABLE) + 6 * LAYER)
    assert freed["gradients"] == pytest.approx(2 * 8030261248 / 4 / 8)
    kept = held(zero=3, dp=8, reshard="no")
    assert kept["gathered"] == pytest.approx(2 * 8030261248 + 6 * LAYER)


def test_whole_gradients_are_in_fp32_for_fsdp_alone() -> None:
    for zero in (0, 1, 2):
        run = {"zero": zero, "dp": 8, "pp": 4, "microbatches": 8}
        assert held(**run, grad_accumulation="whole") == held(**run)
        assert held(**run)["gradients"] == 2 * 8030261248 / 4
    assert held(zero=3, dp=8, grad_accumulation="whole")["gradients"] == 4 * 8030261248


def test_stage_2_divides_gradients_only_where_it_sums_those_of_each_micro_batch() -> None:
    """A pipeline adds them up first, so stage 2 holds what stage 1 holds."""
    run = {"dp": 8, "pp": 4, "microbatches": 8}
    assert held(zero=2, **run) == held(zero=1, **run)
    assert held(zero=2, **run, grad_accumulation="sharded")["gradients"] == 2 * 8030261248 / 32
    alone = {"zero": 2, "dp": 8}
    assert held(**alone)["gradients"] == 2 * 8030261248 / 8
    assert held(**alone, grad_accumulation="whole")["gradients"] == 2 * 8030261248


def test_groups_divide_among_their_own_devices_alone() -> None:
    """HSDP: two groups of eight hold what eight devices hold, whatever their number."""
    for zero in (1, 2, 3):
        alone, grouped = held(zero=zero, dp=8), held(zero=zero, dp=16, hsdp=2)
        assert grouped["total"] == pytest.approx(alone["total"])
        assert held(zero=zero, dp=16)["total"] < grouped["total"]
    assert held(dp=16, hsdp=2) == held(dp=16)
    with pytest.raises(FlopbookError, match="--hsdp 3 does not divide --dp 16"):
        memory(**{**SHAPE, "dp": 16, "hsdp": 3})
    with pytest.raises(FlopbookError, match="--ep 16 does not divide --dp 16 x --cp 1 / --hsdp 2"):
        calculate("memory", model="deepseek-v3", seq=4096, dp=16, ep=16, zero=3, hsdp=2)


def test_gradients_without_buffers_are_made_while_activations_go() -> None:
    """Only the larger counts: activations of the forward pass, or all gradients after it."""
    large = held(grad_accumulation="none", recompute="none", micro_batch=8)
    assert large["gradients"] == large["step"] == 0
    small = held(grad_accumulation="none", recompute="full", seq=64, optimizer_kind="adam-pure")
    assert small["step"] + small["logits"] + small["activations"] + small["working"] == (
        pytest.approx(2 * 8030261248)
    )


def test_the_step_casts_narrow_gradients_where_there_are_master_weights() -> None:
    short = {"seq": 1, "dp": 4, "zero": 1}
    passes = ("activations", "logits", "working")
    out = held(**short)
    assert out["step"] + sum(out[part] for part in passes) == pytest.approx(4 * 8030261248 / 4)
    assert held(**short, grad_bytes=4)["step"] == 0
    assert held(**short, optimizer_kind="adam-pure")["step"] == 0
    assert held(**short, bytes_per_param=4)["step"] == 0


def test_copies_of_the_logits() -> None:
    """12 bytes of each logit by default; a chunked loss keeps the logits and one chunk's copies."""
    ends = 2 * 4096 * 2
    assert held()["logits"] == pytest.approx(4096 * (12 * 128256 + ends))
    assert held(logit_bytes=6)["logits"] == pytest.approx(4096 * (6 * 128256 + ends))
    assert held(loss_chunks=8)["logits"] == pytest.approx(4096 * (3.5 * 128256 + ends))
    assert held(tp=8)["logits"] == pytest.approx(4096 * (12 * 128256 / 8 + ends))
    assert held(tp=8, vocab_parallel="no")["logits"] == held()["logits"]
    cut = {"tp": 8, "sequence_parallel": "yes"}  # the input of the head and its gradient, too
    assert held(**cut)["logits"] == pytest.approx(4096 * (12 * 128256 + ends) / 8)
    assert (
        held(loss_chunks=1, logit_bytes=2)["logits"] == held(loss_chunks=4, logit_bytes=2)["logits"]
    )


def test_groups_have_buffers_each() -> None:
    one = held(dp=2)["communication"]
    assert one == held(tp=2)["communication"] == held(pp=2)["communication"] > 0
    assert held()["communication"] == 0
    # A context-parallel group is part of the one over which weights are divided.
    assert held(cp=2)["communication"] == 2 * one
    assert held(dp=2, tp=2, pp=2, cp=2)["communication"] == 4 * one
    assert held(dp=2, group_bytes=1e9)["communication"] == 1e9
    mixture = {"experts": 8, "expert_d_ff": 14336, "params": 47e9}
    assert held(dp=8, ep=8, **mixture)["communication"] == 2 * one


def test_the_runtime_is_switched_off_part_by_part() -> None:
    out, off = held(dp=2), held(dp=2, **OFF)
    assert off["reserved"] == off["communication"] == off["context"] == 0
    assert out["reserved"] == pytest.approx(0.05 * off["total"])
    assert out["context"] == 1271 * 2**20
    assert out["total"] == pytest.approx(
        1.05 * off["total"] + out["communication"] + out["context"]
    )


def test_eager_mode_keeps_the_gate_and_the_rotated_keys() -> None:
    """A value of the inner width, and queries and keys, once more for each token."""
    more = held(fusion="eager", recompute="none")["activations"] - held()["activations"]
    assert more == pytest.approx(2 * 4096 * 32 * (14336 + 4096 + 1024))
    plain = {"ffn_kind": "plain", "recompute": "none"}
    more = held(**plain, fusion="eager")["activations"] - held(**plain)["activations"]
    assert more == pytest.approx(2 * 4096 * 32 * (4096 + 1024))


def test_gathered_inputs_of_products_stay_whole_under_sequence_parallelism() -> None:
    run = {"tp": 8, "recompute": "none"}
    cut, gathered, whole = (
        held(**run, sequence_parallel=word)["activations"] for word in ("yes", "gathered", "no")
    )
    assert gathered - cut == pytest.approx(whole - gathered)
    assert gathered - cut == pytest.approx(2 * 4096 * 32 * 2 * 4096 * 7 / 8)


def test_selective_recomputation_by_operation() -> None:
    """torchtitan: the input of a layer, queries, values, attention and two of three products."""
    values = 4096 + (4096 + 1024 + 4096) + 14336 + 4096
    out = held(recompute="selective-op", attention="flash")
    assert out["activations"] == pytest.approx(32 * 4096 * (2 * values + 4 * 32))
    full = held(recompute="full", attention="flash")["working"]
    boundary = 2 * 4096 * 4096
    assert out["working"] == pytest.approx(full - out["activations"] / 32)
    assert full > boundary


def test_gated_blocks_are_trained_with_flash_attention_and_without_dropout() -> None:
    for kind, attention, dropout in (("gated", "flash", "no"), ("plain", "scores", "yes")):
        named = held(ffn_kind=kind, attention=attention, dropout=dropout, recompute="none")
        assert held(ffn_kind=kind, recompute="none") == named


def test_the_width_of_the_moments() -> None:
    assert held()["optimizer"] == pytest.approx(12 * 8030261248)
    assert held(optimizer_bytes=2)["optimizer"] == pytest.approx(8 * 8030261248)
    pure = held(optimizer_kind="adam-pure", optimizer_bytes=1)
    assert pure["optimizer"] == pytest.approx(2 * 8030261248)
    assert held(optimizer_kind="adam-pure")["optimizer"] == pytest.approx(4 * 8030261248)
    momentum = held(optimizer_kind="sgd-momentum", optimizer_bytes=2)
    assert momentum["optimizer"] == pytest.approx(6 * 8030261248)


def test_an_open_memory_leaves_nothing_to_say() -> None:
    assert held()["free"] == inf


def told(**more: Any) -> list[str]:
    """Names of what is left out and above a tenth."""
    values = {**memory.defaults, **SHAPE, **more}
    return list(omitted(memory.omissions, {**memory(**{**SHAPE, **more}), **values}))


def test_what_is_left_out_is_told_where_it_is_large() -> None:
    """3 stages hold 10 and two thirds layers on average, the fullest 11; 20 stages 1.6 and 2."""
    assert told(optimizer_kind="sgd") == ["gradients_in_fp32"]
    assert told(seq=65536) == []
    assert told(grad_bytes=4) == told(zero=3, dp=8) == []
    whole = {"grad_bytes": 4, "microbatches": 64}
    assert told(**whole, pp=3) == told(**whole, pp=16) == []
    assert told(**whole, pp=20) == ["uneven_stages"]


@given(powers, powers, zeros, recomputed, st.sampled_from([2048, 8192, 65536]))
def test_sequence_parallelism_saves_what_the_note_says(
    tp: int, pp: int, zero: int, recompute: str, seq: int
) -> None:
    """Held against the memory with it, where the note is printed: with stages, the last one may
    become the fullest, and of layers that are computed again less is known.
    """
    run = {"tp": tp, "pp": pp, "dp": 8, "zero": zero, "recompute": recompute, "seq": seq}
    whole, cut = (held(**run, sequence_parallel=kind) for kind in ("no", "yes"))
    saved = whole["total"] - cut["total"]
    values = {**memory.defaults, **SHAPE, **run, **whole}
    promised = -rows_kept_whole.value(values) * whole["total"]
    if promised > whole["total"] / 10:
        least = 0.8 if pp == 1 and recompute in ("none", "selective") else 0.4
        assert least * promised <= saved <= 1.5 * promised
    assert rows_kept_whole.value(values | {"sequence_parallel": "yes"}) == 0


SAVED: dict[str, Any] = {"dp": 8, "micro_batch": 2}


@given(
    powers,
    zeros,
    recomputed,
    st.sampled_from(["auto", "whole", "none"]),
    st.sampled_from(["adam", "adam-pure", "sgd"]),
    st.sampled_from([(2, 1, 1), (4, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 4)]),
)
@example(8, 1, "none", "none", "adam", (2, 2, 1))
@example(8, 1, "none", "none", "adam", (2, 2, 4))
@example(8, 2, "none", "none", "adam-pure", (2, 2, 4))
@example(8, 2, "none", "none", "adam", (2, 2, 4))
def test_without_stages_sequence_parallelism_saves_exactly_that(
    tp: int, zero: int, recompute: str, grad_accumulation: str, kind: str, sizes: Any
) -> None:
    """Gradients without buffers and optimizers without a cast leave more of the passes to save."""
    width, cp, hsdp = sizes
    run = {**SAVED, "tp": tp, "zero": zero, "recompute": recompute, "cp": cp, "hsdp": hsdp}
    run |= {"grad_accumulation": grad_accumulation, "optimizer_kind": kind}
    run |= {"bytes_per_param": width, "grad_bytes": width}
    for seq in (1024, 2048, 4096):
        whole, cut = (held(**run, seq=seq, sequence_parallel=kind) for kind in ("no", "yes"))
        values = {**memory.defaults, **SHAPE, **run, "seq": seq, **whole}
        saved = cut["total"] / whole["total"] - 1
        assert rows_kept_whole.value(values) == pytest.approx(saved, abs=1e-6)


def test_the_size_of_uneven_stages() -> None:
    """A stage of 2 layers where the average is 1.6 holds a quarter more."""
    out = held(pp=20, grad_bytes=4)
    grown = out["total"] - out["logits"] - out["context"]
    values = {**memory.defaults, **SHAPE, "pp": 20, "grad_bytes": 4, **out}
    assert uneven_stages.value(values) == pytest.approx(0.25 * grown / out["total"])
    values = {**memory.defaults, **SHAPE, **held()}
    assert gradients_in_fp32.value(values) == pytest.approx(2 * 8030261248 / held()["total"])
    assert gradients_in_fp32.value({**values, "zero": 3}) == 0


def test_muon_keeps_both_moments_of_embeddings() -> None:
    out = held(optimizer_kind="muon", optimizer_bytes=2)["optimizer"]
    inside = 8030261248 - 2 * TABLE
    assert out == pytest.approx(6 * inside + 8 * 2 * TABLE)


def test_the_cast_of_the_step_is_divided_with_the_optimizer() -> None:
    """4 bytes for each parameter that a device updates, those of an end stage included."""
    short = {"seq": 1, "pp": 4, "microbatches": 8}
    for zero, dp in ((0, 1), (1, 8)):
        out = held(**short, zero=zero, dp=dp)
        updated = (8030261248 / 4 + TABLE - 2 * TABLE / 4) / dp
        passes = max(out["activations"], out["activations"] / 4 + out["logits"])
        assert out["step"] + passes + out["working"] == pytest.approx(4 * updated)
    assert held(seq=4096, micro_batch=16)["step"] == 0


def test_experts_are_cast_where_they_are_updated() -> None:
    mixture = {"experts": 8, "expert_d_ff": 14336, "params": 47e9, "seq": 1, "zero": 1, "dp": 8}
    alone, spread = (held(**mixture, ep=ep) for ep in (1, 8))
    # Eight devices update an eighth each, however the experts lie.
    assert spread["step"] == pytest.approx(alone["step"], rel=1e-3)
    assert spread["step"] == pytest.approx(4 * 47e9 / 8, rel=1e-2)


@given(st.sampled_from(["adam", "adam-bf16", "adam-8bit", "adafactor", "sgd-momentum", "sgd"]))
def test_no_optimizer_takes_more_than_adam_in_fp32(kind: str) -> None:
    """And none with master weights less than those."""
    most, out = held(optimizer_kind="adam"), held(optimizer_kind=kind)
    assert 4 * 8030261248 <= out["optimizer"] <= most["optimizer"]
    assert out["step"] >= 0 and out["total"] <= most["total"]
    assert held(optimizer_kind=kind, bytes_per_param=4)["optimizer"] < out["optimizer"]


def test_outputs_of_stages_wait_for_the_end_of_the_step() -> None:
    """One output a micro-batch: Llama 3 8B at 8,192 tokens keeps 67 MB of each."""
    run: dict[str, Any] = {"pp": 8, "seq": 8192, "grad_bytes": 4, "recompute": "full"}
    output = 8192 * 4096 * 2
    for more, count in (({"microbatches": 512}, 512), ({}, 8), ({"microbatches": 8, "cp": 2}, 4)):
        values = {**memory.defaults, **SHAPE, **run, **more, **held(**run, **more)}
        assert waiting_outputs.value(values) == pytest.approx(count * output / values["total"])
    assert told(**run, microbatches=512) == ["waiting_outputs"]
    alone = {**memory.defaults, **SHAPE, **held()}
    assert waiting_outputs.value(alone) == 0


def test_zero_divides_the_extra_of_the_end_stages_as_their_parts() -> None:
    """What more devices save of it goes with 1/N, and gradients are the part of stage 2."""
    stages = {"pp": 4, "microbatches": 8, "grad_accumulation": "sharded"}
    extra = {
        (zero, dp): held(**stages, zero=zero, dp=dp)["stage_extra"]
        for zero in (0, 1, 2, 3)
        for dp in (2, 4, 8)
    }
    for zero in (1, 2, 3):
        halved, quartered, eighth = (extra[zero, dp] for dp in (2, 4, 8))
        assert halved - quartered == pytest.approx(2 * (quartered - eighth))
        assert eighth < extra[zero - 1, 8]
    assert extra[3, 2] == pytest.approx(extra[0, 2] / 2)
