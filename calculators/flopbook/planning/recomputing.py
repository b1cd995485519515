"""Layouts that recompute some layers of each stage, between those with all of them and with none.

The search of a plan takes all layers or none. Of its best layouts, and of those that would be
faster if the memory were no limit, this finds the fewest layers with which they fit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from flopbook.planning.explaining import run_with
from flopbook.planning.memory import LAYOUT, bytes_of, memory_inputs
from flopbook.planning.planner import PlannedLayout, RunPlan
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.step_time import step_parts

GAIN = 1e-3  # of a step, below which nobody would ask


class InPart(NamedTuple):
    """A layout of a plan with so many layers of a stage recomputed, its seconds and bytes then."""

    layout: PlannedLayout
    layers: int
    seconds: float
    bytes: float

    def record(self) -> dict[str, Any]:
        """As JSON has it: degrees of the layout, layers, seconds and bytes."""
        names = ("tp", "pp", "virtual", "schedule", "dp", "zero", "cp", "ep", "micro_batch", "hsdp")
        kept = {name: getattr(self.layout, name) for name in names}
        changed = {"recompute_layers": self.layers, "seconds": self.seconds, "bytes": self.bytes}
        return {**kept, "recompute": "full", **changed}


def recomputed_in_part(found: RunPlan) -> InPart | None:
    """What is gained by recomputing some layers; None where it is nothing, or was not asked."""
    question = found.question
    if "full" not in question.recompute or question.run.recompute_layers or not found.layouts:
        return None
    tried = [
        candidate
        for candidate in (*found.layouts, *found.larger)
        if candidate.recompute != "selective"
    ]
    inputs = memory_inputs(question)
    parts = [part for layout in tried if (part := _in_part(found, layout, inputs))]
    fastest = min(parts, key=lambda part: part.seconds, default=None)
    most = (1 - GAIN) * found.layouts[0].seconds
    return fastest if fastest and fastest.seconds < most else None


def _in_part(found: RunPlan, layout: PlannedLayout, inputs: dict[str, Any]) -> InPart | None:
    """A layout with the fewest layers recomputed; None where only all of them do, or none need."""
    question = found.question
    counts = np.arange(1.0, math.ceil(question.run.shape.layers / layout.pp))
    run = run_with(question, layout)._replace(recompute="full")
    names = {"microbatches": "micro_batches"}
    numbers = {name: float(getattr(run, names.get(name, name))) for name in (*LAYOUT, "hsdp")}
    schedule = "interleaved" if run.virtual > 1 else run.schedule
    words = {"schedule": schedule, "recompute": "full"}
    held = bytes_of(inputs, {**numbers, "recompute_layers": counts}, **words)
    fitting = np.flatnonzero(held <= question.room)
    if not len(fitting):
        return None
    fewest = run._replace(recompute_layers=float(counts[fitting[0]]))
    p = fitted_kinds()["training_throughput"].parameters
    seconds = float(step_parts(Layouts([fewest]), p).seconds[0])
    return InPart(layout, int(fewest.recompute_layers), seconds, float(held[fitting[0]]))
