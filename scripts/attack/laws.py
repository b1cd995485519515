"""What holds for every prediction and every plan, whatever was asked: faults in words."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from flopbook.planning.planner import PlannedLayout, RunPlan
from flopbook.planning.serving import ServingPlan
from flopbook.prediction.asking import predict
from flopbook.prediction.asking_serving import ServingPrediction
from flopbook.prediction.predicted import Prediction

_ROUNDING = 1e-9
# Parts of the step are arrays of single numbers in both: the sums differ by their order alone.
_SAME = 1e-6


def of_prediction(predicted: Prediction) -> Iterator[str]:
    """A training step: parts make the whole, the band holds it, what fits has room."""
    yield from of_numbers(predicted.record())
    yield from of_band("seconds", predicted.low, predicted.seconds, predicted.high)
    if predicted.mfu > predicted.hfu * (1 + _ROUNDING):
        yield f"MFU {predicted.mfu} above HFU {predicted.hfu}"
    if predicted.hfu > 1:
        yield f"MFU of {predicted.mfu}, HFU of {predicted.hfu}"
    if not math.isclose(math.fsum(predicted.parts.values()), predicted.seconds, rel_tol=_ROUNDING):
        yield "parts that do not make the step"
    run, memory = predicted.run, predicted.memory
    tokens = predicted.tokens_per_second * predicted.seconds * run.chips
    if not math.isclose(tokens, run.batch * run.shape.tokens, rel_tol=_ROUNDING):
        yield f"{tokens} tokens in a step of {run.batch * run.shape.tokens}"
    if memory is not None and max(memory.parts.values()) > memory.total * (1 + _ROUNDING):
        yield "a part of the memory that is more than all of it"


def of_serving(predicted: ServingPrediction) -> Iterator[str]:
    """Times and rates of a server, with their bands."""
    yield from of_numbers(predicted.record())
    for name in ("first_token", "token", "throughput"):
        banded = getattr(predicted, name)
        yield from of_band(name, banded.low, banded.value, banded.high)
    if predicted.batch <= 0 or predicted.bytes <= 0:
        yield f"{predicted.batch} sequences in {predicted.bytes} bytes"


def of_plan(asked: Mapping[str, str | None], planned: RunPlan) -> Iterator[str]:
    """Layouts of a run: all chips, within the memory, best first, timed as predict does."""
    seconds = [layout.seconds for layout in planned.layouts]
    if any(later < earlier for earlier, later in pairwise(seconds)):
        yield "a slower layout before a faster one"
    if planned.considered < len(planned.layouts) or planned.feasible < len(planned.layouts):
        yield f"{planned.considered} considered, {planned.feasible} feasible"
    for layout in planned.layouts:
        yield from of_numbers(layout._asdict())
        yield from of_band("seconds", layout.low, layout.seconds, layout.high)
        if layout.tp * layout.pp * layout.cp * layout.dp != planned.question.chips:
            yield f"chips that are idle: {layout}"
        if layout.bytes > planned.question.room:
            yield f"more bytes than there are: {layout}"
    for layout in planned.layouts[:1]:
        yield from _predicted_otherwise(asked, layout)


def _predicted_otherwise(asked: Mapping[str, str | None], layout: PlannedLayout) -> Iterator[str]:
    """A plan and a prediction of the same layout are the same step."""
    degrees = {
        name: str(getattr(layout, name))
        for name in ("tp", "pp", "cp", "ep", "dp", "zero", "hsdp", "micro_batch", "virtual")
    }
    words = {"recompute": layout.recompute, "schedule": layout.schedule}
    predicted = predict({**asked, **degrees, **words})
    if not math.isclose(predicted.seconds, layout.seconds, rel_tol=_SAME):
        yield f"{layout.seconds} s planned, {predicted.seconds} s predicted: {layout}"
    memory = predicted.memory
    if memory is not None and not math.isclose(memory.total, layout.bytes, rel_tol=_SAME):
        yield f"{layout.bytes} bytes planned, {memory.total} predicted: {layout}"


def of_serving_plan(planned: ServingPlan) -> Iterator[str]:
    """Ways to serve: within the memory, the fastest first."""
    rates = [layout.tokens_per_s_per_chip for layout in planned.layouts]
    if any(later > earlier * (1 + _ROUNDING) for earlier, later in pairwise(rates)):
        yield "a faster layout after a slower one"
    for layout in planned.layouts:
        yield from of_numbers(layout._asdict())
        # The band is that of the chip's rate or of the whole, whichever the layout is ranked by.
        if not (layout.low <= layout.tokens_per_s <= layout.high) and not (
            layout.low <= layout.tokens_per_s_per_chip <= layout.high
        ):
            yield f"a band without its value: {layout}"


def of_band(name: str, low: float, value: float, high: float) -> Iterator[str]:
    """A band holds its value."""
    if not low <= value <= high:
        yield f"{name}: {value} outside {low} to {high}"


def of_numbers(record: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Numbers that are none, or negative; texts and lists of runs are not looked into."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from of_numbers(value, f"{place}{name}.")
        elif isinstance(value, (int, float)) and not 0 <= value <= sys.float_info.max:
            yield f"{place}{name} is {value}"
