"""What a step waits for the host, which holds states of the model or activations."""

from __future__ import annotations

from flopbook.formulas import get_formula
from flopbook.formulas.offloading import DEEPSPEED_RATE, HOST_CHIPS
from flopbook.formulas.training_memory_inputs import OFFLOADED
from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.replicas_traffic import BYTES_16, held_by, shards_of

HELD = OFFLOADED[1:]  # all but none
# Bytes that a layer keeps of each token over its width (Korthikanti et al., 2022), without scores.
KEPT_BYTES = 34.0
# Bytes of a parameter that an update moves where weights and moments are kept in 16 bits.
UPDATED_16 = 14.0
# Published updates on hosts differ by more than this under one and another software.
SPREAD = 3.0


def waiting_of(runs: Layouts, layers: Column, computing: Column) -> Column:
    """Seconds by which offloading makes a step longer, whose passes take others.

    `layers` are those of a stage, `computing` seconds of all micro-batches.
    """
    seconds = 0 * computing
    is_away = runs.where("offload_activations", "yes")
    is_offloaded = is_away | runs.where("offload", *HELD)
    if not arrays.holds_anywhere(is_offloaded):
        return seconds
    formula = get_formula("offload")
    usual = formula.defaults
    is_narrow = runs.where("stack", "torchtune")
    rate = arrays.where(runs.where("stack", "deepspeed"), DEEPSPEED_RATE, usual["host_rate"])
    shared = {
        "params": runs["trained"] * held_by(runs),
        "dp": arrays.where(runs["zero"] >= 1, shards_of(runs), 1),
        "host_bandwidth": runs["host_bandwidth"],
        "microbatches": runs["micro_batches"],
        "compute_seconds": computing,
        "offload_activations": "yes",
        "activations": arrays.where(is_away, kept_by(runs, layers), 0),
        "update_bytes": arrays.where(is_narrow, UPDATED_16, usual["update_bytes"]),
        "host_rate": rate,
        "host_chips": arrays.minimum(runs["chips"], HOST_CHIPS),
    }
    for place in OFFLOADED:
        chosen = is_offloaded & runs.where("offload", place)
        if not arrays.holds_anywhere(chosen):
            continue
        found = formula.compute({**usual, **shared, "offload": place})
        seconds = arrays.where(chosen, found["exposed"], seconds)
    return seconds


def kept_by(runs: Layouts, layers: Column) -> Column:
    """Bytes of activations that the layers of a stage keep of a micro-batch."""
    is_full = runs.where("recompute", "full")
    each = arrays.where(is_full, BYTES_16, KEPT_BYTES) * runs["d_model"] / runs["tp"]
    return each * layers * runs["micro_batch"] * runs["tokens"] / runs["cp"]


def spread_of(seconds: float, waiting: float) -> float:
    """The factor by which a step may be longer, as a host may take so much longer."""
    return 1 + (SPREAD - 1) * waiting / seconds
