"""Bytes that an optimizer keeps for each parameter."""

from typing import Any

from flopbook.formulas.declaration import Constant, part
from flopbook.formulas.parameters import DModel
from flopbook.formulas.training_memory_inputs import (
    BytesPerParam,
    GradBytes,
    OptimizerKind,
    StateBytes,
)
from flopbook.quantities.ops import minimum, where

FP32 = Constant(4.0, "byte/param", "a number in 32 bits")
FP16 = Constant(2.0, "byte/param", "a number in 16 bits")
QUANTISED = Constant(1.0, "byte/param", "a number in 8 bits")


@part
def optimizer_states(
    d_model: DModel,
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    optimizer_kind: OptimizerKind = "adam",
    optimizer_bytes: StateBytes = 4.0,
) -> dict[str, Any]:
    """Master weights and moments of a parameter, and what its step casts to fp32."""
    # Mixed precision keeps a copy in fp32 beside narrower weights; 0 * FP32 keeps the unit.
    narrow = where(bytes_per_param < FP32, FP32, 0 * FP32)
    master = 0 * FP32 if optimizer_kind == "adam-pure" else narrow
    moments = {
        "adam": 2 * optimizer_bytes,
        "adam-bf16": 2 * FP16,
        "adam-8bit": 2 * QUANTISED,
        "adam-pure": 2 * minimum(optimizer_bytes, bytes_per_param),
        "adafactor": 2 * optimizer_bytes / d_model,
        "sgd": 0 * FP32,
    }.get(optimizer_kind, optimizer_bytes)
    state = master + moments
    return {
        "state": state,
        # Muon is for matrices; embeddings keep both moments of Adam.
        "embedding_state": master + 2 * optimizer_bytes if optimizer_kind == "muon" else state,
        # Gradients narrower than the master weights are cast to fp32 for the step.
        "cast": where(grad_bytes < FP32, master, 0 * master),
    }
