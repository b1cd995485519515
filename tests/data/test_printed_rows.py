"""Rows to check against, line by line as their sources print them."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from flopbook.data.measured_runs import run_files
from tests.support.cases import every

FILES = run_files()
ROWS = {row.id: row for file in FILES.values() for row in file.rows}


class Printed(NamedTuple):
    """A line of a source: the row that holds it, and what the line says."""

    id: str
    where: str
    chips: int
    figures: dict[str, float]
    degrees: dict[str, int]


BRIDGE = (
    Printed(
        "bridge-26.06-sft-llama3-70b-gb300-fp8-32gpu-l175",
        "26.06 container, SFT, line 175",
        32,
        {"tokens_per_s_per_chip": 4819, "model_tflops_per_s_per_chip": 2083},
        {"tp": 1, "pp": 2, "cp": 1, "vp": 20, "micro_batch_seqs": 1, "global_batch_seqs": 32},
    ),
    Printed(
        "bridge-26.06-lora-llama3-70b-h100-fp8-8gpu-l191",
        "26.06 container, LoRA, line 191",
        8,
        {"tokens_per_s_per_chip": 2643, "model_tflops_per_s_per_chip": 735},
        {"tp": 2, "pp": 4, "cp": 1, "vp": 20, "micro_batch_seqs": 1, "global_batch_seqs": 32},
    ),
    Printed(
        "bridge-26.04.01-pre-llama3-70b-gb300-nvfp4-64gpu-l203",
        "26.04.01 container, Pre-Training, line 203",
        64,
        {"tokens_per_s_per_chip": 7296, "model_tflops_per_s_per_chip": 3253},
        {"tp": 1, "pp": 4, "cp": 1, "vp": 5, "micro_batch_seqs": 1, "global_batch_seqs": 256},
    ),
    Printed(
        "bridge-26.04.01-pre-llama3-70b-gb300-fp8-64gpu-l201",
        "26.04.01 container, Pre-Training, line 201",
        64,
        {"tokens_per_s_per_chip": 5248, "model_tflops_per_s_per_chip": 2348},
        {"tp": 1, "pp": 1, "cp": 1, "zero_stage": 3, "fsdp_shard": 64, "micro_batch_seqs": 2},
    ),
    Printed(
        "bridge-26.04.01-pre-llama3.1-405b-gb300-mxfp8-256gpu-l214",
        "26.04.01 container, Pre-Training, line 214",
        256,
        {"tokens_per_s_per_chip": 960, "model_tflops_per_s_per_chip": 2453},
        {"tp": 2, "pp": 8, "cp": 2, "vp": 4, "global_batch_seqs": 1536},
    ),
    Printed(
        "bridge-26.08-pre-nemotron-3-ultra-gb300-mxfp8-256gpu-l101",
        "26.08 container, Pre-Training, line 101",
        256,
        {"tokens_per_s_per_chip": 3552, "model_tflops_per_s_per_chip": 1281},
        {"tp": 1, "pp": 1, "cp": 1, "ep": 64, "micro_batch_seqs": 1, "global_batch_seqs": 256},
    ),
)


@every("line", BRIDGE)
def test_lines_of_megatron_bridge_are_as_printed(line: Printed) -> None:
    """NVIDIA, Megatron-Bridge, performance summary and its archive at commit 067f987."""
    row = ROWS[line.id]
    assert row.measured == line.figures and row.where == line.where
    assert row.hardware["n_chips"] == line.chips
    assert {name: row.parallelism.get(name) for name in line.degrees} == line.degrees
    container = line.where.split()[0]
    year, month, *_ = container.split(".")
    assert row.run["date"] == f"20{year}-{month}" and container in row.run["software"]


AUTOMODEL = (
    Printed(
        "automodel-deepseek-v3-h100-1024gpu",
        "Pre-Training Performance, line 19",
        1024,
        {"step_time_s": 37.87, "model_tflops_per_s_per_chip": 216, "tokens_per_s_per_chip": 865},
        {"pp": 4, "ep": 64, "vp": 8, "fsdp_shard": 256, "global_batch_seqs": 8192},
    ),
    Printed(
        "automodel-llama-3.1-70b-h100-64gpu",
        "Pre-Training Performance, line 25",
        64,
        {"step_time_s": 18.9, "model_tflops_per_s_per_chip": 389, "tokens_per_s_per_chip": 866.77},
        {"tp": 1, "pp": 1, "cp": 2, "fsdp_shard": 32, "micro_batch_seqs": 1},
    ),
    Printed(
        "automodel-lora-qwen2.5-32b-h100-16gpu",
        "Fine-Tuning (LoRA) Performance, line 40",
        16,
        {"step_time_s": 3.95, "tokens_per_s_per_chip": 2072.89},
        {"tp": 2, "pp": 1, "fsdp_shard": 8, "micro_batch_seqs": 2, "global_batch_seqs": 32},
    ),
)


@every("line", AUTOMODEL)
def test_lines_of_automodel_are_as_printed(line: Printed) -> None:
    """NVIDIA, NeMo AutoModel, performance summary at commit 36044ad."""
    row = ROWS[line.id]
    assert row.measured == line.figures and row.where == line.where
    assert row.hardware["n_chips"] == line.chips
    assert {name: row.parallelism.get(name) for name in line.degrees} == line.degrees


def test_rates_of_automodel_are_batches_over_steps() -> None:
    """The page prints the time of a step and the tokens of a GPU, and both say the same."""
    for row in FILES["automodel"].rows:
        tokens = row.parallelism["global_batch_seqs"] * row.model["seq_len_tokens"]
        rate = tokens / row.measured["step_time_s"] / row.hardware["n_chips"]
        assert rate == pytest.approx(row.measured["tokens_per_s_per_chip"], rel=2e-3), row.id


NVIDIA_FP8 = (
    Printed(
        "nemo2407-gpt3-175b-512gpu",
        "pretraining table, line 17",
        512,
        {"tokens_per_s_per_chip": 825, "model_tflops_per_s_per_chip": 888},
        {"tp": 4, "pp": 8, "vp": 6, "micro_batch_seqs": 2, "global_batch_seqs": 2048},
    ),
    Printed(
        "nemo2407-lora-llama2-70b-8gpu",
        "finetuning table, line 42",
        8,
        {"tokens_per_s_per_chip": 2621},
        {"tp": 2, "pp": 4, "micro_batch_seqs": 1, "global_batch_seqs": 32},
    ),
    Printed(
        "megatron-llama3-405b-fp8-1024gpu",
        "FP8 Performance, line 109",
        1024,
        {"tokens_per_s_per_chip": 315, "model_tflops_per_s_per_chip": 834},
        {"tp": 8, "pp": 8, "cp": 2, "vp": 8, "global_batch_seqs": 512},
    ),
)


@every("line", NVIDIA_FP8)
def test_lines_of_fp8_on_h100_are_as_printed(line: Printed) -> None:
    """NVIDIA, NeMo at commit 9c5c5e9 and Megatron-LM, examples/llama, at d98e8a6."""
    row = ROWS[line.id]
    assert row.measured == line.figures and row.where == line.where
    assert row.hardware["n_chips"] == line.chips and row.run["precision"] == "fp8"
    assert {name: row.parallelism.get(name) for name in line.degrees} == line.degrees


@every("name", ("nemo-2407-check", "megatron-llama"))
def test_rates_of_fp8_on_h100_count_all_of_attention(name: str) -> None:
    """Tokens times 6 N without the embedding and 12 L d T are the FLOP/s that stand beside them."""
    for row in FILES[name].rows:
        if "model_tflops_per_s_per_chip" not in row.measured:
            continue
        model = row.model
        tied = model["tied_embeddings"]
        weights = model["n_params"] - (0 if tied else model["vocab_size"] * model["d_model"])
        attention = 2 * model["n_layers"] * model["d_model"] * model["seq_len_tokens"]
        rate = row.measured["tokens_per_s_per_chip"] * 6 * (weights + attention)
        assert rate == pytest.approx(row.measured["model_tflops_per_s_per_chip"] * 1e12, rel=1e-2)


TORCHAO = (
    Printed(
        "torchao-h100-fp8-tensorwise-tps",
        "training e2e benchmarks, line 62",
        8,
        {"tokens_per_s_per_chip": 7689.5},
        {"micro_batch_seqs": 1, "global_batch_seqs": 8, "zero_stage": 3},
    ),
    Printed(
        "torchao-mi300x-bf16-mem",
        "training e2e benchmarks, line 72",
        8,
        {"peak_memory_gib": 39.09},
        {"micro_batch_seqs": 1, "global_batch_seqs": 8, "zero_stage": 3},
    ),
    Printed(
        "torchao-b200-mxfp8-cublas-tps",
        "training e2e benchmarks, line 315",
        8,
        {"tokens_per_s_per_chip": 9969},
        {"micro_batch_seqs": 1, "global_batch_seqs": 8, "zero_stage": 3},
    ),
)


@every("line", TORCHAO)
def test_lines_of_torchao_are_as_printed(line: Printed) -> None:
    """PyTorch, ao, docs/source/workflows/training.md at commit 36027d8."""
    row = ROWS[line.id]
    assert row.measured == line.figures and row.where == line.where
    assert row.hardware["n_chips"] == line.chips
    assert {name: row.parallelism.get(name) for name in line.degrees} == line.degrees


def test_rates_of_power_limited_gpus_say_so() -> None:
    """The limit is not printed, so that no prediction for a whole B200 is held against them."""
    rows = [row for row in FILES["torchao"].rows if row.hardware["chip"] == "B200-SXM"]
    limited = [row for row in rows if row.kind == "training_throughput"]
    assert len(limited) == 5
    assert {row.flags for row in limited} == {("power_limit_not_stated",)}


INTERNEVO = (
    Printed(
        "internevo-7b-tp2-zero4-1024gpu",
        "Throughput Measurement, line 40, 1024 GPUs",
        1024,
        {"tokens_per_s_per_chip": 3486},
        {"tp": 2, "dp": 512, "micro_batch_seqs": 4, "grad_accum": 4, "global_batch_seqs": 8192},
    ),
    Printed(
        "internevo-7b-packed-recomputed-b2x1-1024gpu",
        "FLOPS Testing, line 69",
        1024,
        {"tokens_per_s_per_chip": 2341},
        {"tp": 1, "dp": 1024, "micro_batch_seqs": 2, "grad_accum": 1, "global_batch_seqs": 2048},
    ),
    Printed(
        "internevo-7b-packed-kept-b2x2-1024gpu",
        "FLOPS Testing, line 86",
        1024,
        {"tokens_per_s_per_chip": 2817},
        {"tp": 1, "dp": 1024, "micro_batch_seqs": 2, "grad_accum": 2, "global_batch_seqs": 4096},
    ),
)


@every("line", INTERNEVO)
def test_lines_of_internevo_are_as_printed(line: Printed) -> None:
    """Shanghai AI Laboratory, InternEvo, doc/en/train_performance.md at commit c628a8c."""
    row = ROWS[line.id]
    assert row.measured == line.figures and row.where == line.where
    assert row.hardware["n_chips"] == line.chips
    assert {name: row.parallelism.get(name) for name in line.degrees} == line.degrees
