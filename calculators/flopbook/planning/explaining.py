"""Why a plan is as it is: what the best layout spends its time on, and what the next one loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from flopbook.errors import FlopbookError
from flopbook.formulas.training_memory_inputs import OFFLOADED
from flopbook.planning.planner import (
    DIVISION,
    PlannedLayout,
    RunPlan,
    division_of,
    plan,
    seconds_by_chunks,
)
from flopbook.planning.question import Question
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import Layouts, RunLayout
from flopbook.prediction.networks import NETWORK
from flopbook.prediction.open_layouts import MOST_CHIPS
from flopbook.prediction.step_time import step_parts

NEAR = 0.05  # share of a step by which another number of chunks may be longer to be named
STEPS = 8  # counts that are tried between one that is too small and its double


class Loss(NamedTuple):
    """What the next layout of another time loses to the best: in all, and in its worst part."""

    layout: PlannedLayout
    seconds: float
    part: str
    part_seconds: float


def run_with(question: Question, layout: PlannedLayout) -> RunLayout:
    """The run of a layout, as `predict` would build it from the same options."""
    left = tuple(name for name in question.run.inferred if name in (SOFTWARE, NETWORK))
    return question.run._replace(
        tp=layout.tp,
        pp=layout.pp,
        cp=layout.cp,
        ep=layout.ep,
        dp=layout.dp,
        virtual=layout.virtual,
        schedule=layout.schedule,
        zero=layout.zero,
        hsdp=layout.hsdp,
        recompute=layout.recompute,
        micro_batch=layout.micro_batch,
        micro_batches=question.batch / (layout.dp * layout.micro_batch),
        inferred=left,
    )


def parts_of_layout(question: Question, layout: PlannedLayout) -> dict[str, float]:
    """The parts of the step of one layout, in seconds, the longest first."""
    p = fitted_kinds()["training_throughput"].parameters
    parts = step_parts(Layouts([run_with(question, layout)]), p)._asdict()
    seconds = {name: float(np.asarray(part).ravel()[0]) for name, part in parts.items()}
    return dict(sorted(seconds.items(), key=lambda part: -part[1]))


def listed(found: RunPlan) -> tuple[PlannedLayout, ...]:
    """The best of each division; all layouts where the degrees leave one division alone."""
    return found.divisions if len(found.divisions) > 1 else found.layouts


def other_chunks(found: RunPlan, layout: PlannedLayout) -> dict[int, float]:
    """How much longer the same division takes with other numbers of chunks, as shares up to NEAR.

    Each number of chunks has its own best stage of ZeRO, micro-batch and recomputation.
    """
    if layout.pp == 1 or "virtual" in found.question.fixed:
        return {}
    degrees = dict(zip(DIVISION, division_of(layout), strict=True))
    question = found.question._replace(fixed={**found.question.fixed, **degrees})
    seconds = sorted(seconds_by_chunks(question).items())
    shares = {count: one / layout.seconds - 1 for count, one in seconds}
    return {n: share for n, share in shares.items() if n != layout.virtual and share <= NEAR}


def loss_of_the_next(found: RunPlan) -> Loss | None:
    """What the fastest layout of a longer time loses; None where all listed take the same."""
    best = found.layouts[0]
    slower = [layout for layout in listed(found) if layout.seconds > best.seconds]
    if not slower:
        return None
    following = slower[0]
    ours = parts_of_layout(found.question, best)
    theirs = parts_of_layout(found.question, following)
    lost = {name: theirs[name] - ours[name] for name in ours}
    part = max(lost, key=lambda name: lost[name])
    return Loss(following, following.seconds - best.seconds, part, lost[part])


def smallest_count(question: Question) -> int | None:
    """The smallest number of chips on which some layout fits, of those that are tried.

    Tried are the doubles of the chips asked for, and eighths between the last two of them.
    """
    chips = question.chips
    while 2 * chips <= MOST_CHIPS:
        chips *= 2
        if _fits(question, chips):
            tried = (chips // 2 + chips // 2 * step // STEPS for step in range(1, STEPS))
            return next((count for count in tried if _fits(question, count)), chips)
    return None


def _fits(question: Question, chips: int) -> bool:
    run = question.run._replace(chips=float(chips))
    try:
        return bool(plan(question._replace(run=run), top=1).layouts)
    except FlopbookError:  # on so many chips no pipeline has the chunks that were asked for
        return False


def offload_that_fits(question: Question) -> str | None:
    """The least that has to lie on the host for some layout to fit, beyond what does already."""
    for place in OFFLOADED[OFFLOADED.index(question.run.offload) + 1 :]:
        moved = question._replace(run=question.run._replace(offload=place))
        if plan(moved, top=1).layouts:
            return place
    return None


def reasons(infeasible: Mapping[str, int], most: int) -> list[tuple[str, int]]:
    """The most frequent reasons, and all others together."""
    ordered = sorted(infeasible.items(), key=lambda reason: -reason[1])
    unnamed = sum(count for _, count in ordered[most:])
    return [*ordered[:most], ("other reasons", unnamed)] if unnamed else ordered[:most]
