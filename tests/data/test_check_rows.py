"""Rows to check against stand as their sources print them, and agree with themselves."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from flopbook.data.library import reference
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from tests.support.cases import every

ROWS = {row.id: row for file in run_files().values() for row in file.rows}
CHECK = [row for row in ROWS.values() if row.use == "check"]
FILES = {name: file for name, file in run_files().items() if file.rows[0].use == "check"}


@pytest.mark.parametrize(
    ("chip", "count", "model", "form", "generated", "prompt"),
    [
        ("rtx-3090", 1, "8b", "q4-k-m", 111.74, 3865.39),
        ("rtx-4090", 1, "8b", "f16", 54.34, 9056.26),
        ("rtx-4090", 2, "70b", "q4-k-m", 19.06, 905.38),
        ("a100-sxm-80gb", 1, "8b", "f16", 53.18, 681.47),
        ("h100-pcie", 1, "8b", "q4-k-m", 144.49, 7760.16),
        ("h100-pcie", 4, "70b", "f16", 9.63, 2420.10),
        ("l40s", 4, "8b", "f16", 42.48, 2541.61),
        ("m2-ultra", 1, "70b", "f16", 4.71, 145.82),
        ("m3-max", 1, "70b", "q4-k-m", 7.53, 62.88),
        ("m1-max", 1, "8b", "f16", 18.43, 418.77),
    ],
)
def test_speeds_of_llama_cpp_are_as_printed(
    chip: str, count: int, model: str, form: str, generated: float, prompt: float
) -> None:
    """Dai, GPU-Benchmarks-on-LLM-Inference, the two tables of the overview."""
    name = f"llamacpp-dai-{chip}-x{count}-llama3-{model}-{form}"
    assert ROWS[f"{name}-decode"].measured == {"decode_tokens_per_s_per_seq": generated}
    assert ROWS[f"{name}-prefill"].measured == {"tokens_per_s": prompt}
    for phase in ("decode", "prefill"):
        row = ROWS[f"{name}-{phase}"]
        assert row.hardware["n_chips"] == count and row.run["phase"] == phase
        assert row.run["precision"].startswith("fp16" if form == "f16" else "weight-only int4")


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("azure-h200-gemm-1024x1024x1024", 290.8),
        ("azure-h200-gemm-16384x16384x16384", 1366.3),
        ("azure-h200-gemm-802816x192x768", 717.5),
        ("azure-a100-gemm-1024x2145x1024", 132.8),
        ("azure-a100-gemm-16384x16384x16384", 256.5),
        ("azure-h200-hbm-copy", 4010),
        ("azure-h200-hbm-dot", 4480),
        ("azure-a100-hbm-triad", 1700),
        ("azure-h200-allreduce-1g", 467.58),
        ("azure-h200-allreduce-16k", 0.93),
        ("azure-a100-allreduce-8g", 231.58),
        ("azure-h200-llama-3-70b-b64-n8", 1145.14),
        ("azure-h200-llama-3.1-405b-b96-n8", 333.47),
        ("azure-h200-mistral-7b-b64-n1", 2822.37),
        ("maggpu-nvidia-l4", 91.4),
        ("maggpu-amd-instinct-mi300x", 788.2),
        ("maggpu-nvidia-h100-sxm-80gb", 821.2),
        ("maggpu-nvidia-gh200-144g-hbm3e", 853.8),
        ("openclbench-nvidia-b300-sxm6-ac-read", 6543.01),
        ("openclbench-nvidia-b300-sxm6-ac-write", 6887.38),
    ],
)
def test_rates_of_one_machine_are_as_printed(name: str, figure: float) -> None:
    """Azure AI benchmarking guide, mag- gpu_benchmark and OpenCL-Benchmark, at their commits."""
    figures = [rate for key, rate in ROWS[name].measured.items() if key != "message_bytes"]
    assert figures == [figure]


@pytest.mark.parametrize(
    ("name", "chips", "figure"),
    [
        ("trt11-deepseek-r1-b200-dep4-1000-1000", 4, 6463),
        ("trt11-deepseek-r1-h200-dep8-1024-32768", 8, 438),
        ("trt11-gpt-oss-120b-h100-dep4-32768-1024", 4, 333),
        ("trt11-gpt-oss-20b-gb200-tp1-1024-8192", 1, 38100),
        ("trt11-llama-3-70b-h100-tp2-8192-1024", 2, 398),
        ("trt11-llama-3-70b-rtx-pp2-32768-1024", 2, 67),
        ("trt11-llama-4-maverick-gb200-dep4-32768-1024", 4, 963),
        ("trt11-qwen-3-235b-a22b-rtx-dep2pp2-1024-8192", 4, 644),
        ("trt11-qwen-3-30b-a3b-rtx-tp1-32768-1024", 1, 374),
        ("vllm-tpu7x-qwen-3-32b-8192-1024", 1, 1382.18),
    ],
)
def test_rates_of_one_chip_at_full_load_are_as_printed(
    name: str, chips: int, figure: float
) -> None:
    """NVIDIA, TensorRT-LLM, performance overview; Google, tpu-recipes, at their commits."""
    row = ROWS[name]
    assert row.measured == {"output_tokens_per_s_per_chip": figure}
    assert row.hardware["n_chips"] == chips and not row.complete


def test_longer_prompts_and_answers_give_fewer_tokens_for_each_second() -> None:
    """Within a model, a machine and a layout, of every two loads that can be ordered."""
    rows = of("trtllm-1.1")
    assert len(rows) == 150
    loads = {
        (
            row.group,
            row.run["benchmark"],
            row.run["input_len_tokens"],
            row.run["output_len_tokens"],
        ): (row.measured["output_tokens_per_s_per_chip"])
        for row in rows
    }
    compared = 0
    for (group, benchmark, prompt, answer), rate in loads.items():
        longer = loads.get((group, benchmark, 8 * prompt, answer))
        if longer is not None:
            compared += 1
            assert longer < rate / 2, (group, benchmark, prompt, answer)
    assert compared > 20


@pytest.mark.parametrize(
    ("name", "cells", "printed_percent"),
    [
        ("fluidx3d-instinct-mi355x", 30380, 58),
        ("fluidx3d-instinct-mi300x", 22867, 66),
        ("fluidx3d-b200-sxm6-180gb", 42152, 81),
        ("fluidx3d-h100-sxm5-80gb-hbm3", 17602, 80),
        ("fluidx3d-a100-sxm4-80gb", 10228, 77),
        ("fluidx3d-geforce-rtx-4090", 5624, 85),
    ],
)
def test_a_solver_moves_153_bytes_for_each_cell(
    name: str, cells: int, printed_percent: int
) -> None:
    """FluidX3D prints cells and the percentage of the bandwidth that they are: both must agree."""
    row = ROWS[name]
    bandwidth = row.measured["memory_bandwidth_gb_per_s"]
    assert bandwidth == pytest.approx(cells * 153 / 1000, abs=0.1)
    assert f"{cells:,} million cells" in row.note
    printed = {
        "MI355X": 8000,
        "MI300X": 5300,
        "B200-SXM": 8000,
        "H100-SXM-80GB": 3350,
        "A100-SXM-80GB": 2039,
        "RTX 4090": 1008,
    }
    assert round(100 * bandwidth / printed[row.hardware["chip"]]) == printed_percent


def test_rows_to_check_pass_the_count_that_was_asked() -> None:
    """Published runs as data: 1,500 or more, of every kind that a single chip can measure."""
    assert len(ROWS) > 1500 and len(CHECK) > 800
    kinds = Counter(row.kind for row in CHECK)
    assert min(kinds[kind] for kind in ("matmul_peak", "hbm_bandwidth", "collective")) > 40
    assert kinds["training_throughput"] > 300 and kinds["inference"] > 500


# Pages of a maker's website, which keep no history: the day they were read stands for a commit.
PAGES = {"amd-perf-check", "gaudi2-inf-check", "gaudi2-train", "gaudi3-inf-check", "oci-mi300x"}


@every("name", FILES)
def test_a_file_to_check_names_the_commit_that_was_read(name: str) -> None:
    (source,) = FILES[name].sources.values()
    if reference(source.source).record:  # measured here: the file itself is what can be read
        return
    if name in PAGES:
        assert not source.commit and not source.path and source.as_of and source.year >= 2021
        return
    assert re.fullmatch(r"[0-9a-f]{40}", source.commit) and source.path and source.year >= 2021


@every("name", FILES)
def test_a_row_to_check_has_a_place_that_can_be_looked_up(name: str) -> None:
    """A line of a file, a row of a table in Parquet or on a page, or the folder of a submission.

    Of a measurement of our own it is the line that `flopbook measure` prints.
    """
    (source,) = FILES[name].sources.values()
    places = r"\b(?:line|row) \d+|/results/"
    if reference(source.source).record:
        places = r"^[A-Z]\d+, (?:matmul|memory copy|prefill|decode|step) "
    for row in FILES[name].rows:
        assert re.search(places, row.where), row.id
        assert len(row.where) < 200


def test_one_line_of_a_source_is_one_row_unless_it_holds_several_figures() -> None:
    """A table with several columns of figures gives a row for each, with the column in its id."""
    places = Counter(
        (row.publication, row.kind, row.where, row.run.get("precision"), row.run.get("benchmark"))
        for row in CHECK
    )
    assert [place for place, count in places.items() if count > 1] == []


def test_every_row_to_check_has_a_month_or_says_nothing_of_it() -> None:
    undated = {row.publication for row in CHECK if "date" not in row.run}
    # The tables of Gaudi name the release of the software and no day.
    assert undated == {"gpu-benches", "gaudi2-inf-check", "gaudi2-train", "gaudi3-inf-check"}
    for row in CHECK:
        date = row.run.get("date", "2024-06")
        assert re.fullmatch(r"20(2[0-6])-(0[1-9]|1[0-2])", date), row.id


# Printed so in their tables: runs whose Server rate came out above their Offline rate.
FASTER_SERVERS = {
    "mlperf61-nebius-vr200-nvl72-aarch64x36-dsr1-server",
    "mlperf51-google-llama2-70b-99-b200-sxm-8-server",
}


def of(publication: str) -> list[MeasuredRun]:
    return [row for row in CHECK if row.publication.startswith(publication)]


@pytest.mark.parametrize("publication", ["mlperf-inf-v4.1", "mlperf-inf-v5.1-check"])
def test_tokens_of_a_submission_are_those_of_its_chips_together(publication: str) -> None:
    rows = of(publication)
    assert len(rows) > 100
    for row in rows:
        each, total = (
            row.measured["output_tokens_per_s_per_chip"],
            row.measured["output_tokens_per_s"],
        )
        assert each * row.hardware["n_chips"] == pytest.approx(total, rel=2e-3), row.id
        assert row.run["phase"] in ("Offline", "Server", "Interactive")
        assert not row.complete  # lengths and layout are not published


def test_a_server_answers_no_faster_than_the_same_machine_without_limits() -> None:
    """Offline is a bound for Server and Interactive, which have limits of latency."""
    offline = {_machine(row): row for row in of("mlperf-inf") if row.run["phase"] == "Offline"}
    compared = 0
    for row in of("mlperf-inf"):
        bound = offline.get(_machine(row))
        if bound is None or row.run["phase"] == "Offline":
            continue
        compared += 1
        rates = [case.measured["output_tokens_per_s"] for case in (row, bound)]
        assert rates[0] <= 1.03 * rates[1] or row.id in FASTER_SERVERS, row.id
    assert compared > 60


def _machine(row: MeasuredRun) -> tuple[str, ...]:
    """The system and the model of a submission; of one model in two accuracies each by itself."""
    *folder, _ = row.where.split("/")
    return (row.publication, row.run.get("model_variant", ""), *folder)


@pytest.mark.parametrize(
    "publication", ["mlperf-train-v4.1", "mlperf-train-v5.0", "mlperf-train-v5.1"]
)
def test_tokens_of_a_training_log_follow_from_its_step(publication: str) -> None:
    rows = [row for row in of(publication) if "step_time_s" in row.measured]
    assert rows
    for row in rows:
        tokens = row.parallelism["global_batch_seqs"] * row.model["seq_len_tokens"]
        each = tokens / row.measured["step_time_s"] / row.hardware["n_chips"]
        assert each == pytest.approx(row.measured["tokens_per_s_per_chip"], rel=1e-3), row.id


@pytest.mark.parametrize("publication", ["mlperf-train-v5.0", "mlperf-train-v5.1"])
def test_a_log_is_no_faster_than_its_whole_run_by_far(publication: str) -> None:
    """Samples over the time to train, evaluation included, are below the rate of a step."""
    rows = [row for row in of(publication) if "samples_to_target" in row.measured]
    assert len(rows) > 30
    for row in rows:
        seconds = 60 * row.measured["time_to_train_min"]
        run_rate = row.measured["samples_to_target"] / seconds * row.model["seq_len_tokens"]
        share = run_rate / row.hardware["n_chips"] / row.measured["tokens_per_s_per_chip"]
        assert 0.4 < share < 1.2, (row.id, share)


def test_prompts_are_read_faster_than_answers_are_written() -> None:
    """Of the same card, model and format in llama.cpp."""
    decoded = [row for row in of("llamacpp-dai") if row.run["phase"] == "decode"]
    assert len(decoded) > 70
    for row in decoded:
        prompt = ROWS[row.id.replace("-decode", "-prefill")]
        assert prompt.measured["tokens_per_s"] > 3 * row.measured["decode_tokens_per_s_per_seq"]


def test_a_larger_message_never_has_half_the_bandwidth_of_a_smaller_one() -> None:
    for chip in ("a100", "h100", "h200"):
        rows = [row for row in of(f"azure-{chip}") if row.kind == "collective"]
        rows.sort(key=lambda row: row.measured["message_bytes"])
        rates = [row.measured["busbw_gb_per_s"] for row in rows]
        assert len(rates) == 24 and all(b > a / 2 for a, b in pairwise(rates))
        sizes = [row.measured["message_bytes"] for row in rows]
        assert sizes == [2**power for power in range(10, 34)]
