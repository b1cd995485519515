"""A formula worked through.

Its last lines are the answers, its brackets are right, open outputs are left out.
"""

import math
import random
import re
from typing import Annotated, Any

import pytest

from flopbook.faces.worked_steps import worked
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Input
from flopbook.quantities.ops import ceil, where
from tests.support import byexample, inferring, network_inputs, training_inputs

Number = Annotated[float, Input("1", "a", "a number")]

INPUTS = {
    "min-batch": {
        "peak": 989.4e12,
        "bandwidth": 3.35e12,
        "bytes_per_param": 2.0,
        "d_model": 8192.0,
        "d_ff": 28672.0,
        "bytes_per_activation": math.inf,
    },
    "bubble": {"stages": 8.0, "microbatches": 32.0, "schedule": "interleaved", "virtual": 4.0},
    "params": {
        "layers": 61.0,
        "d_model": 7168.0,
        "heads": 128.0,
        "vocab": 129280.0,
        "d_ff": 18432.0,
        "kv_heads": 128.0,
        "head_dim": 128.0,
        "ffn_kind": "gated",
        "tied_embeddings": "no",
        "positions": "learned",
        "context": 4096.0,
        "biases": "all",
        "norm": "layer",
        "norms_per_layer": 2.0,
        "qk_norm": "full",
        "experts": 256.0,
        "experts_per_token": 8.0,
        "expert_d_ff": 2048.0,
        "shared_experts": 1.0,
        "shared_expert_d_ff": 2048.0,
        "dense_layers": 3.0,
        "q_lora_rank": 1536.0,
        "kv_lora_rank": 512.0,
        "qk_nope_head_dim": 128.0,
        "qk_rope_head_dim": 64.0,
        "v_head_dim": 128.0,
    },
    **inferring.EXAMPLE,
    **network_inputs.WORKED,
    **training_inputs.WORKED,
}
INPUTS |= {name: byexample.inputs(name) for name in byexample.others(INPUTS)}


@pytest.mark.parametrize("name", printed())
def test_the_steps_end_in_the_answers(name: str) -> None:
    formula = get_formula(name)
    values = {step.name: step.value for step in worked(formula, INPUTS[name])}
    assert {output: values[output] for output in formula.outputs} == formula(**INPUTS[name])


@pytest.mark.parametrize("name", printed())
def test_every_step_has_a_unit_and_no_name_is_left_in_the_numbers(name: str) -> None:
    formula = get_formula(name)
    for step in worked(formula, INPUTS[name]):
        assert step.unit
        assert not [
            n for n in (*formula.inputs, *formula.outputs) if "_" in n and n in step.numbers
        ]


def test_the_units_of_steps_between_follow() -> None:
    units = {
        step.name: step.unit for step in worked(get_formula("fsdp-limit"), INPUTS["fsdp-limit"])
    }
    expected = {
        "lanes": "1",
        "network": "byte/s",
        "outward": "byte/s",
        "dilution": "1",
        "unit": "byte/s",
        "sent": "1",
        "backward_tokens": "token",
        "tokens_per_chip": "token",
        "across_tokens": "token",
        "step_tokens": "token",
        "pod_tokens": "token",
        "max_chips": "chip",
    }
    assert units.items() >= expected.items()


def test_steps_of_open_outputs_are_left_out() -> None:
    formula = get_formula("min-batch")
    values = {**INPUTS["min-batch"], "d_model": math.inf}
    assert [step.name for step in worked(formula, values, ["tokens_exact"])] == [
        "flop_per_byte",
        "tokens",
    ]


@pytest.mark.parametrize("width", [1.0, 250.0, 500.0])
def test_an_answer_that_does_not_exist_is_worked_without_dividing_by_zero(width: float) -> None:
    values = {
        **INPUTS["min-batch"],
        "peak": 1e15,
        "bandwidth": 4e12,
        "d_model": width,
        "d_ff": width,
    }
    assert worked(get_formula("min-batch"), values)[-1].value == math.inf


def signs(p: Number, q: Number) -> dict[str, Any]:
    """One output for each rule of printing."""
    return {
        "minus": p - (q - p),
        "over": p / (q / p),
        "product": p * (q + 1),
        "negative": (-p) ** 2,
        "power": (p**q) ** 2,
        "opposite": -(p + q),
        "choice": where(p > q, ceil(p), q * 2),
        "test": p if p == q else q,
    }


EXPECTED = {
    "minus": "p - (q - p)",
    "over": "p / (q / p)",
    "product": "p x (q + 1)",
    "negative": "(-p) ** 2",
    "power": "(p ** q) ** 2",
    "opposite": "-(p + q)",
    "choice": "ceil(p)",
    "test": "q",
}


def test_the_text_means_what_the_formula_does(throwaway: Any) -> None:
    for step in worked(throwaway(signs, **dict.fromkeys(EXPECTED, "1")), {"p": 3.0, "q": 2.0}):
        assert step.expression == EXPECTED[step.name]
        assert step.numbers == EXPECTED[step.name].replace("p", "3").replace("q", "2")


LARGE = ("params", "tokens", "peak", "link_bandwidth", "batch_tokens", "scaleout_bandwidth")


@pytest.mark.parametrize("name", ["training-flops", "fsdp-limit"])
def test_random_inputs_work_through_to_the_answer(name: str) -> None:
    rng, formula = random.Random(name), get_formula(name)
    for _ in range(50):
        values = {n: v * rng.uniform(0.1, 10) if n in LARGE else v for n, v in INPUTS[name].items()}
        steps = {step.name: step.value for step in worked(formula, values)}
        assert {n: steps[n] for n in formula.outputs} == formula(**values)


SHAPES = [("gpipe", 1.0), ("1f1b", 1.0), ("interleaved", 4.0), ("interleaved", 1.0)]


@pytest.mark.parametrize(("schedule", "virtual"), SHAPES)
def test_a_choice_is_shown_by_the_side_taken(schedule: str, virtual: float) -> None:
    """No program is left in the working: neither a question nor the name of a schedule."""
    values = {"stages": 8.0, "microbatches": 32.0, "schedule": schedule, "virtual": virtual}
    lines = {step.name: step for step in worked(get_formula("bubble"), values)}
    for step in lines.values():
        for line in (step.expression, step.numbers):
            assert not re.search(r"\b(if|else|where|is|schedule|gpipe|1f1b|interleaved)\b", line)
    assert lines["chunks"].expression == ("virtual" if schedule == "interleaved" else "1")
    assert ("warm" in lines) == (schedule != "gpipe")


@pytest.mark.parametrize(("width", "shown"), [(8192.0, "tokens / slack"), (64.0, "unlimited")])
def test_the_guard_of_a_division_is_not_shown(width: float, shown: str) -> None:
    values = {**INPUTS["min-batch"], "d_model": width, "d_ff": width}
    lines = worked(get_formula("min-batch"), values)
    assert [step.name for step in lines] == [
        "flop_per_byte",
        "tokens",
        "wide",
        "slack",
        "tokens_exact",
    ]
    assert lines[-1].expression == shown
