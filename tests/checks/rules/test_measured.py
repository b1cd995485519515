"""A run whose numbers contradict each other is refused with what would mend it."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks.rules import measured
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library
from flopbook.data.run_degrees import WRONG_DEGREES
from flopbook.data.runs import MeasuredRun, RunFile, RunSource

ROW = MeasuredRun(
    id="one",
    kind="training_throughput",
    publication="acme",
    where="Table 1",
    measured={"tokens_per_s_per_chip": 100, "tokens_per_s": 800},
    hardware={"chip": "h100", "n_chips": 8},
    parallelism={"tp": 2, "dp": 2, "pp": 2},
)


def messages(*rows: MeasuredRun, key: str = "acme2026one") -> list[str]:
    files = {"acme": RunFile({"acme": RunSource(key)}, rows)}
    references: Any = {"acme2026one": None}  # its keys are enough
    models: Any = {"acme-7b": None}
    holdings = Holdings(library=library(), runs=files, references=references, models=models)
    return [str(finding.problem) for finding in measured.check(holdings)]


def test_a_run_that_agrees_with_itself_is_sound() -> None:
    assert messages(ROW) == []


@pytest.mark.parametrize("degree", ["tp", "pp", "dp", "cp"])
def test_degrees_multiply_to_the_chips(degree: str) -> None:
    wrong = ROW._replace(parallelism={**ROW.parallelism, degree: 3})
    (message,) = messages(wrong)
    assert "expected a product of 8 chips" in message
    assert messages(wrong._replace(flags=(WRONG_DEGREES,))) == []


def test_degrees_of_a_part_of_a_chip_are_not_multiplied() -> None:
    cores = {**ROW.parallelism, "dp": 4, "parallel_unit": "NeuronCore"}
    assert messages(ROW._replace(parallelism=cores)) == []


def test_a_layout_without_its_data_parallel_degree_is_open() -> None:
    assert messages(ROW._replace(parallelism={"tp": 4})) == []


@pytest.mark.parametrize("degrees", [{"tp": 3}, {"tp": 4, "pp": 4}, {"tp": 0}, {"ep": 0}])
def test_degrees_divide_the_chips_that_replicas_share(degrees: dict[str, int]) -> None:
    (message,) = messages(ROW._replace(parallelism=degrees))
    assert "expected a divisor of the 8 chips" in message


def test_a_group_of_experts_divides_the_chips() -> None:
    """Expert parallelism shares out replicas: no group of six fits into eight chips."""
    assert messages(ROW._replace(parallelism={**ROW.parallelism, "ep": 4})) == []
    wrong = ROW._replace(parallelism={**ROW.parallelism, "ep": 6})
    (message,) = messages(wrong)
    assert "found ep 6, expected a divisor of the 8 chips; mend a degree" in message
    assert messages(wrong._replace(flags=(WRONG_DEGREES,))) == []


@pytest.mark.parametrize(
    ("batch", "sound"),
    [
        ({"global_batch_seqs": 24, "micro_batch_seqs": 4}, True),
        ({"global_batch_seqs": 20, "micro_batch_seqs": 4}, False),
        ({"global_batch_seqs": 20}, True),
        ({"micro_batch_seqs": 4}, True),
    ],
)
def test_a_batch_is_whole_micro_batches_of_each_replica(batch: dict[str, int], sound: bool) -> None:
    row = ROW._replace(parallelism={**ROW.parallelism, **batch})
    assert (messages(row) == []) is sound
    assert messages(row._replace(flags=(measured.WRONG_BATCH,))) == []
    without_replicas = {"tp": 2, "pp": 2, **batch}
    assert messages(ROW._replace(parallelism=without_replicas)) == []


def test_a_batch_that_does_not_divide_says_by_what() -> None:
    batch = {"global_batch_seqs": 20, "micro_batch_seqs": 4}
    (message,) = messages(ROW._replace(parallelism={**ROW.parallelism, **batch}))
    assert (
        "found global_batch_seqs 20, expected a multiple of 8, micro_batch_seqs 4 x dp 2; "
        f"mend one of the three, or flag {measured.WRONG_BATCH}" in message
    )


@pytest.mark.parametrize(("total", "sound"), [(800, True), (820, True), (840, False)])
def test_totals_agree_within_rounding(total: float, sound: bool) -> None:
    row = ROW._replace(measured={**ROW.measured, "tokens_per_s": total})
    assert (messages(row) == []) is sound


@pytest.mark.parametrize(
    ("origin", "found"),
    [
        ("calculators/models/acme-7b.yaml", 0),
        ("calculators/models/acme-8b.yaml", 1),
        ("calculators/models/acme-8b.yaml, cut to four layers", 1),
        ("Table 1 of the paper", 0),
    ],
)
def test_a_shape_of_ours_is_that_of_a_model_that_is_there(origin: str, found: int) -> None:
    row = ROW._replace(model={"dims_from": origin}, file="calculators/runs/acme.yaml", line=7)
    refused = messages(row)
    assert len(refused) == found
    for message in refused:
        assert message.startswith("calculators/runs/acme.yaml:7:1: run: found dims_from")


def test_an_id_is_used_once() -> None:
    assert "rename one" in messages(ROW, ROW)[0]


def test_a_publication_is_a_work_that_we_cite() -> None:
    assert "add the publication" in messages(ROW, key="nobody2026")[0]


LLAMA = {
    "name": "Llama-3-8B",
    "n_layers": 32,
    "d_model": 4096,
    "n_heads": 32,
    "n_kv_heads": 8,
    "d_ff": 14336,
    "vocab_size": 128256,
    "gated_ffn": True,
    "seq_len_tokens": 8192,
}
# 7,000 tokens per second of 51.7 GFLOP each: 362 of 989.4 TFLOP/s, or of 1,979 in FP8.
WORKED = ROW._replace(
    model=LLAMA,
    hardware={"chip": "h100-sxm", "n_chips": 8},
    measured={"tokens_per_s_per_chip": 7000},
)


@pytest.mark.parametrize(
    ("name", "value", "sound"),
    [
        ("model_tflops_per_s_per_chip", 362, True),
        ("model_tflops_per_s_per_chip", 400, True),
        ("model_tflops_per_s_per_chip", 36.2, False),
        ("mfu_pct", 36.6, True),
        ("mfu_pct", 18.3, True),
        ("mfu_pct", 73, False),
    ],
)
def test_work_agrees_with_tokens(name: str, value: float, sound: bool) -> None:
    """Over the peak in 16 bits or that of the format; a tenth of it or twice it is a slip."""
    row = WORKED._replace(measured={**WORKED.measured, name: value})
    contradictions = messages(row)
    assert (contradictions == []) is sound
    if not sound:
        assert name in contradictions[0] and "from 7,000 token/s" in contradictions[0]
        assert messages(row._replace(flags=(measured.WRONG_WORK,))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"run": {"task": "LoRA fine-tuning"}},
        {"model": {"name": "Mystery", "seq_len_tokens": 8192}},
        {"model": {name: size for name, size in LLAMA.items() if name != "seq_len_tokens"}},
        {"kind": "inference"},
    ],
)
def test_work_that_nobody_can_count_is_open(change: dict[str, Any]) -> None:
    wrong = {**WORKED.measured, "model_tflops_per_s_per_chip": 36.2}
    assert messages(WORKED._replace(measured=wrong, **change)) == []


def test_work_is_checked_of_the_tokens_of_all_chips_too() -> None:
    total = {"tokens_per_s": 56_000, "mfu_pct": 73}
    assert "mfu_pct 73" in messages(WORKED._replace(measured=total))[0]
