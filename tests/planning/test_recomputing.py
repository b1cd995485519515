"""Some layers of a stage: the fewest that fit, no slower than all, equal to trying every number."""

from __future__ import annotations

import math

import pytest

from flopbook.planning import flags
from flopbook.planning.explaining import run_with
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.planning.recomputing import recomputed_in_part
from flopbook.prediction.asking import predict
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layout_memory import memory_of
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.step_time import step_parts

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "8",
    "batch_tokens": "256Ki",
    "seq": "8192",
    "stack": "megatron-core",
    "cp": "1",
}
TIGHT = {**ASKED, "tp": "2", "max_bytes": "40GB"}


@pytest.mark.parametrize("asked", [ASKED, TIGHT], ids=["free", "tight"])
def test_the_best_number_of_layers_is_that_of_trying_all(asked: dict[str, str]) -> None:
    question = question_of(asked)
    found = plan(question)
    p = fitted_kinds()["training_throughput"].parameters
    fastest = found.layouts[0].seconds
    for layout in (*found.layouts, *found.larger):
        run = run_with(question, layout)._replace(recompute="full")
        for layers in range(1, math.ceil(run.shape.layers / run.pp)):
            tried = run._replace(recompute_layers=float(layers))
            if memory_of(question.model, tried).total <= question.room:
                fastest = min(fastest, float(step_parts(Layouts([tried]), p).seconds[0]))
    part = recomputed_in_part(found)
    if part is None:
        assert fastest >= 0.999 * found.layouts[0].seconds
        return
    assert part.seconds == pytest.approx(fastest, rel=1e-12)
    assert part.bytes <= question.room


def test_predict_says_the_same() -> None:
    question = question_of(TIGHT)
    part = recomputed_in_part(plan(question))
    assert part is not None
    record = part.record()
    names = ("tp", "pp", "virtual", "dp", "zero", "cp", "ep", "micro_batch", "hsdp")
    words = {name: str(record[name]) for name in (*names, "recompute_layers")}
    same = predict({**ASKED, **words, "recompute": "full"})
    assert same.seconds == pytest.approx(part.seconds, rel=1e-9)
    assert same.memory is not None and same.memory.total == pytest.approx(part.bytes)


def test_who_fixes_what_is_recomputed_is_told_nothing() -> None:
    for fixed in ({"recompute": "none"}, {"recompute": "full", "recompute_layers": "2"}):
        assert recomputed_in_part(plan(question_of({**TIGHT, **fixed}))) is None


def test_the_layout_of_llama_3_is_found_without_cutting_sequences() -> None:
    """Llama Team (2024): 16,384 H100, TP 8, PP 16, DP 128; memory allows it with two layers."""
    question = question_of(
        {
            **ASKED,
            "model": "llama-3-405b",
            "chips": "16384",
            "batch_tokens": "16Mi",
        }
    )
    part = recomputed_in_part(plan(question))
    assert part is not None and part.layers == 2
    assert (part.layout.tp, part.layout.pp, part.layout.dp) == (8, 16, 128)


def test_megatron_counts_layers_in_each_chunk() -> None:
    asked = {**ASKED, "recompute": "full", "recompute_layers": "4", "pp": "2", "virtual": "2"}
    question = question_of({**asked, "micro_batch": "1"})
    said = flags.flags_for("megatron", question, plan(question).layouts[0])
    assert "--recompute-method block --recompute-num-layers 2" in said.text and not said.lacks
    question = question_of({**asked, "micro_batch": "1", "recompute_layers": "3"})
    said = flags.flags_for("megatron", question, plan(question).layouts[0])
    assert any("3 recomputed layers" in lack for lack in said.lacks)
