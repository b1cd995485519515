"""Plans for several counts of chips or formats beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flopbook.planning.fronts import unbeaten
from flopbook.planning.planner import PlannedLayout, RunPlan


class Choice(NamedTuple):
    """A layout with the plan that it is from, which has the count of chips and the price."""

    plan: RunPlan
    layout: PlannedLayout

    @property
    def chip_seconds(self) -> float:
        """Seconds of all chips in a step, which a price makes a cost."""
        return self.layout.seconds * self.plan.question.chips


def best_of_each(plans: Sequence[RunPlan]) -> list[Choice]:
    """The fastest layout of each plan that has one."""
    return [Choice(plan, plan.layouts[0]) for plan in plans if plan.layouts]


def joint_front(plans: Sequence[RunPlan]) -> list[Choice]:
    """The layouts on any count that no other beats in time, memory and cost, the fastest first.

    On one count the cost follows the time, so the front of each plan has all that can be there.
    """
    choices = [Choice(plan, layout) for plan in plans for layout in plan.front]
    if not choices:
        return []
    points = [(one.layout.seconds, one.layout.bytes, one.chip_seconds) for one in choices]
    kept = [choices[place] for place in unbeaten(np.array(points))]
    return sorted(kept, key=lambda one: one.layout.seconds)
