"""A layout in the words of a framework: the flags or settings that make it, and what it lacks.

Names were read in the repositories at the commits in `FRAMEWORKS`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flopbook.planning.planner import PlannedLayout
from flopbook.planning.question import Question
from flopbook.planning.uneven import Settings, megatron_layout, titan_chunks
from flopbook.prediction.layouts import FSDP

MEGATRON_SHARDS = {2: "optim_grads", 3: "optim_grads_params"}
MEGATRON_OFFLOAD = {
    "optimizer-cpu-offload": True,
    "optimizer-offload-fraction": 1.0,
    "use-precision-aware-optimizer": True,
    "overlap-cpu-optimizer-d2h-h2d": True,
}
TITAN_SCHEDULES = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "Interleaved1F1B",
    "zb-v": "ZBVZeroBubble",
    "dualpipe-v": "DualPipeV",
}
TITAN_FOLDED = ("zb-v", "dualpipe-v")  # a stage has a chunk from the front and one from the back
TITAN_DEFAULT_RECOMPUTE = "SelectiveAC.Config()"
TITAN_RECOMPUTE = {
    "none": "None",
    "selective": TITAN_DEFAULT_RECOMPUTE,
    "full": "FullAC.Config()",
}
MAXTEXT_RECOMPUTE = {"none": "none", "selective": "minimal_with_context", "full": "full"}
# MaxText moves states to the chip for the update.
MAXTEXT_OFFLOAD: Mapping[str, tuple[str, ...]] = {
    "no": (),
    "optimizer": ("optimizer_memory_host_offload",),
    "gradients": ("optimizer_memory_host_offload",),
    "parameters": ("optimizer_memory_host_offload", "parameter_memory_host_offload"),
}
PLAIN_SCHEDULES = ("1f1b", "interleaved")


class Flags(NamedTuple):
    """What to pass to a framework for a layout, and what of it the framework cannot do so."""

    text: str
    lacks: tuple[str, ...]


class Dialect(NamedTuple):
    """A framework whose words we know: how they are written, and where they were read."""

    words: Callable[[Question, PlannedLayout], Flags]
    repository: str
    commit: str


def flags_for(name: str, question: Question, layout: PlannedLayout) -> Flags:
    """The flags of a framework for a layout."""
    return FRAMEWORKS[name].words(question, layout)


def _megatron(question: Question, layout: PlannedLayout) -> Flags:
    """Command line of Megatron-LM; `--expert-tensor-parallel-size` stays the tensor degree."""
    settings: Settings = {
        "tensor-model-parallel-size": layout.tp,
        "pipeline-model-parallel-size": layout.pp,
        "context-parallel-size": layout.cp,
        "seq-length": int(question.run.shape.tokens),
        "micro-batch-size": layout.micro_batch,
        "global-batch-size": question.batch,
    }
    if question.run.shape.is_mixture:
        settings["expert-model-parallel-size"] = layout.ep
    if layout.ep > 1:
        # Its default gathers the tokens of all ranks for each; the plan sends each to its experts.
        settings["moe-token-dispatcher-type"] = "alltoall"
    layers, chunks = int(question.run.shape.layers), layout.pp * layout.virtual
    if layers % chunks:
        settings["pipeline-model-parallel-layout"] = f"'{megatron_layout(layers, chunks)}'"
    elif layout.virtual > 1:
        settings["num-virtual-stages-per-pipeline-rank"] = layout.virtual
    if layout.tp > 1:
        settings["sequence-parallel"] = True
    settings |= _megatron_sharding(layout)
    settings |= _megatron_recompute(question, layout) | _megatron_formats(question.dtype)
    if question.run.offload != "no":
        settings |= MEGATRON_OFFLOAD
    lacks = _other_schedule(layout) + _uneven_chunks(question, layout)
    lacks += _fsdp_with_stages(layout) + _not_offloaded(question, ("optimizer",), is_able=False)
    return Flags(_dashed(settings, " "), lacks)


def _megatron_sharding(layout: PlannedLayout) -> Settings:
    """Megatron-FSDP starts only with checkpoints in its own format."""
    settings: Settings = {}
    if layout.zero >= 1:
        settings["use-distributed-optimizer"] = True
    if layout.hsdp > 1:
        settings["num-distributed-optimizer-instances"] = layout.hsdp
    # Both are off by default, and the time of a plan hides this traffic behind the passes.
    if layout.dp * layout.cp > 1:
        settings["overlap-grad-reduce"] = True
        settings |= {"overlap-param-gather": True} if layout.zero >= 1 else {}
    if layout.zero >= 2 and layout.pp == 1:
        settings |= {
            "use-megatron-fsdp": True,
            "data-parallel-sharding-strategy": MEGATRON_SHARDS[layout.zero],
            "ckpt-format": "fsdp_dtensor",
            # With the fusion it wants Transformer Engine 2.10; NVIDIA's own scripts switch it off.
            "no-gradient-accumulation-fusion": True,
        }
    return settings


def _fsdp_with_stages(layout: PlannedLayout) -> tuple[str, ...]:
    """What to say where a pipeline asks for more than a sharded optimizer."""
    if layout.zero < 2 or layout.pp == 1:
        return ()
    asked = f"ZeRO-{layout.zero} with stages"
    return (f"{asked}: Megatron-FSDP names TP, CP and EP, no PP; the flags are those of ZeRO-1",)


def _megatron_recompute(question: Question, layout: PlannedLayout) -> Settings:
    """Layers one by one are counted in each chunk of a stage."""
    if layout.recompute == "none":
        return {}
    if layout.recompute == "selective":
        return {"recompute-granularity": "selective"}
    layers = question.run.recompute_layers
    chosen = {"recompute-method": "uniform", "recompute-num-layers": 1}
    if layers:
        count = math.ceil(layers / layout.virtual)
        chosen = {"recompute-method": "block", "recompute-num-layers": count}
    return {"recompute-granularity": "full", **chosen}


def _uneven_chunks(question: Question, layout: PlannedLayout) -> tuple[str, ...]:
    """What to say where the layers that are recomputed do not divide over the chunks."""
    layers = int(question.run.recompute_layers)
    if layout.recompute != "full" or layers % layout.virtual == 0:
        return ()
    return (f"{layers} recomputed layers of a stage: each of its chunks takes equally many",)


def _megatron_formats(precision: str) -> Settings:
    if precision == "fp16":
        return {"fp16": True}
    narrow = {"fp8": {"fp8-format": "hybrid"}, "fp4": {"fp4-format": "e2m1"}}
    return {"bf16": True, **narrow.get(precision, {})}


def _torchtitan(question: Question, layout: PlannedLayout) -> Flags:
    """Options of torchtitan, which its configurations name alike.

    It has no ZeRO-1, so what asks for that gets ZeRO-2: without shards each rank would keep a whole
    optimizer, which no such plan has counted.
    """
    copies = layout.hsdp if layout.zero >= 1 else layout.dp
    tokens = int(question.run.shape.tokens)
    settings: Settings = {
        "parallelism.data_parallel_replicate_degree": copies,
        "parallelism.data_parallel_shard_degree": layout.dp // copies,
        "parallelism.tensor_parallel_degree": layout.tp,
        "parallelism.pipeline_parallel_degree": layout.pp,
        "parallelism.context_parallel_degree": layout.cp,
        "parallelism.expert_parallel_degree": layout.ep,
        "training.max_context_length": tokens,
        "training.num_tokens_per_microbatch_per_dp_rank": layout.micro_batch * tokens,
        "training.num_tokens_per_train_step": question.batch * tokens,
    }
    if layout.zero in (1, 2):
        settings["parallelism.fsdp_reshard_after_forward"] = "never"
    lacks = [*_not_offloaded(question, ("parameters",), is_able=False)]
    if layout.pp > 1:
        pieces = 2 if layout.schedule in TITAN_FOLDED else layout.virtual
        chunks = titan_chunks(int(question.run.shape.layers), layout.pp * pieces)
        lacks += chunks.lacks
        settings |= {
            "parallelism.pipeline_parallel_schedule": TITAN_SCHEDULES.get(layout.schedule, "1F1B"),
            **chunks.settings,
            "parallelism.num_pp_microbatches": _micro_batches(question, layout),
        }
    if question.run.offload == "parameters":
        settings["training.enable_cpu_offload"] = True
    if layout.zero == 1:
        lacks.append("ZeRO-1: torchtitan shards gradients as well; these are the flags of ZeRO-2")
    chosen = TITAN_RECOMPUTE[layout.recompute]
    if chosen != TITAN_DEFAULT_RECOMPUTE:
        lacks.append(f"recomputation: set activation_checkpoint = {chosen} in the code")
    if layout.schedule not in TITAN_SCHEDULES:
        lacks.append(f"schedule {layout.schedule}")
    return Flags(_dashed(settings, " "), tuple(lacks))


def _maxtext(question: Question, layout: PlannedLayout) -> Flags:
    """Keys of MaxText; the axes of the mesh multiply to the chips."""
    replicas = layout.dp // layout.ep if layout.dp % layout.ep == 0 else layout.dp
    is_piped = layout.pp > 1
    count = _micro_batches(question, layout)
    steps = 1 if is_piped else count
    copies = min(layout.hsdp, replicas) if layout.zero >= 3 else replicas
    across, is_split = _across_slices(question, copies, replicas // copies)
    settings: Settings = {
        **across,
        "ici_tensor_parallelism": layout.tp,
        "ici_context_parallelism": layout.cp,
        "ici_expert_parallelism": layout.ep,
        "ici_pipeline_parallelism": layout.pp,
        "max_target_length": int(question.run.shape.tokens),
        "per_device_batch_size": question.batch / steps / question.chips,
        "gradient_accumulation_steps": steps,
        "remat_policy": MAXTEXT_RECOMPUTE[layout.recompute],
    }
    if is_piped:
        layers = math.ceil(question.run.shape.layers / (layout.pp * layout.virtual))
        settings |= {"num_layers_per_pipeline_stage": layers, "num_pipeline_microbatches": count}
    if layout.zero == 1:
        settings["shard_optimizer_over_data"] = "true"
    if question.dtype == "fp8":
        settings["quantization"] = "fp8"
    settings |= dict.fromkeys(MAXTEXT_OFFLOAD[question.run.offload], "true")
    if question.run.offload_activations == "yes" and layout.recompute == "full":
        settings |= {"remat_policy": "custom", "decoder_layer_input": "offload"}
    lacks = ("ZeRO-2: MaxText shards weights too, or the optimizer alone",)
    away = _not_offloaded(question, ("optimizer", "parameters"), is_able=layout.recompute == "full")
    if question.run.offload != "no":
        away += ("updates on the host: MaxText moves states to the chip for them",)
    away += _refused_by_maxtext(question, layout, steps)
    if not is_split:
        away += (f"{question.run.slices:.0f} slices: replicas do not divide over them",)
    text = " ".join(f"{name}={_number(value)}" for name, value in settings.items())
    return Flags(text, (lacks if layout.zero == 2 else ()) + _other_schedule(layout) + away)


def _refused_by_maxtext(question: Question, layout: PlannedLayout, steps: int) -> tuple[str, ...]:
    """What MaxText checks of a pipeline and of fp8 before it starts."""
    count, layers = _micro_batches(question, layout), int(question.run.shape.layers)
    told = {
        f"{count} micro-batches: MaxText takes multiples of the stages": count % layout.pp,
        "unequal stages: pipeline_parallel_layers has to be what they divide": (
            layers % (layout.pp * layout.virtual)
        ),
        "fp8: MaxText accumulates no gradients with it": question.dtype == "fp8" and steps > 1,
    }
    return tuple(words for words, is_refused in told.items() if is_refused)


def _across_slices(question: Question, copies: int, shards: int) -> tuple[Settings, bool]:
    """Replicas inside slices (ICI) and across them (DCN), copies first; and whether all divide."""
    slices = int(question.run.slices)
    whole = math.gcd(copies, slices)
    sharded = math.gcd(shards, slices // whole)
    inside: Settings = {
        "ici_data_parallelism": copies // whole,
        "ici_fsdp_parallelism": shards // sharded,
    }
    if slices == 1:
        return inside, True
    beyond = {"dcn_data_parallelism": whole, "dcn_fsdp_parallelism": sharded}
    return {**beyond, **inside}, whole * sharded == slices


def _deepspeed(question: Question, layout: PlannedLayout) -> Flags:
    """The configuration of DeepSpeed; stages of a pipeline are named in the code.

    It multiplies batches by all ranks that no `mpu` takes out, those of a TP group included, and
    stops where a batch is given that does not come out so.
    """
    settings: Settings = {
        **({} if layout.tp > 1 else {"train_batch_size": question.batch}),
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "gradient_accumulation_steps": _micro_batches(question, layout),
        "zero_optimization": _deepspeed_zero(question, layout),
    }
    if question.run.offload_activations == "yes":
        settings["activation_checkpointing"] = {"cpu_checkpointing": True}
    if layout.tp > 1:
        settings["tensor_parallel"] = {"autotp_size": layout.tp}
    if layout.cp > 1:
        settings["sequence_parallel_size"] = layout.cp
    if layout.ep > 1:
        settings["expert_parallel"] = {"enabled": True, "autoep_size": layout.ep}
    settings["fp16" if question.dtype == "fp16" else "bf16"] = {"enabled": True}
    return Flags(json.dumps(settings), _lacking_in_deepspeed(question, layout))


def _lacking_in_deepspeed(question: Question, layout: PlannedLayout) -> tuple[str, ...]:
    """What DeepSpeed has no setting for, or refuses; its documentation keeps experts apart."""
    run, has_experts = question.run, layout.ep > 1
    is_split = layout.cp > 1 or layout.hsdp > 1
    derived = question.batch * layout.tp
    told = {
        "offload_param without ZeRO-3": run.offload == "parameters" and layout.zero < FSDP,
        f"train_batch_size: every TP rank is counted, so it comes to {derived}": layout.tp > 1,
        f"stages: PipelineModule(num_stages={layout.pp}) in the code": layout.pp > 1,
        "ZeRO-2 and ZeRO-3 with a pipeline": layout.pp > 1 and layout.zero >= 2,
        "several chunks on a stage": layout.virtual > 1,
        "recomputation: deepspeed.checkpointing in the code": layout.recompute != "none",
        "expert_parallel beside autotp_size": has_experts and layout.tp > 1,
        "expert_parallel in ZeRO-3 beside sequences or groups that are split": (
            has_experts and layout.zero == FSDP and is_split
        ),
    }
    can_checkpoint = layout.recompute == "full"
    away = _not_offloaded(question, ("gradients", "parameters"), is_able=can_checkpoint)
    return (*away, *(words for words, is_lacking in told.items() if is_lacking))


def _deepspeed_zero(question: Question, layout: PlannedLayout) -> Settings:
    """The stage, what is offloaded, and the ranks of a group (MiCS) where several hold all."""
    stage: Settings = {"stage": layout.zero}
    host = {"device": "cpu", "pin_memory": True}
    if question.run.offload != "no":
        stage["offload_optimizer"] = host
    if question.run.offload == "parameters":
        stage["offload_param"] = host
    return stage if layout.hsdp == 1 else {**stage, "mics_shard_size": layout.dp // layout.hsdp}


def _not_offloaded(question: Question, able: tuple[str, ...], *, is_able: bool) -> tuple[str, ...]:
    """What of the offloading a framework does not do: states as asked, and activations."""
    states, activations = question.run.offload, question.run.offload_activations
    found = []
    if states not in ("no", *able):
        found.append(f"--offload {states}: it offloads {' or '.join(able)}")
    if activations == "yes" and not is_able:
        found.append("activations on the host")
    return tuple(found)


def _micro_batches(question: Question, layout: PlannedLayout) -> int:
    return question.batch // (layout.dp * layout.micro_batch)


def _other_schedule(layout: PlannedLayout) -> tuple[str, ...]:
    return () if layout.schedule in PLAIN_SCHEDULES else (f"schedule {layout.schedule}",)


def _dashed(settings: Mapping[str, Any], equals: str) -> str:
    """Options as a command line has them; one that is on has no value."""
    words = [
        f"--{name}" if value is True else f"--{name}{equals}{_number(value)}"
        for name, value in settings.items()
    ]
    return " ".join(words)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value}"


FRAMEWORKS: Mapping[str, Dialect] = {
    "megatron": Dialect(
        _megatron, "NVIDIA/Megatron-LM", "d98e8a64ddf34856e74b24714e3bedb2f5a39553"
    ),
    "torchtitan": Dialect(
        _torchtitan, "pytorch/torchtitan", "b5bcd76c66d0acb1a08b176d9639425bc55e0b2a"
    ),
    "maxtext": Dialect(
        _maxtext, "AI-Hypercomputer/maxtext", "e591f30cbbf217ed67ef71263ec0538239f9c3b8"
    ),
    "deepspeed": Dialect(
        _deepspeed, "deepspeedai/DeepSpeed", "edaa7221267243c7be7fb49c5d5f5c4fb97b4641"
    ),
}
