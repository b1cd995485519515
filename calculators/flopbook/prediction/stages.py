"""Layers of a pipeline stage, and how often a step passes through them.

Arrays have one element per run, as in `step_time`.
"""

from __future__ import annotations

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column
from flopbook.prediction.layouts import Layouts

# Forward and twice that backward; recomputation goes forward once more.
PASSES, RECOMPUTED_PASSES = 3.0, 4.0


def stage_layers(runs: Layouts) -> Column:
    """Layers of the fullest stage: whole ones in each of its chunks."""
    chunks = runs["pp"] * runs["virtual"]
    full_chunks = arrays.ceil(runs["layers"] / chunks - 1e-9) * runs["virtual"]
    return arrays.where(runs["pp"] > 1, full_chunks, runs["layers"])


def repeated(runs: Layouts) -> Column:
    """The share of its layers that a stage computes again in the backward pass."""
    counted = arrays.minimum(runs["recompute_layers"] / stage_layers(runs), 1)
    share = arrays.where(runs["recompute_layers"] > 0, counted, 1)
    return arrays.where(runs.where("recompute", "full"), share, 0)
