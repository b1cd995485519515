"""What rows of engines say of how they ran: prompts in turn, sums in halves, rates of prompts."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import PCIE_BANDWIDTH, machine, peak_in_halves
from flopbook.prediction.served_values import first_token_seconds
from flopbook.prediction.serving import predict_one, serving_of
from tests.support.cases import every
from tests.support.serving_rows import served

P = fitted_kinds()["inference"].parameters


def asked(chip_name: str = "H100-SXM-80GB", **run: Any) -> MeasuredRun:
    return served(chip_name, **{"phase": "prefill+decode", "output_len_tokens": 256, **run})


def rate(**run: Any) -> float:
    sizes = {"batch_seqs": 32, "input_len_tokens": 512}
    return predict_one(serving_of(asked(**{**sizes, **run}))[0], P)


def test_prompts_that_come_one_by_one_each_have_a_pass() -> None:
    """SGLang reads a prompt by itself when an answer ends, and all others wait for it."""
    together = rate(software="SGLang", phase="prefill+decode, static batch")
    assert rate(software="SGLang") < 0.96 * together
    assert together == rate(software="vLLM")  # which mixes a prompt into a step of the others
    alone = {"batch_seqs": 1, "software": "SGLang"}
    assert rate(**alone) == rate(**alone, phase="prefill+decode, static batch")


def test_rows_of_sglang_read_their_prompts_in_turn() -> None:
    rows = run_files()["sglang-cookbook"].rows
    read = [serving_of(row)[0] for row in rows if row.model.get("n_layers")]
    assert read and all(serving.reads_singly for serving in read)


def test_a_rate_of_prompts_is_a_time_to_the_first_token() -> None:
    assert first_token_seconds({"tokens_per_s": 4096}, 1024) == 0.25
    assert first_token_seconds({"tokens_per_s": 4096, "latency_s": 2}, 1024) == 2
    with pytest.raises(FlopbookError, match="first token is not given"):
        first_token_seconds({"output_tokens_per_s": 4096}, 1024)


@every(
    "name, halves, usual",
    [("rtx-3090", 142e12, 71e12), ("rtx-4080", 194.9e12, 97.5e12), ("h100-sxm", 0, 989e12)],
)
def test_geforce_sums_in_16_bits_at_twice_the_rate(name: str, halves: float, usual: float) -> None:
    """As llama.cpp does: a 4080 read a prompt of Llama 3 8B at 109 TFLOP/s."""
    assert peak_in_halves(chip(name)) == pytest.approx(halves, rel=0.01)
    here = {"software": "llama.cpp", "phase": "prefill", "batch_seqs": 1}
    served, _ = serving_of(asked(name, **here))
    assert served.peak == pytest.approx(max(halves, usual), rel=0.01)
    other, _ = serving_of(asked(name, **{**here, "software": "vLLM"}))
    assert other.peak == pytest.approx(usual, rel=0.01)


def test_no_prompt_on_one_chip_is_read_above_the_peak_of_its_sums() -> None:
    for row in run_files()["llamacpp-dai"].rows:
        if row.run["phase"] != "prefill" or row.hardware["n_chips"] > 1:
            continue
        try:
            served, _ = serving_of(row)
        except FlopbookError:  # chips of Apple, without a matrix rate
            continue
        done = 2 * served.shape.parameters * row.measured["tokens_per_s"]
        assert done < served.peak, row.id


@every(
    "name, rate",
    [
        ("rtx-pro-6000-blackwell-server", 64e9),
        ("l40s", 32e9),
        ("v100-pcie-16gb", PCIE_BANDWIDTH),
        ("h100-sxm", 450e9),
    ],
)
def test_chips_without_links_reach_each_other_at_the_rate_of_their_slot(
    name: str, rate: float
) -> None:
    assert machine(name).link_bandwidth == pytest.approx(rate)


def test_a_card_for_servers_multiplies_narrow_formats_faster() -> None:
    """Its rows in fp4 once ran at the rate of 16 bits, and came out half as fast as measured."""
    card = machine("rtx-pro-6000-blackwell-server")
    assert 1.8 < card.peak_8bit / card.peak_16bit < 2.1
    assert 3.6 < card.peak_4bit / card.peak_16bit < 4.1


def test_amd_counts_the_tokens_that_are_written() -> None:
    """Were prompts counted too, full load would write less than batches of 128 do on one page."""
    batches = {"Llama-3-70B": 128 * 2048 / 52.394, "Llama-3.1-405B": 128 * 2048 / 125.471}
    rows = [row for row in run_files()["amd-perf-check"].rows if "max load" in row.run["phase"]]
    assert len(rows) == 8
    for row in rows:
        written = row.measured["output_tokens_per_s"]
        if row.run["input_len_tokens"] == row.run["output_len_tokens"]:
            assert written / 2 < batches[row.model["name"]] < written


def test_a_server_that_takes_so_many_requests_has_them_as_its_batch() -> None:
    rows = {row.id: row.run for row in run_files()["vllm-tpu7x"].rows}
    for answer in (1024, 8192):
        assert rows[f"vllm-tpu7x-qwen-3-32b-1024-{answer}"]["batch_seqs"] == 135


@every("chip", ["h100", "h200"])
def test_azure_serves_in_the_format_of_its_configuration(chip: str) -> None:
    """FP8 with an FP8 cache; of the largest model the FP8 checkpoint, which alone fits."""
    rows = [row for row in run_files()[f"azure-{chip}"].rows if row.kind == "inference"]
    assert len(rows) == 6
    for row in rows:
        served, _ = serving_of(row)
        is_largest = "405B" in row.model["name"]
        assert (served.weight_bytes, served.cache_bytes) == (1.0, 2.0 if is_largest else 1.0)
        assert served.peak == served.machine.peak_8bit and served.software == "tensorrt-llm"


def test_a_scheduler_has_more_to_do_with_more_sequences() -> None:
    """Per request, beside what a step costs: a server is held up longer than its kernels run."""
    free = {**P, "sequence_seconds": 0.0}
    for batch in (1, 64, 1024):
        served, _ = serving_of(asked(batch_seqs=batch, input_len_tokens=64, software="vLLM"))
        seconds, without = (batch * 256 / predict_one(served, each) for each in (P, free))
        assert seconds - without == pytest.approx(256 * batch * P["sequence_seconds"])


def test_cores_copy_what_chips_alone_would_not() -> None:
    """24 cores of 12 Inferentia2 hold three copies of eight KV heads, not one and a half."""
    row = next(r for r in run_files()["neuron-inf"].rows if "llama-3-8b-b8" in r.id)
    served, _ = serving_of(row)
    assert row.parallelism["tp"] == 24 and served.tp == 12
    assert served.tp / served.cache_parts == 3


def test_amd_multiplies_in_the_format_of_its_checkpoints() -> None:
    """Quantised as w_fp8_a_fp8; the words "weights + kv" once stood for products in 16 bits."""
    for name in ("amd-perf", "amd-perf-check"):
        for row in run_files()[name].rows:
            served, _ = serving_of(row)
            assert served.peak == served.machine.peak_8bit and served.cache_bytes == 1.0, row.id
