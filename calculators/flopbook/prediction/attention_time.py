"""The time of attention in a training step: scores and sums, and updates of recurrent states.

Arrays have one element per run and seconds as unit, as in `step_time`.
"""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.experts import replays_step
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.near_layers import keys_multiplied
from flopbook.prediction.parameters import ATTENTION_STARTS
from flopbook.prediction.stages import PASSES, RECOMPUTED_PASSES, repeated
from flopbook.prediction.transformers import FLOP_PER_WEIGHT

Parameters = Mapping[str, float]

# Flash attention always recomputes scores: its backward pass does 2.5 times the forward work.
FLASH_PASSES = {"none": 3.5, "selective": 3.8, "full": 4.5}
FULL_HEAD = 128.0  # head dimension for which the rates of fused attention are stated
HOPPER_KERNELS = 2026.0  # since then all stacks run attention in kernels made for Hopper
# Time of the products of attention in 8 bits over that in 16; its exponentials take as long as
# before. Recipes for whole graphs set `fp8_dot_product_attention` (one of five does not).
NARROW_SCORES = 0.5
FIRST_FLASH_YEAR = 2023  # the second version of fused attention spread after it


def attention_of(runs: Layouts, p: Parameters, layers: Column) -> Column:
    """Scores and sums: fused, of the tokens that a mask leaves; or through memory, all of them.

    Layers without attention have none of them; some update a state in its place.
    """
    work, peak = layers * runs["attending"], _attention_peak(runs, p)
    flop = 2 * FLOP_PER_WEIGHT * work / runs["tp"]
    passes = runs.choose("recompute", FLASH_PASSES, FLASH_PASSES["selective"])
    some = FLASH_PASSES["none"] + (FLASH_PASSES["full"] - FLASH_PASSES["none"]) * repeated(runs)
    passes = arrays.where(runs.where("recompute", "full"), some, passes)
    # Each score costs an exponential, however wide the head that computes it.
    head = arrays.minimum(runs["head_dim"], FULL_HEAD)
    products = head * arrays.where(replays_step(runs), NARROW_SCORES, 1)
    narrow = head / (products + p["half_head"]) * (1 + p["half_head"] / FULL_HEAD)
    fused = passes * flop * keys_multiplied(runs) / (peak * narrow)
    # A score is written and read in 16 bits by softmax, mask and dropout, forward and backward.
    scores = runs["score_width"] / 128 * runs["tokens"] * work / runs["tp"]
    moved = p["scores_moved"] * 10 * scores / runs["memory_bandwidth"]
    every = runs["score_width"] * runs["tokens"]
    unfused = passes * flop * every / (peak * head / FULL_HEAD) + moved
    seconds = arrays.where(runs["has_flash"] > 0, fused, unfused)
    # Without a zigzag split the last of c ranks of a causal sequence has 2 - 1/c times the mean.
    busiest = 1 + p["context_unbalanced"] * (1 - 1 / runs["cp"])
    seconds = seconds * arrays.where(runs.where("stack", "torchtitan"), busiest, 1)
    return seconds + _states(runs, layers) / peak


def _attention_peak(runs: Layouts, p: Parameters) -> Column:
    """FLOP/s that attention reaches with wide heads."""
    shares = {name: p[f"attention_{name}"] for name in ATTENTION_STARTS}
    share = runs.choose("generation", shares, p["attention_other"])
    is_older = runs.where("generation", "hopper") & ~_has_hopper_kernels(runs)
    share = arrays.where(is_older, p["attention_hopper-flash2"], share)
    share = share * arrays.where(runs["year"] <= FIRST_FLASH_YEAR, p["attention_first"], 1)
    return runs["peak_16bit"] * share


def _states(runs: Layouts, layers: Column) -> Column:
    """FLOPs of recurrent layers beside their matrices: those of their kernels, where known.

    Else as `training-flops` counts them, which is less than what chunks of tokens take. No run
    tells at which rate.
    """
    passes = PASSES + (RECOMPUTED_PASSES - PASSES) * repeated(runs)
    flop = FLOP_PER_WEIGHT * runs["state_products"] * passes / PASSES
    least = 2 * FLOP_PER_WEIGHT * passes * runs["state_values"]
    return arrays.where(flop > 0, flop, least) * layers / runs["tp"]


def _has_hopper_kernels(runs: Layouts) -> Mask:
    """Whether attention runs in kernels made for Hopper, where those of Ampere run too.

    They came with vendor stacks in 2024, and PyTorch 2.11 of 2026 chooses them by itself
    (flopbook2026measured: its traces name cuDNN's kernels for sm90).
    """
    vendors = runs.where("stack", "nemo", "megatron-core") & (runs["year"] >= 2024)
    return vendors | (runs["year"] >= HOPPER_KERNELS)
