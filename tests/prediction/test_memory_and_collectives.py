"""Rows of memory and of collectives are answered by the formulas of their calculators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.link_kinds import link_kinds
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas.network_omissions import starts_apart
from flopbook.prediction import collectives, memory
from flopbook.prediction.fits import cases_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.frameworks import FRAMEWORKS, framework_named
from flopbook.prediction.models import Case
from flopbook.prediction.validation import validate
from tests.prediction.test_step_time import LLAMA, MIXTURE, row

NO_SOURCE = RunSource(year=2025)


def memory_row(software: str = "torchtitan", unit: str = "gib", **more: Any) -> MeasuredRun:
    run = {"software": software, **more.pop("run", {})}
    measured = {f"peak_memory_{unit}": 50.0}
    return row(run=run, **more)._replace(kind="training_memory", measured=measured)


def total(case: Case) -> float:
    return float(memory.predict([case.inputs], {})[0])


@given(
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4]),
    zero=st.integers(0, 3),
    micro_batch=st.integers(1, 4),
    recompute=st.sampled_from(["none", "selective", "full"]),
    is_mixture=st.booleans(),
)
def test_memory_is_what_the_calculator_says(
    tp: int, pp: int, zero: int, micro_batch: int, recompute: str, is_mixture: bool
) -> None:
    """A framework that fixes nothing: the calculator with the same layout gives the same bytes."""
    model = {**(MIXTURE if is_mixture else LLAMA), "n_params": 400e9}
    dp = 64 // (tp * pp)
    degrees = {"tp": tp, "pp": pp, "dp": dp, "zero_stage": zero, "micro_batch_seqs": micro_batch}
    degrees["global_batch_seqs"] = 8 * dp * micro_batch
    case = memory.read(
        memory_row("none we know, compiled", model=model, run={"recompute": recompute}, **degrees),
        NO_SOURCE,
    )
    shape = {"experts": 8, "experts_per_token": 2, "expert_d_ff": 14336} if is_mixture else {}
    answer = calculate(
        "memory",
        **{"params": 400e9, "layers": 80, "d_model": 8192, "heads": 64, "kv_heads": 8},
        **{"d_ff": 28672, "vocab": 128256, "seq": 8192, **shape},
        **{"tp": tp, "pp": pp, "dp": dp, "zero": zero, "micro_batch": micro_batch},
        **{"microbatches": 8, "recompute": recompute, "attention": "flash", "dropout": "no"},
        sequence_parallel="yes" if tp > 1 else "no",
    )
    assert total(case) == pytest.approx(answer["total"], rel=1e-12)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torchtitan benchmarks", "torchtitan"),
        ("huggingface/nanotron", "nanotron"),
        ("Primus-pipeline / Megatron-LM", "Megatron-Core"),
        ("Megatron-DeepSpeed", "Megatron-DeepSpeed"),
        ("a code of our own", ""),
    ],
)
def test_words_tell_the_framework(text: str, name: str) -> None:
    assert framework_named(text) == name


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_is_read_from_the_software_of_a_row(name: str) -> None:
    case = memory.read(memory_row(FRAMEWORKS[name].words[0]), NO_SOURCE)
    assert case.shown == memory.SHOWN and "framework" not in case.inferred and total(case) > 0


def test_an_unknown_framework_has_the_wider_band() -> None:
    case = memory.read(memory_row("a code of our own"), NO_SOURCE)
    assert case.shown == memory.BY_UNKNOWN and "framework" in case.inferred
    bands = fitted_kinds()["training_memory"].bands
    assert bands[memory.BY_UNKNOWN.band] > bands[memory.SHOWN.quantity] > 1


def test_a_gigabyte_is_printed_as_the_row_prints_it() -> None:
    """PyTorch programs print GiB as GB; measured and predicted move together."""
    in_gib = memory.read(memory_row("torchtitan", "gib"), NO_SOURCE)
    in_gb = memory.read(memory_row("torchtitan", "gb"), NO_SOURCE)
    assert in_gib.measured == in_gb.measured == 50 * 2**30
    assert in_gb.shown is not None and in_gb.shown.of(in_gb.measured) == pytest.approx(50e9)


def test_adapters_keep_neither_gradients_nor_moments_of_frozen_weights() -> None:
    whole = total(memory.read(memory_row("litgpt", run={"task": "full"}), NO_SOURCE))
    adapted = total(memory.read(memory_row("litgpt", run={"task": "LoRA"}), NO_SOURCE))
    narrow = total(memory.read(memory_row("litgpt", run={"task": "QLoRA"}), NO_SOURCE))
    assert narrow < adapted < whole


@pytest.mark.parametrize(
    ("words", "schedule"),
    [("1F1B", "1f1b"), ("interleaved 1F1B", "interleaved"), ("zbv", "zb-v"), ("gpipe", "gpipe")],
)
def test_words_tell_the_schedule(words: str, schedule: str) -> None:
    stages = {"tp": 1, "pp": 4, "dp": 16, "pipeline_schedule": words}
    case = memory.read(memory_row(**stages), NO_SOURCE)
    assert case.inputs.options["schedule"] == schedule


def test_memory_that_is_not_given_is_refused() -> None:
    with pytest.raises(FlopbookError, match="peak of memory"):
        memory.read(memory_row()._replace(measured={"step_time_s": 1.0}), NO_SOURCE)


def collective(chip: str = "H100-SXM-80GB", chips: int = 8, **more: Any) -> MeasuredRun:
    measured = more.pop("measured", {"message_bytes": 2**30, "busbw_gb_per_s": 300.0})
    return MeasuredRun(
        id="one",
        kind="collective",
        publication="acme",
        where="",
        measured=measured,
        hardware={"chip": chip, "n_chips": chips},
        run={"op": "all_reduce", **more},
    )


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "sendrecv"])
@pytest.mark.parametrize("chips", [2, 8, 64])
def test_a_collective_takes_what_the_calculator_says(op: str, chips: int) -> None:
    case = collectives.read(collective(chips=chips, op=op), NO_SOURCE)
    name = {"sendrecv": "permute"}.get(op, op.replace("_", "-"))
    answer = calculate("collective", chip="h100-sxm", chips=chips, bytes=2**30, op=name)
    assert collectives.predict([case.inputs], {})[0] == answer["seconds"]


def test_the_bus_bandwidth_is_that_of_nccl_tests() -> None:
    """all-reduce: size / time * 2 (n - 1) / n, doc/PERFORMANCE.md of nccl-tests."""
    case = collectives.read(collective(), NO_SOURCE)
    assert case.measured == pytest.approx(2**30 * 2 * 7 / 8 / 300e9)
    timed = collective(measured={"message_bytes": 2**20, "time_us": 25.0})
    assert collectives.read(timed, NO_SOURCE).measured == pytest.approx(25e-6)


def test_an_all_to_all_names_the_buffer_of_one_chip() -> None:
    case = collectives.read(collective(op="alltoall"), NO_SOURCE)
    assert case.inputs.options["bytes"] == 8 * 2**30


def test_a_link_without_sweeps_takes_the_middle_of_the_others() -> None:
    case = collectives.read(collective("MI300X"), NO_SOURCE)
    middle = collectives.middle_constants(link_kinds().values())
    assert "constants of the links" in case.inferred
    assert case.inputs.options.items() >= middle.items()
    for name, value in middle.items():
        found = [getattr(kind, name) for kind in link_kinds().values()]
        assert min(found) <= value <= max(found)


def test_a_message_that_is_not_stated_is_a_large_one() -> None:
    case = collectives.read(collective(measured={"busbw_gb_per_s": 300.0}), NO_SOURCE)
    assert case.inferred == ("message size",)
    assert case.inputs.options["bytes"] == collectives.LARGE_MESSAGE


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chips": 1}, "number of chips"),
        ({"op": ""}, "operation is not given"),
        ({"op": "scatter-and-hope"}, "reduce-scatter"),
        ({"measured": {"message_bytes": 2**20}}, "neither a time nor a bus bandwidth"),
        ({"measured": {"message_bytes": 0, "time_us": 1.0}}, "message_bytes is 0"),
    ],
)
def test_what_cannot_be_computed_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FlopbookError, match=said):
        collectives.read(collective(**change), NO_SOURCE)


def test_short_messages_have_the_wider_band() -> None:
    bands = fitted_kinds()["collective"].bands
    widths = [bands[name] for name in collectives.BANDS.values()]
    assert widths == sorted(widths) and widths[0] > 1


def test_rows_on_file_are_covered_as_the_bands_say() -> None:
    """80 percent of the rows, less two standard deviations of their number."""
    kinds = validate(run_files().values()).record()["kinds"]
    for kind in ("collective", "training_memory"):
        slack = 2 * np.sqrt(0.8 * 0.2 / kinds[kind]["n"])
        assert kinds[kind]["coverage"] > 0.8 - slack
    for model in (memory.MODEL, collectives.MODEL):
        assert not cases_of(model, run_files().values()).refused


def test_small_sums_differ_by_the_factors_that_the_calculator_states() -> None:
    cases = cases_of(collectives.MODEL, run_files().values()).cases
    small = [
        case
        for case in cases
        if case.inputs.options["op"] == "all-reduce" and case.inputs.options["bytes"] <= 2**20
    ]
    predicted = collectives.predict([case.inputs for case in small], {})
    ratios = [case.measured / one for case, one in zip(small, predicted, strict=True)]
    low, high = np.percentile(ratios, [10, 90])
    assert len(small) > 50 and f"{low:.1f} to {high:.1f} times" in starts_apart.message
