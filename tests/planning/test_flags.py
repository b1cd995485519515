"""Flags of frameworks: what they say multiplies to the chips and the batch of the layout."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flopbook.planning.flags import flags_for
from flopbook.planning.fronts import front_of, unbeaten
from flopbook.planning.planner import PlannedLayout, plan
from flopbook.planning.question import Question, question_of
from flopbook.planning.uneven import megatron_layout
from tests.support.cases import every

DENSE = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "16",
    "batch_tokens": "256Ki",
    "seq": "8192",
    "stack": "megatron-core",
}
QUESTION = question_of(DENSE)
LAYOUTS = plan(QUESTION, 10**6).layouts
MIXTURE = question_of({**DENSE, "model": "mixtral-8x7b", "chips": "32"})
MIXED = plan(MIXTURE, 500).layouts
layouts = st.sampled_from(LAYOUTS) | st.sampled_from(MIXED)


def asked(layout: PlannedLayout) -> Question:
    return MIXTURE if layout in MIXED else QUESTION


def words(text: str) -> dict[str, str]:
    """The flags of a command line with their values."""
    pieces = [piece.split() for piece in text.split("--") if piece]
    return {piece[0]: " ".join(piece[1:]) for piece in pieces}


@given(layouts)
def test_megatron_divides_the_chips_and_the_batch(layout: PlannedLayout) -> None:
    flags = words(flags_for("megatron", asked(layout), layout).text)
    degrees = [flags[f"{name}-size"] for name in ("tensor-model-parallel", "context-parallel")]
    product = math.prod(map(int, degrees)) * int(flags["pipeline-model-parallel-size"])
    assert asked(layout).chips == product * layout.dp
    count = int(flags["global-batch-size"]) / int(flags["micro-batch-size"]) / layout.dp
    assert count == int(count)
    assert ("use-distributed-optimizer" in flags) == (layout.zero >= 1)
    assert int(flags.get("num-distributed-optimizer-instances", 1)) == layout.hsdp
    is_fsdp = layout.zero >= 2 and layout.pp == 1
    assert ("use-megatron-fsdp" in flags) == is_fsdp
    assert flags.get("ckpt-format") == ("fsdp_dtensor" if is_fsdp else None)
    assert ("no-gradient-accumulation-fusion" in flags) == is_fsdp
    assert ("sequence-parallel" in flags) == (layout.tp > 1)
    assert flags.get("recompute-granularity", "none") == layout.recompute
    assert ("expert-model-parallel-size" in flags) == (asked(layout) is MIXTURE)
    assert int(flags.get("num-virtual-stages-per-pipeline-rank", 1)) == layout.virtual
    # What the time of the plan takes for granted and Megatron leaves off.
    is_replicated = layout.dp * layout.cp > 1
    assert ("overlap-grad-reduce" in flags) == is_replicated
    assert ("overlap-param-gather" in flags) == (is_replicated and layout.zero >= 1)
    assert flags.get("moe-token-dispatcher-type") == ("alltoall" if layout.ep > 1 else None)


def titan_chunks(flags: dict[str, str], question: Question) -> int:
    """As `_get_pipeline_metadata` of torchtitan counts: embedding and head are a layer each."""
    name = "parallelism.pipeline_parallel"
    ends = [int(flags.get(f"{name}_{end}_stage_less_layers", 1)) for end in ("first", "last")]
    counted = question.run.shape.layers + sum(ends)
    return math.ceil(counted / int(flags[f"{name}_layers_per_stage"]))


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe-v"])
def test_folded_schedules_of_torchtitan_have_two_chunks_on_a_stage(schedule: str) -> None:
    layout = LAYOUTS[0]._replace(pp=4, virtual=1, schedule=schedule)
    assert titan_chunks(words(flags_for("torchtitan", QUESTION, layout).text), QUESTION) == 8


@pytest.mark.parametrize(("chunks", "is_told"), [(16, True), (64, True), (48, False)])
def test_torchtitan_is_told_what_layers_do_not_divide(chunks: int, is_told: bool) -> None:
    """126 layers: 16 and 64 chunks come out of its own count, 48 of none."""
    question = question_of({**DENSE, "model": "llama-3-405b", "chips": "1024"})
    layout = LAYOUTS[0]._replace(pp=chunks, virtual=1, schedule="1f1b")
    flags = flags_for("torchtitan", question, layout)
    assert ("unequal stages" in " ".join(flags.lacks)) != is_told
    if is_told:
        assert titan_chunks(words(flags.text), question) == chunks


@every("recompute, said", [("none", " = None "), ("selective", ""), ("full", "FullAC.Config()")])
def test_torchtitan_recomputes_selectively_unless_told(recompute: str, said: str) -> None:
    text = lacks("torchtitan", recompute=recompute)
    assert said in text
    assert ("activation_checkpoint" in text) == bool(said)


@given(layouts)
def test_torchtitan_divides_the_chips_and_the_tokens(layout: PlannedLayout) -> None:
    question = asked(layout)
    flags = words(flags_for("torchtitan", question, layout).text)
    names = ("data_parallel_replicate", "data_parallel_shard", "tensor_parallel")
    names += ("pipeline_parallel", "context_parallel")
    sizes = [int(flags[f"parallelism.{name}_degree"]) for name in names]
    assert math.prod(sizes) == question.chips
    tokens = int(flags["training.num_tokens_per_microbatch_per_dp_rank"])
    assert tokens == layout.micro_batch * 8192
    assert int(flags["training.num_tokens_per_train_step"]) == question.batch * 8192
    assert ("parallelism.pipeline_parallel_schedule" in flags) == (layout.pp > 1)
    reshard = flags.get("parallelism.fsdp_reshard_after_forward")
    assert reshard == ("never" if layout.zero in (1, 2) else None)
    is_sharded = int(flags["parallelism.data_parallel_shard_degree"]) == layout.dp
    assert is_sharded == ((layout.zero >= 1 and layout.hsdp == 1) or layout.dp == 1)
    if layout.zero >= 1:
        assert int(flags["parallelism.data_parallel_replicate_degree"]) == layout.hsdp
    if layout.pp > 1:
        assert titan_chunks(flags, question) == layout.pp * layout.virtual
        count = int(flags["parallelism.num_pp_microbatches"])
        assert count * layout.micro_batch * layout.dp == question.batch


def parsed(layout: str) -> list[str]:
    """As `parse_str_to_list` of Megatron reads a layout: groups, then letters, then stages."""
    for pattern in (r"\(([^)]+)\)\*(\d+)", r"(.)\*(\d+)"):
        layout = re.sub(pattern, lambda found: found[1] * int(found[2]), layout)
    return layout.split("|")


@given(st.integers(2, 128), st.integers(2, 200))
def test_a_layout_of_megatron_has_all_layers_and_chunks(chunks: int, layers: int) -> None:
    assume(layers >= chunks)
    told = parsed(megatron_layout(layers, chunks))
    assert len(told) == chunks and "".join(told) == f"E{'t' * layers}L"
    sizes = [words.count("t") for words in told]
    assert max(sizes) - min(sizes) <= 1 and sizes[0] == min(sizes)
    if chunks > 2 and layers % chunks == chunks - 2:
        assert sizes[-1] == min(sizes)  # one less at either end


def test_megatron_is_told_of_layers_that_do_not_divide() -> None:
    """In the place of the number of chunks, beside which it refuses them."""
    question = question_of({**DENSE, "model": "llama-3-405b", "chips": "1024"})
    layout = LAYOUTS[0]._replace(pp=16, virtual=4, schedule="interleaved")
    flags = words(flags_for("megatron", question, layout).text)
    assert flags["pipeline-model-parallel-layout"] == "'Et|(tt|)*62tL'"
    assert "num-virtual-stages-per-pipeline-rank" not in flags


@given(layouts)
def test_the_mesh_of_maxtext_is_the_chips(layout: PlannedLayout) -> None:
    question = asked(layout)
    pairs = flags_for("maxtext", question, layout).text.split()
    keys = dict(pair.split("=") for pair in pairs)
    axes = [int(value) for name, value in keys.items() if name.startswith("ici_")]
    if layout.dp % layout.ep == 0:
        assert math.prod(axes) == question.chips
    sharded = int(keys["ici_fsdp_parallelism"]), int(keys["ici_data_parallelism"])
    # An expert axis takes its ranks from the replicas, so fewer copies than asked may be left.
    replicas = layout.dp // layout.ep if layout.dp % layout.ep == 0 else layout.dp
    copies = min(layout.hsdp, replicas) if layout.zero == 3 else 1
    assert sharded[0 if layout.zero < 3 else 1] == copies
    assert ("shard_optimizer_over_data" in keys) == (layout.zero == 1)
    assert ("num_pipeline_microbatches" in keys) == (layout.pp > 1)
    steps = 1 if layout.pp > 1 else question.batch // (layout.dp * layout.micro_batch)
    assert int(keys["gradient_accumulation_steps"]) == steps
    batch = float(keys["per_device_batch_size"]) * int(keys["gradient_accumulation_steps"])
    assert batch * question.chips == pytest.approx(question.batch, rel=1e-5)


@every("layout, batch, dtype, said", [
    ({"pp": 8, "dp": 2}, 24, "bf16", "12 micro-batches"),
    ({"pp": 8, "dp": 2}, 32, "bf16", ""),
    ({"pp": 3, "dp": 4}, 12, "bf16", "unequal stages"),
    ({"pp": 1, "dp": 4}, 32, "fp8", "accumulates no gradients"),
    ({"pp": 1, "dp": 32}, 32, "fp8", ""),
])  # fmt: skip
def test_what_maxtext_refuses_is_said(
    layout: dict[str, int], batch: int, dtype: str, said: str
) -> None:
    """It wants micro-batches in multiples of the stages, equal stages, and fp8 in one go."""
    question = QUESTION._replace(batch=batch, dtype=dtype)
    plain = {"zero": 3, "recompute": "none", "virtual": 1, "micro_batch": 1, "schedule": "1f1b"}
    told = flags_for("maxtext", question, LAYOUTS[0]._replace(**plain, **layout)).lacks
    assert said in " ".join(told) and bool(told) == bool(said)


@pytest.mark.parametrize(("chips", "slices"), [(256, 1), (1024, 4)])
def test_several_slices_are_axes_of_their_own_in_maxtext(chips: int, slices: int) -> None:
    """A pod of TPU v5e has 256 chips; flags once laid all axes over its links."""
    sizes = {"chips": str(chips), "batch_tokens": "4Mi", "stack": "maxtext"}
    question = question_of({**DENSE, **sizes, "chip": "tpu-v5e", "zero": "3", "pp": "1"})
    assert question.run.slices == slices
    for layout in plan(question, 50).layouts:
        flags = flags_for("maxtext", question, layout)
        keys = dict(pair.split("=") for pair in flags.text.split())
        inside, across = (
            math.prod(int(value) for name, value in keys.items() if name.startswith(network))
            for network in ("ici_", "dcn_")
        )
        assert inside * across == chips
        assert across == slices or any("slices" in lack for lack in flags.lacks)


@given(layouts)
def test_the_batch_of_deepspeed_adds_up(layout: PlannedLayout) -> None:
    settings = json.loads(flags_for("deepspeed", asked(layout), layout).text)
    micro_batch = settings["train_micro_batch_size_per_gpu"]
    count = settings["gradient_accumulation_steps"]
    ranks = layout.dp * layout.tp  # as it counts them without an mpu
    assert ("train_batch_size" in settings) == (layout.tp == 1)
    assert settings.get("train_batch_size", micro_batch * count * ranks) == (
        micro_batch * count * ranks
    )
    assert micro_batch * count * layout.dp == asked(layout).batch
    grouped = {"mics_shard_size": layout.dp // layout.hsdp} if layout.hsdp > 1 else {}
    assert settings["zero_optimization"] == {"stage": layout.zero, **grouped}
    divided = {"autotp_size": layout.tp} if layout.tp > 1 else None
    assert settings.get("tensor_parallel") == divided
    assert settings.get("sequence_parallel_size") == (layout.cp if layout.cp > 1 else None)
    experts = {"enabled": True, "autoep_size": layout.ep} if layout.ep > 1 else None
    assert settings.get("expert_parallel") == experts
    assert settings["bf16"] == {"enabled": True} and "fp16" not in settings


def lacks(name: str, **changes: Any) -> str:
    layout = LAYOUTS[0]._replace(**{"zero": 0, "recompute": "none", **changes})
    return " ".join(flags_for(name, QUESTION, layout).lacks)


def test_what_a_framework_cannot_do_is_said() -> None:
    assert "ZeRO-1" in lacks("torchtitan", zero=1)
    assert "FullAC" in lacks("torchtitan", recompute="full")
    assert "schedule zb-h1" in lacks("torchtitan", schedule="zb-h1")
    assert "ZeRO-2" in lacks("maxtext", zero=2) and not lacks("maxtext", zero=3)
    assert "schedule zb-v" in lacks("maxtext", schedule="zb-v")
    assert "schedule dualpipe" in lacks("megatron", schedule="dualpipe")
    assert not lacks("megatron", pp=4, virtual=2) and not lacks("megatron", pp=1)
    assert "with a pipeline" in lacks("deepspeed", pp=2, zero=2)
    assert "chunks" in lacks("deepspeed", pp=2, virtual=2)
    assert "autotp_size" in lacks("deepspeed", ep=2, tp=2)
    assert "expert_parallel in ZeRO-3" in lacks("deepspeed", ep=2, tp=1, zero=3, cp=2)
    assert "expert_parallel" not in lacks("deepspeed", ep=2, tp=1, zero=2, cp=2)


@pytest.mark.parametrize("zero", [2, 3])
def test_megatron_fsdp_has_what_it_refuses_to_start_without(zero: int) -> None:
    """`validate_args` asserts the format of checkpoints; its examples switch the fusion off."""
    layout = LAYOUTS[0]._replace(zero=zero, pp=1, virtual=1, hsdp=1)
    flags = words(flags_for("megatron", QUESTION, layout).text)
    assert flags["ckpt-format"] == "fsdp_dtensor"
    assert "use-distributed-optimizer" in flags and "no-gradient-accumulation-fusion" in flags
    strategy = {2: "optim_grads", 3: "optim_grads_params"}[zero]
    assert flags["data-parallel-sharding-strategy"] == strategy
    assert not lacks("megatron", zero=zero, pp=1)


@pytest.mark.parametrize("zero", [2, 3])
def test_megatron_fsdp_is_not_asked_for_under_stages(zero: int) -> None:
    layout = LAYOUTS[0]._replace(zero=zero, pp=2, virtual=1, hsdp=1)
    flags = words(flags_for("megatron", QUESTION, layout).text)
    assert "use-megatron-fsdp" not in flags and "ckpt-format" not in flags
    assert "data-parallel-sharding-strategy" not in flags and "use-distributed-optimizer" in flags
    assert f"ZeRO-{zero} with stages" in lacks("megatron", zero=zero, pp=2)
    assert "ZeRO" not in lacks("megatron", zero=1, pp=2)


@pytest.mark.parametrize(
    ("recompute", "flags"),
    [
        ("none", ""),
        ("selective", "--recompute-granularity selective"),
        (
            "full",
            "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
        ),
    ],
)
def test_recomputation_of_megatron_is_of_whole_layers_or_of_attention(
    recompute: str, flags: str
) -> None:
    layout = LAYOUTS[0]._replace(recompute=recompute)
    text = flags_for("megatron", QUESTION, layout).text
    assert text.endswith(f"{flags} --bf16".strip()) and text.count("recompute") == flags.count(
        "recompute"
    )


def test_formats_have_their_flags() -> None:
    expected = {"bf16": "--bf16", "fp16": "--fp16", "fp8": "--fp8-format hybrid"}
    for dtype, flag in {**expected, "fp4": "--fp4-format e2m1"}.items():
        question = question_of({**DENSE, "chip": "b200", "dtype": dtype})
        assert flag in flags_for("megatron", question, LAYOUTS[0]).text
    narrow = question_of({**DENSE, "dtype": "fp8"})
    assert "quantization=fp8" in flags_for("maxtext", narrow, LAYOUTS[0]).text


points = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=30)


@given(points)
def test_the_front_is_what_no_other_beats(pairs: list[tuple[int, int]]) -> None:
    seconds = np.array([pair[0] for pair in pairs], dtype=float)
    held = np.array([pair[1] for pair in pairs], dtype=float)
    chosen = [pairs[place] for place in front_of(seconds, held)]
    unbeaten = {
        pair
        for pair in pairs
        if not any(other != pair and other[0] <= pair[0] and other[1] <= pair[1] for other in pairs)
    }
    assert chosen == sorted(unbeaten)


@given(points)
def test_what_no_other_beats_is_the_front_in_two_and_kept_in_three(
    pairs: list[tuple[int, int]],
) -> None:
    if not pairs:
        return
    two = np.array(pairs, dtype=float)
    chosen = {pairs[place] for place in unbeaten(two)}
    assert chosen == {pairs[place] for place in front_of(two[:, 0], two[:, 1])}
    # A third size that grows where both others shrink keeps every point.
    three = np.column_stack((two, -two.sum(axis=1)))
    kept = {pairs[place] for place in unbeaten(three)}
    assert kept == set(pairs)
