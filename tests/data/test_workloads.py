"""What benchmarks ask is read with its sources, and stands as those print it."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.workloads import read_workloads, workload_of, workloads
from flopbook.errors import DataError
from tests.support.samples import assert_clean

LENGTH = "{tokens: 100, source: acme2026a, as_of: 2026-11-20, locator: page 3}"
SUITE = "MLPerf Inference"
# Benchmarks of the open division that ask something else of a model, or say nothing of it.
OTHER = ("llama3_1-405b_finetuned",)


def written(folder: Path, rest: str = "", answer: str = LENGTH) -> Path:
    path = folder / "acme.yaml"
    path.write_text(
        "suite: Acme\nworkloads:\n"
        "  - {name: Chat, benchmarks: [chat, chat-99], samples: 7,\n"
        f"     prompt: {LENGTH},\n     answer: {answer}{rest}}}\n",
        encoding="utf-8",
    )
    return path


def test_lengths_are_read_with_their_source_and_line(tmp_path: Path) -> None:
    (chat,) = read_workloads(written(tmp_path))
    assert (chat.suite, chat.benchmarks, chat.samples) == ("Acme", ("chat", "chat-99"), 7)
    assert (chat.prompt.tokens, chat.prompt.source) == (100, "acme2026a")
    assert chat.prompt.as_of == datetime.date(2026, 11, 20) and chat.line == 3


def test_a_running_sequence_holds_its_prompt_and_half_its_answer_unless_more_is_known(
    tmp_path: Path,
) -> None:
    (plain,) = read_workloads(written(tmp_path))
    (known,) = read_workloads(written(tmp_path, f", held: {LENGTH.replace('100', '180')}"))
    assert (plain.running, known.running) == (150, 180)


@pytest.mark.parametrize(
    "answer",
    [
        LENGTH.replace("100", "0"),
        LENGTH.replace(", source: acme2026a", ""),
        LENGTH.replace(", locator: page 3", ""),
        LENGTH.replace("as_of: 2026-11-20", "as_of: soon"),
    ],
)
def test_a_length_without_size_source_place_or_day_is_refused(tmp_path: Path, answer: str) -> None:
    with pytest.raises(DataError) as refused:
        read_workloads(written(tmp_path, answer=answer))
    assert_clean(refused.value)


@pytest.mark.parametrize(
    ("name", "prompt", "answer", "held"),
    [
        ("llama2-70b-99.9", 222.33, 294.45, 369.555),
        ("mixtral-8x7b", 427.39, 144.84, 554.88),
        ("llama3.1-405b", 9428.64, 684.68, 9585.12),
        ("llama3.1-8b", 870.73, 128, 934.73),
        ("deepseek-r1", 803.79, 3886.23, 4979.41),
        ("gpt-oss-120b", 5010.64, 1278.2, 5649.74),
    ],
)
def test_lengths_of_mlperf_are_as_counted(
    name: str, prompt: float, answer: float, held: float
) -> None:
    """mlcommons/inference at b66003e1, and openshift-psap/performance-dashboard at 71007029."""
    asked = workload_of(f"{SUITE} v5.1, closed division, {name}")
    assert asked is not None
    assert (asked.prompt.tokens, asked.answer.tokens) == (prompt, answer)
    assert asked.running == pytest.approx(held)


@pytest.mark.parametrize(
    ("name", "scenario", "first", "each"),
    [
        ("llama2-70b-99", "Server", 2000, 200),
        ("llama2-70b-99", "Interactive", 450, 40),
        ("llama3.1-405b", "Server", 6000, 175),
        ("llama3.1-405b", "Interactive", 4500, 80),
        ("llama3.1-8b", "Server", 2000, 100),
        ("llama3.1-8b", "Interactive", 500, 30),
        ("mixtral-8x7b", "Server", 2000, 200),
        ("deepseek-r1", "Server", 2000, 80),
        ("deepseek-r1", "Interactive", 1500, 15),
        ("gpt-oss-120b", "Server", 3000, 80),
    ],
)
def test_limits_of_mlperf_are_as_its_load_generator_has_them(
    name: str, scenario: str, first: float, each: float
) -> None:
    """loadgen/mlperf.conf of mlcommons/inference at b66003e1."""
    asked = workload_of(f"{SUITE} v6.1, closed division, {name}")
    limit = asked and asked.limit(scenario)
    assert limit and (limit.first_token_ms, limit.token_ms) == (first, each)


def test_no_scenario_without_limit_has_one() -> None:
    assert all(one.limit("Offline") is None for one in workloads())


def test_another_suite_asks_nothing_that_we_know() -> None:
    assert workload_of("Acme Inference, closed division, llama2-70b-99") is None
    assert workload_of("") is None


def test_rows_of_the_suite_name_a_benchmark_that_is_known() -> None:
    names = {
        row.run["benchmark"]
        for file in run_files().values()
        for row in file.rows
        if row.kind == "inference" and str(row.run.get("benchmark", "")).startswith(SUITE)
    }
    unknown = {name for name in names if workload_of(name) is None}
    assert len(names) > 15 and all(name.endswith(OTHER) for name in unknown)


def test_rows_whose_lengths_are_those_of_a_benchmark_are_never_fitted() -> None:
    rows = [row for file in run_files().values() for row in file.rows]
    asked = [row for row in rows if str(row.run.get("benchmark", "")).startswith(SUITE)]
    assert len(asked) > 650 and {row.use for row in asked} == {"check"}
