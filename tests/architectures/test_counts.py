"""Parameters that calculators take from a model: counted once, from its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.data.library import load_model, model_ids
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas
from tests.support.cases import every

every_model = every("name", model_ids())
MODELS = st.sampled_from(model_ids())
# Calculators that take parameters of a model, each with what else it needs.
CHIP: dict[str, Any] = {"peak": 1e15, "bandwidth": 3e12}
ASKING: dict[str, dict[str, Any]] = {
    "training-flops": {"tokens": 1e12},
    "training-time": {"tokens": 1e12, "peak": 1e15, "chips": 8, "mfu": 0.5},
    "decode": {**CHIP, "seq": 128},
    "prefill": {**CHIP, "seq": 128},
    "serving": {**CHIP, "seq": 128, "memory": 1e15},
    "memory": {"seq": 128},
    "fine-tuning": {"seq": 128},
    "reliability": {"chip_mtbf": 1e9, "chips": 8},
    "offload": {"host_bandwidth": 64e9},
}


def test_every_calculator_that_asks_is_among_these() -> None:
    asking = {
        name
        for name, formula in formulas().items()
        if {spec.model for spec in formula.inputs.values()} & {"params", "compute_params"}
    }
    assert asking == set(ASKING)


@given(MODELS, st.sampled_from(sorted(ASKING)))
def test_every_calculator_takes_the_same_count(name: str, calculator: str) -> None:
    """What is in memory, and what a token is multiplied with, whatever the model is called."""
    counted = calculate("params", model=name)
    inputs = formulas()[calculator].inputs
    # Fine-tuning adapts dense blocks: a mixture without one needs the width.
    width = (
        {"d_ff": 4096} if calculator == "fine-tuning" and not shape(name).records("d_ff") else {}
    )
    used = calculate(calculator, model=name, **ASKING[calculator], **width).inputs
    for key, spec in inputs.items():
        if spec.model == "params":
            assert used[key].value == counted["total"]
        if spec.model == "compute_params":
            assert used[key].value == counted["compute"]


@every_model
def test_what_is_multiplied_is_a_part_of_what_is_active(name: str) -> None:
    """Less the rows that are looked up; a tied table is the output matrix, so it counts."""
    counted, model = calculate("params", model=name), shape(name)
    assert counted["compute"] <= counted["active"] <= counted["total"]
    rows = 0 if model.size("tied_embeddings") == "yes" else model.vocab
    rows += model.context if model.size("positions") == "learned" else 0
    assert counted["active"] - counted["compute"] == rows * model.d_model


@given(MODELS, st.integers(1, 200))
def test_fewer_layers_are_counted_anew(name: str, layers: int) -> None:
    """As `params` counts a model of that depth; dense layers of a mixture come first."""
    sparse = shape(name).size("dense_layers") or 0
    layers = max(layers, int(sparse))
    typed = calculate("memory", model=name, layers=layers, seq=128).inputs["params"].value
    assert typed == calculate("params", model=name, layers=layers)["total"]


@pytest.mark.parametrize(
    ("name", "millions"), [("gpt-2-small", 124.4), ("opt-6.7b", 6658.5), ("falcon-7b", 6921.7)]
)
def test_plain_blocks_have_two_matrices_in_every_calculator(name: str, millions: float) -> None:
    """124.4 million for GPT-2 small; as a gated block it would be 152.8 (raschka2026llms)."""
    for calculator, more in ASKING.items():
        used = calculate(calculator, model=name, **more).inputs
        counted = used["params"].value / 1e6
        assert counted == pytest.approx(millions, rel=1e-2)
    assert calculate("memory", model=name, seq=128).inputs["ffn_kind"].value == "plain"


@every_model
def test_a_marketed_size_is_said_where_it_is_another(name: str) -> None:
    claim = shape(name).claim("params")
    assert claim is not None and claim.si_value
    differs = abs(shape(name).params / claim.si_value - 1) > 0.01
    notes = calculate("memory", model=name, seq=128).notes
    assert any(note.startswith(f"{name}: published as") for note in notes) == differs


def test_an_explicit_size_wins_and_leaves_the_other_alone() -> None:
    run = calculate("decode", model="llama-3-8b", params="9B", **CHIP, seq=128)
    assert run.inputs["params"].value == 9e9
    assert run.inputs["compute_params"].value == shape("llama-3-8b").compute_params


def test_arrays_of_a_size_are_counted_element_by_element() -> None:
    layers = np.array([16.0, 32.0])
    run = calculate("training-flops", model="llama-3-8b", tokens=1e12, layers=layers)
    single = [
        calculate("training-flops", model="llama-3-8b", tokens=1e12, layers=n)["flop"]
        for n in (16, 32)
    ]
    assert run["flop"].tolist() == single


def test_a_count_has_the_source_of_its_shape() -> None:
    picked = shape("llama-3-8b").pick("params")
    assert picked.source == "llamateam2024herd" and picked.claim.basis == "derived"
    assert picked.claim.file == load_model("llama-3-8b").claims[0].file
    assert shape("llama-3-8b").published_params == 8e9


def test_attention_beside_a_state_is_counted() -> None:
    """Falcon-H1 34B has both in each of 72 layers: 33.64 billion as published, not 31.38.

    Attention of a layer: 2 x 5120 x 20 x 128 for queries and the output, 2 x 5120 x 4 x 128 more.
    """
    out = calculate("params", model="falcon-h1-34b")
    assert out["attention"] == 72 * 2 * 5120 * (20 + 4) * 128
    assert out["total"] == pytest.approx(33.64e9, rel=0.001)
    assert shape("falcon-h1-34b").pick("attention_layers").value == 72
