"""What runs reach: one convention whatever a source prints, and a gap that is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.conventions import USUAL
from flopbook.prediction.reached import (
    AS_PRINTED,
    COMPUTED,
    CONVERTED,
    RULE_OF_SIX,
    Reached,
    format_of,
    model_of,
    reached,
    reached_runs,
)

LLAMA: dict[str, Any] = {
    "name": "Llama-3-8B",
    "n_layers": 32,
    "d_model": 4096,
    "n_heads": 32,
    "n_kv_heads": 8,
    "d_ff": 14336,
    "vocab_size": 128256,
    "gated_ffn": True,
    "tied_embeddings": False,
    "seq_len_tokens": 8192,
}
SOURCE = RunSource("acme2026one", year=2025, flops_convention_code=USUAL)


def run(
    measured: dict[str, float], kind: str = "training_throughput", **groups: dict[str, Any]
) -> Reached:
    """What a row of this kind and these groups reaches, on eight H100."""
    row = MeasuredRun("one", kind, "acme", "Table 1", measured)
    fields: dict[str, Any] = {
        "hardware": {"chip": "H100-SXM-80GB", "n_chips": 8},
        "model": LLAMA,
        "run": {"precision": "bf16"},
    }
    return reached(row._replace(**{**fields, **groups}), SOURCE)


def test_an_mfu_is_that_of_the_calculators() -> None:
    """Tokens per second times the FLOPs of a token of `training-flops`, over the dense peak."""
    tokens = 7000.0
    work = calculate("training-flops", model="llama-3-8b", tokens=1, seq=8192)["flop_full"]
    found = run({"tokens_per_s_per_chip": tokens})
    assert found.rate.basis == COMPUTED and found.rate.value == tokens
    expected = tokens * work / chip("h100-sxm").peak("bf16")
    assert found.rate.share == pytest.approx(expected, rel=0.003)


@given(st.floats(10, 20_000))
def test_each_way_to_print_a_speed_gives_the_same_share(tokens: float) -> None:
    each = run({"tokens_per_s_per_chip": tokens}).rate
    total = run({"tokens_per_s": 8 * tokens}).rate
    batch = {"global_batch_seqs": 16}
    step = run({"step_time_s": 16 * 8192 / (8 * tokens)}, parallelism=batch).rate
    assert each.share and total.share == pytest.approx(each.share)
    assert step.share == pytest.approx(each.share)
    printed = run({"mfu_pct": 100 * each.share}).rate
    assert printed.value == pytest.approx(tokens) and printed.basis == CONVERTED


def test_the_peak_is_that_of_the_format() -> None:
    """The same tokens are half the share where the peak is twice as high."""
    shares = [
        run({"tokens_per_s_per_chip": 7000}, run={"precision": words}).rate.share
        for words in ("bf16", "fp8", "weight-only int8")
    ]
    assert shares[0] == shares[2] and shares[1] == pytest.approx((shares[0] or 0) / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("groups", "lacks"),
    [
        ({"model": {"name": "Mystery"}}, "layers or the model width"),
        ({"model": {k: v for k, v in LLAMA.items() if k != "seq_len_tokens"}}, "sequence length"),
        ({"hardware": {"chip": "H1000"}}, "H1000"),
        ({"run": {}}, "number format"),
    ],
)
def test_a_row_that_cannot_be_computed_is_kept_and_says_why(
    groups: dict[str, Any], lacks: str
) -> None:
    found = run({"tokens_per_s_per_chip": 7000}, **groups)
    assert lacks in found.rate.lacks and not found.is_whole and found.rate.share is None


def test_an_mfu_without_a_shape_is_shown_as_it_is_printed() -> None:
    found = run({"mfu_pct": 43.0}, model={"name": "Mystery"}).rate
    assert found.share == pytest.approx(0.43) and found.basis == AS_PRINTED and found.lacks


def test_flops_that_a_source_counts_are_over_the_peak_of_the_format() -> None:
    measured = {"tokens_per_s_per_chip": 10.0, "model_tflops_per_s_per_chip": 989.5}
    found = run(measured, model={"name": "Mystery"}, run={"precision": "fp8"}).rate
    assert found.value == 10 and found.share == pytest.approx(0.5, rel=1e-3)
    assert found.basis == AS_PRINTED


@pytest.mark.parametrize("task", ["LoRA fine-tuning, rank 16", "QLORA", "adapter fine-tuning"])
def test_adapters_have_no_mfu_of_ours(task: str) -> None:
    """Most weights get no gradient, so a token takes about four FLOPs for each and not six."""
    found = run({"tokens_per_s_per_chip": 7000}, run={"task": task}).rate
    assert found.value == 7000 and found.share is None and "adapters" in found.lacks


def test_a_whole_run_counts_six_for_each_parameter_and_token() -> None:
    """Llama 3.1 8B: 1.46 million H100 hours for 15 T tokens (model card)."""
    measured = {"accelerator_hours": 1.46e6, "tokens": 15e12}
    found = run(measured, "whole_run", model={"name": "Llama 3.1 8B", "n_params": 8e9}).rate
    assert found.basis == RULE_OF_SIX
    peak = chip("h100-sxm").peak("bf16")
    assert found.share == pytest.approx(6 * 8e9 * 15e12 / (1.46e6 * 3600 * peak))


@pytest.mark.parametrize(
    ("measured", "groups", "expected"),
    [
        ({"output_tokens_per_s": 8000}, {}, 1000),
        ({"output_tokens_per_s_per_chip": 900}, {}, 900),
        ({"decode_tokens_per_s_per_seq": 50}, {"batch_seqs": 16}, 100),
        ({"step_latency_ms": 20}, {"batch_seqs": 16}, 100),
        ({"first_token_latency_ms": 500}, {"batch_seqs": 2, "input_len_tokens": 2000}, 1000),
        ({"first_token_latency_ms": 500}, {}, None),
    ],
)
def test_inference_is_tokens_per_second_and_chip(
    measured: dict[str, float], groups: dict[str, Any], expected: float | None
) -> None:
    rate = run(measured, "inference", run=groups).rate
    assert rate.value == (expected and pytest.approx(expected)) and rate.unit == "token/s"
    assert bool(rate.lacks) == (expected is None)


@pytest.mark.parametrize(
    ("kind", "measured", "groups", "share"),
    [
        ("matmul_peak", {"matmul_tflops_per_s": 494.7}, {"precision": "bf16"}, 0.5),
        ("matmul_peak", {"matmul_tflops_per_s": 989.5}, {"precision": "fp8"}, 0.5),
        ("hbm_bandwidth", {"memory_bandwidth_gb_per_s": 3350 / 2}, {}, 0.5),
        ("p2p_bandwidth", {"bandwidth_gb_per_s": 225}, {"direction": "one way"}, 0.5),
        ("p2p_bandwidth", {"bandwidth_gb_per_s": 450}, {"direction": "bidirectional"}, 0.5),
        ("collective", {"busbw_gb_per_s": 400}, {}, None),
        ("training_memory", {"peak_memory_gib": 60}, {}, None),
    ],
)
def test_a_rate_is_compared_with_what_is_printed(
    kind: str, measured: dict[str, float], groups: dict[str, Any], share: float | None
) -> None:
    rate = run(measured, kind, run=groups).rate
    assert rate.share == (share and pytest.approx(share, rel=1e-3))


@pytest.mark.parametrize("precision", ["bf16", "fp16", "int8"])
def test_a_product_is_compared_with_the_rate_of_its_own_format(precision: str) -> None:
    """An MI100 multiplies fp16 at twice the rate of bf16."""
    half = chip("mi100").peak(precision) / 2
    measured, hardware = {"matmul_tflops_per_s": half / 1e12}, {"chip": "MI100"}
    found = run(measured, "matmul_peak", run={"precision": precision}, hardware=hardware)
    assert found.rate.share == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("NVFP4", "fp4"),
        ("MXFP8", "fp8"),
        ("float8 rowwise", "fp8"),
        ("bnb.nf4", "int4"),
        ("weight-only int8", "int8"),
        ("bf16/fp16 mixed", "bf16"),
        ("fp16 mixed", "fp16"),
        ("TF32", "tf32"),
        ("", ""),
    ],
)
def test_words_name_a_format(words: str, name: str) -> None:
    assert format_of(words) == name


def test_a_model_of_ours_is_found_by_its_file_or_its_name() -> None:
    assert (
        model_of({"dims_from": "calculators/models/llama-3-8b.yaml", "name": "x"}) == "llama-3-8b"
    )
    assert model_of({"name": "Llama-3-8B"}) == "llama-3-8b"
    assert model_of({"name": "Mystery-7B"}) == "" == model_of({})


def test_a_month_of_a_row_comes_before_the_year_of_its_source() -> None:
    assert run({"tokens_per_s": 1}).date == 2025
    assert run({"tokens_per_s": 1}, run={"date": "2024-07"}).date == pytest.approx(2024 + 6.5 / 12)


def test_every_row_of_ours_has_a_chip_and_a_sane_share() -> None:
    """No share above one but of a row that its own flags doubt."""
    for found in reached_runs():
        share = found.rate.share
        assert found.chip, found.row.id
        assert share is None or 0 < share < 1 or found.row.flags, (found.row.id, share)
        assert found.rate.value or found.rate.share or found.rate.lacks, found.row.id
