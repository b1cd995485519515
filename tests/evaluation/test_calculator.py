"""A calculator takes its inputs from what is given, then chip or model, then defaults.

And says which.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.data.library import entry_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate, reads, takes
from flopbook.formulas import formulas, get_formula
from flopbook.hardware.chip import chip
from flopbook.quantities.dtypes import DTYPE_BYTES

OUTPUTS = {
    "training-flops": ["flop", "pf_days"],
    "min-batch": ["tokens", "tokens_exact"],
    "fsdp-limit": ["tokens_per_chip", "max_chips"],
    "bubble": ["fraction"],
    "params": ["total", "active"],
    "training-time": ["seconds", "days", "chip_hours", "cost", "joules"],
    "scaling-law": ["params", "tokens", "loss"],
    "max-params": ["params"],
    "memory": ["total", "weights", "gradients", "optimizer", "activations"],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "training-flops": {"model": "gpt-3-175b"},
    "min-batch": {"chip": "nvidia/h100-sxm", "d_model": 8192, "d_ff": 28672},
    "fsdp-limit": {"chip": "google/tpu-v5p", "batch_tokens": "16M"},
    "bubble": {"stages": 8, "microbatches": 32},
    "params": {"model": "llama-3-70b"},
    "training-time": {
        "model": "llama-3-405b",
        "chip": "nvidia/h100-sxm",
        "chips": 16384,
        "mfu": 0.4,
    },
    "scaling-law": {"flop": 5.76e23},
    "max-params": {"chip": "nvidia/h100-sxm"},
    "memory": {"model": "llama-3-70b", "seq": 8192, "tp": 8},
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_have_the_names_of_the_contract(name: str) -> None:
    result = calculate(name, **OPTIONS[name])
    assert set(OUTPUTS[name]) <= set(result) and list(result) == list(get_formula(name).outputs)
    assert len(result) == len(list(result)) and dict(result) == dict(result.outputs)


@pytest.mark.parametrize("name", OUTPUTS)
def test_json_is_the_contract(name: str) -> None:
    record = calculate(name, **OPTIONS[name]).as_json()
    assert list(record) == ["calculator", "inputs", "outputs", "notes", "sources"]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    for item in record["inputs"].values():
        assert {"value", "unit"} <= set(item) <= {"value", "unit", "source"}
    for key, item in record["outputs"].items():
        assert (
            set(item) == {"value", "unit"} and item["unit"] == get_formula(name).outputs[key].unit
        )
    used = {item["source"] for item in record["inputs"].values() if "source" in item}
    assert used <= set(record["sources"]) and len(set(record["sources"])) == len(record["sources"])


def test_values_of_a_chip_are_used_with_their_source_and_place() -> None:
    result = calculate("min-batch", chip="nvidia/h100-sxm")
    picked = chip("nvidia/h100-sxm").pick_peak("bf16")
    peak = result.inputs["peak"]
    assert (peak.value, peak.source, peak.origin) == (
        picked.value,
        picked.source,
        "nvidia/h100-sxm",
    )
    assert peak.place.endswith(f"h100-sxm.yaml:{picked.claim.line}")
    assert result["tokens"] == picked.value / chip("nvidia/h100-sxm").memory_bandwidth()


def test_values_of_a_model_are_used_with_their_source() -> None:
    result = calculate("training-flops", model="gpt-3-175b")
    model = shape("gpt-3-175b")
    assert result["flop"] == 6 * model.compute_params * model.tokens
    assert result.inputs["params"].source in result.sources


def test_gpt3_and_llama_3_as_their_papers_print_them() -> None:
    """3.14e23 FLOP, brown2020language Table D.1.

    3.8e25 FLOP, llamateam2024herd: claims train_flop of both.
    """
    for model in ("gpt-3-175b", "llama-3-405b"):
        size = shape(model).published_params
        assert calculate("training-flops", model=model, params=size)["flop"] == pytest.approx(
            shape(model).train_flop, rel=5e-3
        )


def test_a_published_size_is_a_note_beside_the_counted_one() -> None:
    """40 billion in the name of Falcon, 41.3 in its shape; where both agree nothing is said."""
    result = calculate("prefill", model="falcon-40b", chip="h100-sxm", seq=128)
    assert result.inputs["params"].value == pytest.approx(41.3e9, rel=1e-3)
    assert any("published as 40 billion params" in note for note in result.notes)
    quiet = calculate("prefill", model="llama-3-8b", chip="h100-sxm", seq=128)
    assert not any("published as" in note for note in quiet.notes)
    typed = calculate("prefill", model="falcon-40b", chip="h100-sxm", seq=128, params=42e9)
    assert typed.inputs["params"].value == 42e9
    assert not any("published as" in note for note in typed.notes)


@pytest.mark.parametrize("calculator", ["training-flops", "decode", "prefill", "memory"])
def test_a_size_that_is_typed_is_counted_anew(calculator: str) -> None:
    """`--layers 16` of a model of 32: its parameters are those of 16 layers."""
    chip_ = {} if calculator in ("training-flops", "memory") else {"chip": "h100-sxm"}
    name = "compute_params" if calculator in ("decode", "prefill") else "params"
    result = calculate(calculator, model="llama-3-8b", seq=1024, layers=16, **chip_)
    counted = calculate("params", model="llama-3-8b", layers=16)
    wanted = counted["total"] if calculator == "memory" else counted["compute"]
    assert result.inputs[name].value == wanted


def test_a_size_that_is_refused_is_refused_by_its_own_name() -> None:
    with pytest.raises(FlopbookError, match="--layers is 0, expected at least 1"):
        calculate("training-flops", model="llama-3-8b", layers=0)


def test_what_is_given_wins_over_chip_and_model() -> None:
    given_ = calculate("min-batch", chip="nvidia/h100-sxm", bandwidth="1TB/s")
    assert given_.inputs["bandwidth"].value == 1e12 and given_.inputs["bandwidth"].origin == "given"
    assert not given_.inputs["bandwidth"].source
    assert (
        calculate("training-flops", model="gpt-3-175b", tokens="499B").inputs["tokens"].value
        == 499e9
    )


def test_text_and_number_are_the_same_amount() -> None:
    for tokens in ("15T", "1.5e13", "15_000_000_000_000", 15e12, 15 * 10**12):
        assert calculate("training-flops", params="70B", tokens=tokens)["flop"] == 6 * 70e9 * 15e12


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.35TB/s", 3.35e12),
        ("400Gbit/s", 50e9),
        ("80GiB/s", 80 * 2**30),
        ("3e12", 3e12),
        ("2 TB/s", 2e12),
    ],
)
def test_rates_as_people_write_them(text: str, value: float) -> None:
    assert calculate("min-batch", peak="989TFLOP/s", bandwidth=text).inputs[
        "bandwidth"
    ].value == pytest.approx(value)


def test_a_sparse_peak_only_when_asked_for_and_said_so() -> None:
    dense, sparse = (
        calculate("min-batch", chip="nvidia/h100-sxm", sparsity=s) for s in (None, "2:4")
    )
    assert sparse["tokens"] == pytest.approx(2 * dense["tokens"], rel=1e-3)
    assert any("sparse peak (2:4)" in note for note in sparse.notes)
    assert not any("sparse peak" in note for note in dense.notes)
    assert (dense.inputs["sparsity"].value, sparse.inputs["sparsity"].value) == ("dense", "2:4")


def test_the_width_follows_the_number_format() -> None:
    assert (
        calculate("min-batch", chip="nvidia/h100-sxm", dtype="fp8").inputs["bytes_per_param"].value
        == 1
    )
    assert (
        calculate("min-batch", chip="nvidia/h100-sxm", dtype="fp8", bytes_per_param=2)
        .inputs["bytes_per_param"]
        .value
        == 2
    )
    for dtype, width in DTYPE_BYTES.items():
        assert (
            calculate("min-batch", peak=1e15, bandwidth=1e12, dtype=dtype)["tokens"]
            == width * 1000 / 2
        )


def test_the_width_of_a_block_format_includes_its_scales() -> None:
    """A scale of 8 bits for 32 values makes 4.25 bits a value (darvish2023microscaling)."""
    asked = calculate("min-batch", peak=1e15, bandwidth=1e12, dtype="mxfp4")
    assert asked["tokens"] == 1000 * 4.25 / 8 / 2
    assert (
        calculate("min-batch", peak=1e15, bandwidth=1e12, dtype="mxfp4", bytes_per_param="0.53")[
            "tokens"
        ]
        == 265
    )


def test_open_outputs_are_open_and_say_what_they_need() -> None:
    result = calculate("min-batch", chip="nvidia/h100-sxm", d_model=8192)
    assert result["tokens_exact"] is None and "tokens_exact needs --d-ff" in result.notes
    assert "d_ff" not in result.inputs
    assert result.as_json()["outputs"]["tokens_exact"]["value"] is None


def test_an_answer_that_does_not_exist_is_null_with_a_reason() -> None:
    result = calculate("min-batch", chip="nvidia/h100-sxm", d_model=64, d_ff=64)
    assert result["tokens_exact"] == math.inf
    assert result.as_json()["outputs"]["tokens_exact"]["value"] is None
    assert any("no batch keeps this chip computing" in note for note in result.notes)


def test_links_axes_and_bandwidth_multiply_back_to_the_chip() -> None:
    for name in ("google/tpu-v5p", "google/tpu-v5e", "nvidia/h100-sxm", "amd/mi300x"):
        inputs = calculate("fsdp-limit", chip=name).inputs
        links = inputs["links_per_axis"].value * inputs["axes"].value
        if inputs["topology"].value == "mesh":  # a link to each of the others
            links = inputs["chips_per_node"].value - 1
        total = inputs["link_bandwidth"].value * links
        assert total == pytest.approx(chip(name).scaleup_bandwidth(), rel=1e-12)


def test_fewer_axes_may_be_used_but_never_more_than_there_are() -> None:
    one, three = (
        calculate("fsdp-limit", chip="google/tpu-v5p", axes=n)["tokens_per_chip"] for n in (1, 3)
    )
    assert one == pytest.approx(3 * three)
    with pytest.raises(FlopbookError, match="--axes is 4, but google/tpu-v5p has 3"):
        calculate("fsdp-limit", chip="google/tpu-v5p", axes=4)


def test_a_mixture_counts_active_parameters_and_experts() -> None:
    model = shape("mixtral-8x7b")
    result = calculate("training-flops", model="mixtral-8x7b", tokens="1T")
    assert result["flop"] == 6 * model.compute_params * 1e12
    assert model.compute_params == pytest.approx(model.active_params, rel=0.03)
    assert any("active parameters" in note for note in result.notes)
    dense = calculate("fsdp-limit", chip="google/tpu-v5p")
    mixture = calculate("fsdp-limit", chip="google/tpu-v5p", model="mixtral-8x7b")
    ratio = model.params / model.compute_params
    assert mixture["tokens_per_chip"] == pytest.approx(ratio * dense["tokens_per_chip"])
    assert (
        calculate("fsdp-limit", chip="google/tpu-v5p", model="gpt-3-175b")["tokens_per_chip"]
        == dense["tokens_per_chip"]
    )


def test_arrays_pass_through_to_json() -> None:
    """A sweep over a chip: one call, an array of answers, plain lists in JSON."""
    widths = np.array([64.0, 8192.0])
    result = calculate("min-batch", chip="nvidia/h100-sxm", d_model=widths, d_ff=widths)
    single = [
        calculate("min-batch", chip="nvidia/h100-sxm", d_model=w, d_ff=w)["tokens_exact"]
        for w in widths.tolist()
    ]
    assert result["tokens_exact"].tolist() == single
    record = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert record["outputs"]["tokens_exact"]["value"] == [None, single[1]]
    assert record["inputs"]["d_model"]["value"] == [64, 8192]


def test_options_that_a_calculator_takes() -> None:
    assert takes(get_formula("min-batch")) == ("chip", "dtype", "sparsity")
    assert takes(get_formula("fsdp-limit")) == ("chip", "dtype", "sparsity", "model")
    assert takes(get_formula("training-flops")) == ("model",) and takes(get_formula("bubble")) == ()
    assert takes(get_formula("params")) == ("model",) and reads(get_formula("params")) == (
        "config",
    )
    assert reads(get_formula("min-batch")) == ()


@pytest.mark.parametrize("name", formulas())
def test_every_published_example_runs(name: str) -> None:
    for example in get_formula(name).examples:
        assert calculate(name, **{key.replace("-", "_"): value for key, value in example.items()})


@given(st.sampled_from(list(OUTPUTS)), st.data())
def test_garbage_raises_nothing_but_flopbook_errors(name: str, data: Any) -> None:
    known = (*takes(get_formula(name)), *get_formula(name).inputs)
    values = st.one_of(
        st.text(max_size=20),
        st.floats(),
        st.integers(),
        st.none(),
        st.booleans(),
        st.lists(st.floats(), max_size=2),
    )
    options = data.draw(st.dictionaries(st.sampled_from(known), values, max_size=6))
    try:
        calculate(name, **options)
    except FlopbookError as error:
        assert str(error)


def test_sparsity_beside_a_given_peak_is_said_to_be_without_effect() -> None:
    result = calculate("min-batch", peak=1e15, bandwidth=4e12, sparsity="2:4")
    assert result["tokens"] == 250
    assert any("--peak is used as it is" in note for note in result.notes)


def test_outputs_that_wait_for_the_same_inputs_share_a_note() -> None:
    notes = calculate("training-time", model="llama-3-8b", peak=1e15, chips=8, mfu=0.5).notes
    assert "joules needs --power" in notes and "co2 needs --power and --carbon" in notes
    notes = calculate(
        "training-flops", params=1e9, tokens=1e9, seq=4096, layers=8, heads=8, d_model=512
    ).notes
    assert len(notes) == 1 and notes[0].startswith("embedding, head, flop_embedding,")
    assert notes[0].endswith(" need --vocab")


def test_memory_comes_from_the_chip() -> None:
    h100 = chip("nvidia/h100-sxm")
    assert calculate("max-params", chip="h100-sxm").inputs["memory"].value == h100.memory()


def test_a_run_draws_what_its_servers_draw() -> None:
    """A DGX H100 may draw 10.2 kW: 1,275 W for each of its eight GPUs, not the 700 W of one."""
    result = calculate("training-time", model="llama-3-8b", chip="h100-sxm", chips=8, mfu=0.5)
    assert result.inputs["power"].value == 1275 and "dgx-h100" in result.inputs["power"].place
    cluster = calculate("cluster-power", chip="h100-sxm", chips=8, pue=1.1)
    assert cluster.inputs["power"].value == 1275


def test_what_a_chip_does_not_say_stays_open_where_it_may() -> None:
    """Energy needs a power; time does not, so a chip without one still gives the time."""
    silent = next(name for name in entry_ids() if _has_peak(name) and not _has_power(name))
    result = calculate("training-time", model="llama-3-8b", chip=silent, chips=8, mfu=0.5)
    assert (
        result["joules"] is None
        and result["seconds"] > 0
        and "joules needs --power" in result.notes
    )
    with pytest.raises(FlopbookError, match="memory"):
        calculate("max-params", chip=next(name for name in entry_ids() if _lacks_memory(name)))


def _has_peak(name: str) -> bool:
    return _answers(name, "pick_peak")


def _has_power(name: str) -> bool:
    return _answers(name, "pick_power")


def _lacks_memory(name: str) -> bool:
    return chip(name).entry.computes and not _answers(name, "pick_memory")


def _answers(name: str, pick: str) -> bool:
    try:
        getattr(chip(name), pick)()
    except FlopbookError:
        return False
    return True
