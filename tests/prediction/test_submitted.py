"""Results of a benchmark are predicted under what it asks: lengths, limits, and the best layout."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.models import Case
from flopbook.prediction.serving import predict_one, read
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import full_batch, held_weights, largest_within

P = fitted_kinds()["inference"].parameters
SOURCE = RunSource(year=2025)
ROWS = {row.id: row for file in run_files().values() for row in file.rows}


def named(part: str, **run: Any) -> MeasuredRun:
    """The first row of round 5.1 whose id has a part, with changes of its run."""
    row = next(row for name, row in ROWS.items() if part in name and "mlperf51" in name)
    return row._replace(run={**row.run, **run})


def case_of(row: MeasuredRun) -> Case:
    return read(row, SOURCE)


def served(row: MeasuredRun) -> Serving:
    inputs: Serving = case_of(row).inputs
    return inputs


def rate(row: MeasuredRun) -> float:
    return predict_one(served(row), P)


def test_a_row_that_says_its_lengths_keeps_them() -> None:
    row = named("llama2-70b-99", input_len_tokens=2048, output_len_tokens=128)
    case = served(row)
    assert (case.prompt, case.answer, case.held, case.layouts) == (2048, 128, 0, ())


def test_a_row_has_the_lengths_of_its_benchmark() -> None:
    case = served(named("deepseek-r1-offline"))
    assert (case.prompt, case.answer, case.context) == (803.79, 3886.23, 4979.41)


def test_a_benchmark_that_nobody_knows_is_refused() -> None:
    row = named("deepseek-r1-offline", benchmark="MLPerf Inference v5.1, open division, mine")
    with pytest.raises(FlopbookError, match="lengths of prompts and answers"):
        case_of(row)


def test_a_scenario_in_which_tokens_are_drafted_is_refused() -> None:
    with pytest.raises(FlopbookError, match="draft tokens"):
        case_of(named("deepseek-r1-offline", phase="Interactive"))


def test_a_format_that_nobody_states_is_of_8_bits_where_the_chip_has_them() -> None:
    """closed/NVIDIA/configs/llama2-70b/Offline of v4.1 at 198fc467: use_fp8 on all systems."""
    row = named("llama2-70b-99")
    stated = row._replace(run={name: word for name, word in row.run.items() if name != "precision"})
    on_a100 = stated._replace(hardware={**row.hardware, "chip": "A100-SXM-80GB"})
    assert served(stated).weight_bytes == 1 and "format" in case_of(stated).inferred
    assert served(on_a100).weight_bytes == 2 and "format" not in case_of(on_a100).inferred


def test_layouts_divide_the_chips_and_hold_the_weights() -> None:
    for name, row in list(ROWS.items())[::7]:
        if not name.startswith("mlperf") or row.kind != "inference":
            continue
        try:
            case = served(row)
        except FlopbookError:
            continue
        for one in case.layouts:
            assert one.tp * one.ranks * one.replicas == one.chips
            assert one.tp * one.ranks <= one.machine.domain
            assert held_weights(one) < one.machine.memory * one.chips


def test_the_best_layout_counts() -> None:
    case = served(named("llama2-70b-99"))
    assert len(case.layouts) > 2
    assert predict_one(case, P) == max(predict_one(one, P) for one in case.layouts)


@pytest.mark.parametrize(
    ("chip", "count", "model", "tp", "ranks"),
    [
        ("H100-SXM-80GB", 8, "Llama-2-70B", 2, 1),
        ("H100-NVL", 4, "Llama-2-70B", 2, 1),
        ("H200-SXM", 8, "Llama-2-70B", 1, 1),
        ("B200-SXM", 8, "Llama-2-70B", 1, 1),
        ("MI300X", 8, "Llama-2-70B", 1, 1),
        ("H200-SXM", 8, "Mixtral-8x7B", 1, 1),
        ("H200-SXM", 8, "Llama-3.1-8B", 1, 1),
        ("B200-SXM", 8, "Llama-3.1-405B", 4, 1),
        ("GB300-NVL72", 72, "Llama-3.1-405B", 2, 1),
        ("B200-SXM", 8, "DeepSeek-R1", 1, 8),
    ],
)
def test_the_best_layout_is_the_one_that_submitters_took(
    chip: str, count: int, model: str, tp: int, ranks: int
) -> None:
    """In Server: closed/NVIDIA/configs and closed/AMD/code of v5.1 at 965182b, v4.1 at 198fc467."""
    wanted = {"chip": chip, "n_chips": count}
    for row in ROWS.values():
        is_round = row.publication.startswith(("mlperf-inf-v4.1", "mlperf-inf-v5.1"))
        if not is_round or row.model["name"] != model or row.run["phase"] != "Server":
            continue
        if wanted.items() <= row.hardware.items():
            best = max(served(row).layouts, key=lambda layout: predict_one(layout, P))
            assert (best.tp, best.ranks) == (tp, ranks)
            return
    pytest.fail(f"no row of {model} on {count} {chip}")


def test_weights_that_fit_nowhere_are_refused() -> None:
    row = named("llama3.1-405b")
    small = row._replace(hardware={**row.hardware, "chip": "L40S", "n_chips": 4})
    with pytest.raises(FlopbookError, match="do not fit"):
        case_of(small)


@pytest.mark.parametrize("part", ["llama2-70b-99", "llama3.1-405b", "llama3.1-8b"])
def test_the_tighter_the_limit_the_fewer_tokens(part: str) -> None:
    offline, server, interactive = (
        rate(named(part, phase=phase)) for phase in ("Offline", "Server", "Interactive")
    )
    assert offline >= server >= interactive > 0


def test_a_server_runs_what_the_limit_allows() -> None:
    case = served(named("llama2-70b-99", phase="Interactive")).layouts[0]
    assert case.token_limit == pytest.approx(0.04)
    found = predict_one(case, P)
    # Tokens a second of all sequences, over those of one that just keeps the limit.
    most = full_batch(case, P)
    assert 0 < found * case.token_limit <= most
    assert predict_one(case._replace(token_limit=1e9), P) >= found
    assert predict_one(case._replace(token_limit=0.0), P) >= found


@pytest.mark.parametrize(("limit", "found"), [(1e3, 256.0), (128.0, 128.0), (1.5, 2.0), (0.0, 2.0)])
def test_the_largest_batch_within_a_limit_is_found(limit: float, found: float) -> None:
    """Where a token takes a second for each sequence."""
    assert largest_within(limit, 256.0, 2.0, lambda batch: batch) == pytest.approx(found, rel=1e-3)


def test_a_sequence_that_runs_for_longer_is_met_more_often() -> None:
    """Two answers in turn, of 100 and 1,900 tokens: of 2,000 moments 1,900 see the long one."""
    prompt, answers = 50, (100, 1900)
    held = [prompt + token for answer in answers for token in range(answer)]
    formula = sum(prompt * answer + answer**2 / 2 for answer in answers) / sum(answers)
    assert sum(held) / len(held) == pytest.approx(formula, rel=1e-3)
    assert formula > prompt + sum(answers) / 4
