"""Why no layout of a question exists at all, however much memory its chips had."""

from __future__ import annotations

from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
from flopbook.formulas.conditions import tp_divides_heads
from flopbook.formulas.training_layouts import (
    cp_divides_the_sequence,
    ep_divides_experts,
    stages_have_layers,
)
from flopbook.planning.exclusions import NO_ROOM, TOO_SLOW
from flopbook.planning.explaining import reasons
from flopbook.planning.memory import memory_inputs
from flopbook.planning.planner import RunPlan
from flopbook.prediction.possible_layouts import check_experts

# A degree that is fixed, and the rule that it alone may break.
_OF_ONE_DEGREE = {
    "tp": tp_divides_heads,
    "pp": stages_have_layers,
    "ep": ep_divides_experts,
    "cp": cp_divides_the_sequence,
}
MOST_REASONS = 3


def check_exists(found: RunPlan) -> None:
    """Raise FlopbookError, with what would do, where rules and no limit leave nothing of a plan."""
    if found.layouts or {NO_ROOM, TOO_SLOW} & set(found.infeasible):
        return
    question = found.question
    fixed = question.fixed
    check_experts(question.run.shape, fixed.get("ep", 1))
    inputs = memory_inputs(question)
    for name, rule in _OF_ONE_DEGREE.items():
        if name in fixed:
            rule.check({**inputs, **fixed})
    size = fixed.get("micro_batch", 1)
    if question.batch % size:
        raise FlopbookError(
            f"--micro-batch {size} does not divide the {counted(question.batch, 'sequence')} "
            "of a step"
        )
    counts = reasons(found.infeasible, MOST_REASONS)
    why = ", ".join(f"{reason} {count:,}" for reason, count in counts)
    raise FlopbookError(
        f"no layout on {counted(question.chips, 'chip')} exists, whatever fits: {why}; "
        "change chips, batch or a degree that is fixed"
    )
