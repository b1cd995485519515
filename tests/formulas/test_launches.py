"""Kernels of experts and latent attention, and of a roofline: sizes, and the steps behind them."""

from __future__ import annotations

import re

import pytest

from flopbook import calculate
from flopbook.data.measured_runs import run_files
from flopbook.formulas.kernel_rooflines import LAUNCH
from flopbook.formulas.launches import FOR_EXPERTS, FOR_LATENTS, kernels_beside_dense_ones
from tests.formulas.test_expected_pace import served_rows

STEP = {"chip": "h200-sxm", "tp": 8, "seq": 1500, "dtype": "fp8"}


def more(model: str, **options: object) -> float:
    told = calculate("decode", **{**STEP, "model": model, **options}).omitted
    noted = told.get("kernels_beside_dense_ones")
    return noted.share if noted else 0.0


@pytest.mark.parametrize(
    ("model", "kernels"),
    [
        ("deepseek-v3", 58 * FOR_EXPERTS + 61 * FOR_LATENTS),
        ("qwen-3-235b-a22b", 94 * FOR_EXPERTS),
        ("llama-3-70b", 0),
    ],
)
def test_kernels_take_as_long_as_those_of_a_dense_layer(model: str, kernels: float) -> None:
    """A dense layer has ten in 76 microseconds; the first three of DeepSeek-V3 have no experts."""
    step = calculate("decode", **{**STEP, "model": model})
    seconds = 76e-6 * kernels / 10
    assert more(model) == pytest.approx(seconds / step["likely_seconds"])


def test_a_dense_layer_without_latents_has_no_more_kernels() -> None:
    """Exactly none, not few: what is left out of nothing is nothing."""
    layer = {"layers": 80.0, "expert_layers": 60.0, "layer_overhead": 76e-6, "likely_seconds": 1.0}
    none = {**layer, "experts": 1.0, "kv_lora_rank": 0.0}
    assert kernels_beside_dense_ones.value(none) == 0
    for mechanism, kernels in (
        ({"experts": 2.0}, 60 * FOR_EXPERTS),
        ({"kv_lora_rank": 1.0}, 80 * FOR_LATENTS),
        ({"experts": 2.0, "expert_layers": 99.0}, 80 * FOR_EXPERTS),
    ):
        share = kernels_beside_dense_ones.value({**none, **mechanism})
        assert share == pytest.approx(76e-6 * kernels / 10)


def test_a_large_batch_hides_what_a_single_sequence_shows() -> None:
    assert more("deepseek-v3") > more("deepseek-v3", batch=16) > more("deepseek-v3", batch=64) > 0.1
    assert more("deepseek-v3", batch=4096, memory=1e15) == 0
    assert more("deepseek-v3", layer_overhead=0) == 0


def test_the_note_states_what_published_steps_took() -> None:
    """Steps of mixtures on eight B200, by one engine, of one sequence to 92."""
    assert {row.use for row in served_rows() if row.publication == "sglang-cookbook"} == {"check"}
    times = []
    for row in run_files()["sglang-cookbook"].rows:
        shape, run = row.model, row.run
        if "B200" not in row.hardware["chip"] or not shape.get("n_experts"):
            continue
        step = calculate(
            "decode",
            model=shape["dims_from"].rpartition("/")[2].removesuffix(".yaml"),
            chip="b200-sxm",
            tp=row.parallelism["tp"],
            batch=run["batch_seqs"],
            seq=int(run["input_len_tokens"] + run["output_len_tokens"] / 2),
            dtype=run["precision"],
            kv_dtype="bf16",
        )
        times.append(row.measured["ms_per_token"] / 1000 / step["likely_seconds"])
    least, most = re.findall(r"[\d.]+", kernels_beside_dense_ones.message.partition("took")[2])
    assert len(times) == 18
    assert (f"{min(times):.1f}", f"{max(times):.1f}") == (least, most)


@pytest.mark.parametrize(
    ("chip", "reached"), [("rtx-4090", 0.44), ("rtx-5090", 0.44), ("a100-sxm-80gb", 0.828)]
)
@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_messages_take_longer_than_printed_rates_say(name: str, chip: str, reached: float) -> None:
    """Activations of 64 bytes make messages of anything."""
    asked = {"model": "llama-3-8b", "chip": chip, "tp": 4, "seq": 512, "batch": 64}
    answer = calculate(name, **asked, bytes_per_activation=64)
    told = answer.omitted["messages_below_the_rate"].share
    longer = answer["message_seconds"] * (1 / reached - 1)
    assert told == pytest.approx(longer / answer["likely_seconds"])
    assert "messages_below_the_rate" not in calculate(name, **{**asked, "tp": 1}).omitted


@pytest.mark.parametrize("rate", ["29GB/s", "34GB/s", "61GB/s", "66GB/s"])
def test_only_rates_of_pcie_are_a_bus(rate: str) -> None:
    asked = {"model": "llama-3-8b", "chip": "rtx-4090", "tp": 4, "seq": 512, "batch": 64}
    answer = calculate("decode", **asked, link_bandwidth=rate, bytes_per_activation=64)
    longer = answer["message_seconds"] * (1 / 0.828 - 1) / answer["likely_seconds"]
    assert answer.omitted["messages_below_the_rate"].share == pytest.approx(longer)


def test_a_small_product_waits_for_its_launch() -> None:
    """128 cubed takes some nanoseconds, and 3 microseconds to launch."""
    kernels = "gemm 8192x8192x8192, gemm 128x128x128"
    small = calculate("roofline", chip="h100-sxm", kernels=kernels)
    assert small.omitted["launches"].share == pytest.approx(-0.99, abs=0.01)
    seconds = small["flop"][1] / small["attainable_flop_per_s"][1]
    assert small.omitted["launches"].share == pytest.approx(-LAUNCH / (LAUNCH + seconds))
    assert "(-99 %)" in small.omitted["launches"].text
    for large in ("gemm 8192x8192x8192", "point 100"):
        assert not calculate("roofline", chip="h100-sxm", kernels=large).omitted
