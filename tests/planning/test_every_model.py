"""Every model on file can be planned for, and every chip that is timed can be planned on."""

from __future__ import annotations

from flopbook.data.library import entry_ids, model_ids
from flopbook.errors import FlopbookError
from flopbook.planning.planner import RunPlan, plan
from flopbook.planning.question import question_of
from flopbook.planning.serving import plan_serving
from flopbook.planning.serving_question import serving_question
from tests.support.cases import every

SIZES = {"chips": "256", "batch_tokens": "1Mi", "seq": "4096", "stack": "megatron-core"}


def planned(model: str, chip: str) -> RunPlan:
    return plan(question_of({"model": model, "chip": chip, **SIZES}), 3)


@every("model", model_ids())
def test_a_model_is_planned_or_does_not_fit(model: str) -> None:
    found = planned(model, "h100-sxm")
    assert found.considered == found.feasible + sum(found.infeasible.values())
    if not found.layouts:
        assert found.feasible == 0 and found.infeasible["does not fit"] > 0
    for layout in found.layouts:
        assert layout.tp * layout.pp * layout.cp * layout.dp == 256
        assert 0 < layout.bytes <= 80e9 and 0 < layout.mfu < 1
        assert layout.seconds >= found.layouts[0].seconds > 0


@every("model", model_ids())
def test_a_model_is_served_or_does_not_fit(model: str) -> None:
    asked = {"model": model, "chip": "h200-sxm", "chips": "16", "dtype": "fp8"}
    found = plan_serving(serving_question(asked), 10)
    if not found.layouts:
        reasons = {"does not fit", "heads do not divide", "experts do not divide"}
        assert set(found.infeasible) <= {*reasons, "layers do not divide"}
    paces = [layout.tokens_per_s for layout in found.layouts]
    assert paces == sorted(paces, reverse=True)
    divisions = {(layout[:4], layout.prefill) for layout in found.layouts}
    assert len(divisions) == len(found.layouts)
    for layout in found.layouts:
        readers = layout.prefill.chips * layout.prefill_replicas if layout.prefill else 0
        assert layout.tp * layout.pp * layout.dp * layout.replicas + readers == 16
        assert layout.bytes <= found.question.room


@every("chip", entry_ids())
def test_a_chip_is_planned_on_or_says_what_is_not_published(chip: str) -> None:
    try:
        found = planned("llama-3-8b", chip)
    except FlopbookError as refusal:
        assert "\n" not in str(refusal) and str(refusal)
        return
    room = found.question.run.machine.memory
    assert room > 0 and all(layout.bytes <= room for layout in found.layouts)
    assert found.layouts or "does not fit" in found.infeasible
