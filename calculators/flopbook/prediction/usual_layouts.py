"""The layout that people would choose where a run says nothing of its own.

The order is that of Narayanan et al. (2021): tensor parallelism inside the fast links until the
states fit, then pipeline stages, and replicas with the rest; where sequences run out, they are cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flopbook.prediction.machines import ChipRates
from flopbook.prediction.software_words import keeps_activations
from flopbook.prediction.transformers import Transformer

SAID = ("tp", "pp", "cp", "ep", "dp", "strategy", "zero_stage")
WIDEST = 8  # ranks of tensor parallelism
# Weights of 16 bits on each rank, and for those that are trained gradients as well; fp32 weights
# and moments, shared by all replicas.
WEIGHT_BYTES, GRADIENT_BYTES, SHARED_BYTES = 2.0, 2.0, 12.0
STATE_SHARE = 0.6  # of the memory; activations take the rest
# What each stack does where a run does not say what the backward pass computes again.
USUAL_RECOMPUTE = {
    "maxtext": "full",
    "torchtune": "full",
    "megatron-core": "selective",
    "torchtitan": "selective",
}


def usual_recompute(stack: str, said: Mapping[str, Any], runs_on: ChipRates) -> str:
    """What is recomputed where a run does not say, as its stack does it."""
    if keeps_activations(str(said.get("task", ""))):
        return "none"
    return USUAL_RECOMPUTE.get(stack, "full" if runs_on.is_torus else "none")


def usual_degrees(
    said: Mapping[str, Any],
    shape: Transformer,
    runs_on: ChipRates,
    chips: float,
    batch: float | None,
    trained: float = 1.0,
) -> dict[str, int]:
    """Degrees of a run that states none, if one replica a chip is nothing that could run.

    `trained` is the share of the weights that get gradients.

    Empty where something is stated, where sharding over all chips does, and for mixtures, whose
    experts are divided in more ways.
    """
    is_said = any(name in said for name in SAID) or runs_on.is_torus or shape.is_mixture
    if (
        chips <= 1
        or is_said
        or not runs_on.memory
        or not _must_be_cut(shape.parameters, trained, runs_on.memory, chips, batch)
    ):
        return {}
    tp = pp = 1
    widest = min(WIDEST, runs_on.domain)
    room = STATE_SHARE * runs_on.memory
    while chips % (2 * tp * pp) == 0:
        if _state_bytes(shape.parameters / (tp * pp), trained, chips / (tp * pp)) <= room:
            break
        if 2 * tp <= widest:
            tp *= 2
        elif 2 * pp <= shape.layers:
            pp *= 2
        else:
            break
    replicas = chips // (tp * pp)
    cp = 1
    while batch and replicas // cp > batch and replicas % (2 * cp) == 0:
        cp *= 2
    return {"tp": tp, "pp": pp, "cp": cp, "dp": int(replicas // cp)}


def held_by_a_rank(shape: Transformer, degrees: Mapping[str, float]) -> float:
    """Parameters that a rank works with."""
    held = shape.parameters - shape.expert_parameters * (1 - 1 / degrees.get("ep", 1))
    return held / (degrees.get("tp", 1) * degrees.get("pp", 1))


def zero_that_fits(zero: int, held: float, replicas: float, memory: float, trained: float) -> int:
    """A stage with which weights, gradients and optimizer fit the chip, the usual one if it does.

    Stage 2 is left out: those who shard gradients and not weights say so.
    """
    for stage, shards in ((0, 1.0), (1, replicas)):
        if stage >= zero and (not memory or _state_bytes(held, trained, shards) < memory):
            return stage
    return 3


def _state_bytes(held: float, trained: float, shards: float) -> float:
    """Bytes of so many weights on a rank, whose optimizer some ranks share."""
    return held * (WEIGHT_BYTES + trained * (GRADIENT_BYTES + SHARED_BYTES / shards))


def _must_be_cut(
    parameters: float, trained: float, memory: float, chips: float, batch: float | None
) -> bool:
    """Whether replicas of one chip lack sequences, or cannot hold their part of the states."""
    if batch is not None and batch < chips:
        return True
    return _state_bytes(parameters / chips, trained, 1) > memory
