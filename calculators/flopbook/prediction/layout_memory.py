"""The memory of a run that somebody asks about: what the calculator `memory` says of its layout."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate, resolved
from flopbook.formulas import get_formula
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.named_models import ModelName, model_option

# Outputs of the calculator that are no part of the total.
_NO_PARTS = ("total", "inflight", "free")
# Before this year no stack divided activations along the sequence (Korthikanti et al., 2022).
SEQUENCE_PARALLEL_YEAR = 2022
# Stacks that add up gradients of 16 bits in fp32.
WIDE_GRADIENTS = ("megatron-core", "nemo", "deepspeed", "nanotron")
# What makes room, in the order in which people try it: the words, and what changes of the run.
_SAVINGS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("--zero 3", {"zero": 3}),
    ("--micro-batch 1", {"micro_batch": 1}),
    ("--recompute full", {"recompute": "full"}),
    ("--recompute full --zero 3", {"recompute": "full", "zero": 3}),
    (
        "--recompute full --zero 3 --micro-batch 1",
        {"recompute": "full", "zero": 3, "micro_batch": 1},
    ),
    ("--offload optimizer", {"offload": "optimizer"}),
    ("--offload gradients", {"offload": "gradients"}),
    ("--offload parameters --zero 3", {"offload": "parameters", "zero": 3}),
    (
        "--offload parameters --zero 3 --recompute full --micro-batch 1",
        {"offload": "parameters", "zero": 3, "recompute": "full", "micro_batch": 1},
    ),
)
# What a rule does not choose for anybody: it may make a step several times as long.
_NEVER_CHOSEN = ("offload",)


class LayoutMemory(NamedTuple):
    """Bytes that a layout takes on each chip, by part, and the bytes that the chip has."""

    total: float
    room: float
    parts: Mapping[str, float]

    @property
    def fits(self) -> bool:
        """Whether the chip has as much."""
        return self.total <= self.room


def software_options(model: ModelName, run: RunLayout) -> dict[str, Any]:
    """The options of `flopbook memory` that model, chip, formats and software decide.

    Tensor parallelism divides norms along the sequence too; attention is fused and kernels are
    compiled as the prediction takes them; dropout went out of use with fused attention.
    """
    is_wide = run.stack in WIDE_GRADIENTS and run.precision != "fp16"
    return {
        **model_option(model),
        "chip": run.machine.chip,
        "seq": run.shape.tokens,
        "dtype": run.precision,
        "sequence_parallel": "no" if run.year < SEQUENCE_PARALLEL_YEAR else "yes",
        "attention": "flash" if run.has_flash else "scores",
        "dropout": "no" if run.has_flash else "auto",
        "fusion": "fused" if run.is_compiled else "eager",
        "offload": run.offload,
        "offload_activations": run.offload_activations,
        **({"grad_dtype": "fp32"} if is_wide else {}),
        **({"recompute_layers": run.recompute_layers} if run.recompute_layers else {}),
    }


def memory_options(model: ModelName, run: RunLayout) -> dict[str, Any]:
    """All options of `flopbook memory` for a run."""
    return {**software_options(model, run), **layout_inputs(run)}


def layout_inputs(run: RunLayout) -> dict[str, Any]:
    """The inputs of the calculator that the layout of a run decides."""
    degrees = {name: getattr(run, name) for name in ("tp", "pp", "cp", "ep", "dp", "zero", "hsdp")}
    return {
        **degrees,
        "schedule": "interleaved" if run.virtual > 1 else run.schedule,
        "virtual": run.virtual,
        "micro_batch": run.micro_batch,
        "microbatches": run.micro_batches,
        "recompute": run.recompute,
    }


def shared_inputs(model: ModelName, run: RunLayout) -> dict[str, Any]:
    """The inputs of the calculator that all layouts of a run share.

    Raises FlopbookError for a model whose memory cannot be computed.
    """
    values = resolved("memory", **software_options(model, run))
    return {name: value.value for name, value in values.items()}


def bytes_on_chip(inputs: Mapping[str, Any]) -> float:
    """The total of a layout whose inputs keep all rules."""
    return float(get_formula("memory").compute(inputs)["total"])


def memory_of(model: ModelName, run: RunLayout) -> LayoutMemory:
    """The memory of each chip. Raises FlopbookError for a layout that the calculator refuses."""
    answer = calculate("memory", **memory_options(model, run)).outputs
    parts = {name: float(value) for name, value in answer.items() if name not in _NO_PARTS}
    total = float(answer["total"])
    return LayoutMemory(total, run.machine.memory, _of_one_stage(parts, total))


def _of_one_stage(parts: Mapping[str, float], total: float) -> dict[str, float]:
    """Parts that add up to the total: of a pipeline the calculator gives those of both ends."""
    beyond = math.fsum(parts.values()) - total
    if beyond <= 1e-9 * total:
        return dict(parts)
    held, logits = parts["activations"], parts["logits"]
    # The first stage is the fuller one where leaving out the logits of the last makes the total.
    is_first = abs(beyond - logits) <= 1e-9 * total
    kept = {"logits": 0.0} if is_first else {"activations": held - beyond}
    return {**parts, **kept}


def savings(model: ModelName, run: RunLayout) -> tuple[str, ...]:
    """The options, first the smallest change, with which a run that does not fit would fit."""
    return tuple(words for words, _, _ in _that_fit(model, run))[:2]


def made_to_fit(model: ModelName, run: RunLayout, given: Iterable[str]) -> RunLayout:
    """A run that does not fit with the smallest change, of what is left open, with which it does.

    The run itself where nothing that is open makes it fit. `given` names the fields that were asked
    for.
    """
    fixed = {*given, *_NEVER_CHOSEN}
    for _, change, changed in _that_fit(model, run):
        if not fixed & set(change):
            return changed
    return run


def _that_fit(
    model: ModelName, run: RunLayout
) -> Iterator[tuple[str, Mapping[str, Any], RunLayout]]:
    """Changes with which a run fits: their words, fields, and the changed run.

    Where recomputing everything makes it fit, the fewest layers that do are offered.
    """
    for words, change in _SAVINGS:
        batch = run.micro_batch * run.micro_batches
        changed = run._replace(**change)
        changed = changed._replace(micro_batches=batch / changed.micro_batch)
        if changed == run or not _fits(model, changed):
            continue
        if "recompute" not in change:
            yield words, change, changed
            continue
        fewest = with_fewest_layers(changed, functools.partial(_fits, model))
        if fewest.recompute_layers:
            words = f"{words} --recompute-layers {fewest.recompute_layers:.0f}"
            change = {**change, "recompute_layers": fewest.recompute_layers}
        yield words, change, fewest


def with_fewest_layers(run: RunLayout, fits: Callable[[RunLayout], bool]) -> RunLayout:
    """A run that fits with the fewest layers of a stage recomputed with which it still does."""
    fewest, most = 1, math.ceil(run.shape.layers / run.pp)
    while fewest < most:
        middle = (fewest + most) // 2
        if fits(run._replace(recompute_layers=middle)):
            most = middle
        else:
            fewest = middle + 1
    return run._replace(recompute_layers=most) if most < run.shape.layers / run.pp else run


def _fits(model: ModelName, run: RunLayout) -> bool:
    try:
        return memory_of(model, run).fits
    except FlopbookError:
        return False
