"""What a tuned engine takes over the bound: fitted numbers, ranges that notes state, prices."""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import Result, calculate
from flopbook.formulas import get_formula
from flopbook.formulas.inference_parts import LAYER_OVERHEAD, PROMPT_REACHED, REACHED
from scripts.website.measured.comparisons import ComparedRun, compared

ROOT = Path(__file__).resolve().parents[2]
SERVED: dict[str, Any] = {
    "model": "llama-3-70b",
    "chip": "h100-sxm",
    "tp": 8,
    "seq": 8192,
    "price": "2USD/h",
    "prompt_tokens": 4096,
    "answer_tokens": 500,
}

# What the numbers of the software are fitted to: steps of engines that fuse and compile.
FITTED_TO = ("gpt-fast", "kipply")
CHIPS = {"A100-SXM-80GB": "a100-sxm-80gb", "A100-SXM-40GB": "a100-sxm-40gb"}
WIDTHS = {"bf16": 2.0, "fp16": 2.0, "weight-only int8": 1.0, "weight-only int4-g32": 0.5625}


def published_steps() -> list[tuple[float, Result]]:
    """Seconds of a step as measured, and our answer for it."""
    found = []
    for name in FITTED_TO:
        runs = yaml.safe_load((ROOT / "calculators" / "runs" / f"{name}.yaml").read_text())
        for row in runs["rows"]:
            if row["run"].get("phase") != "decode" or row.get("flags"):
                continue
            shape = row["model"]
            shown = {
                "layers": shape["n_layers"],
                "heads": shape["n_heads"],
                "kv_heads": shape["n_kv_heads"],
                "d_model": shape["d_model"],
                "vocab": shape["vocab_size"],
                "params": shape["n_params"],
                "compute_params": shape.get("n_active_params", shape["n_params"])
                - shape["vocab_size"] * shape["d_model"] * (not shape.get("tied_embeddings")),
                "experts": shape.get("n_experts", 1),
                "experts_per_token": shape.get("experts_per_token", 1),
                "tied_embeddings": "yes" if shape.get("tied_embeddings") else "no",
            }
            answer = calculate(
                "decode",
                **shown,
                chip=CHIPS[row["hardware"]["chip"].split(" (")[0]],
                bytes_per_param=WIDTHS[row["run"]["precision"]],
                seq=row["run"]["input_len_tokens"] + 100,
                tp=row["parallelism"]["tp"],
            )
            found.append((row["measured"]["ms_per_token"] / 1000, answer))
    return found


def test_the_numbers_of_the_software_are_the_best_fit() -> None:
    """The share and the overhead of a layer with the least squares of logarithms, found again.

    19 steps are met within 4.5 % in the middle and 16 % at most; the bound alone misses half.
    """
    steps = published_steps()
    assert len(steps) == 19

    def squares(share: float, overhead: float) -> float:
        return sum(
            math.log((out["seconds"] / share + out.inputs["layers"].value * overhead) / measured)
            ** 2
            for measured, out in steps
        )

    fitted = min(
        ((share / 100, micro * 1e-6) for share in range(70, 91) for micro in range(60, 100, 2)),
        key=lambda pair: squares(*pair),
    )
    assert fitted == (pytest.approx(REACHED), pytest.approx(LAYER_OVERHEAD))
    errors = sorted(abs(out["likely_seconds"] / measured - 1) for measured, out in steps)
    bounds = sorted(1 - out["seconds"] / measured for measured, out in steps)
    assert errors[9] < 0.06 and errors[-1] < 0.17
    assert bounds[9] > 0.45 and bounds[0] > 0.25


def test_the_share_of_prompts_is_the_best_fit() -> None:
    """The share with the least squares of logarithms over 16 prompts, found again.

    They are met within 17 % in the middle; by the share of decoding they took a third longer.
    """
    rows = {row.id: row for row in served_rows("fit")}
    bound = {line.id: line for line in compared("prefill").lines if line.id in rows}
    expected = {line.id: line for line in compared("expected prefill").lines if line.id in rows}
    assert len(bound) == 16 and {rows[id].publication for id in bound} == {
        "trtllm-0.6",
        "kipply",
        "gaudi-inf",
    }

    def squares(share: float) -> float:
        # What is left of the expected time beside the bound are launches and messages.
        times = (
            expected[id].computed + bound[id].computed * (1 / share - 1 / PROMPT_REACHED)
            for id in bound
        )
        measured = (line.measured for line in bound.values())
        return sum(math.log(time / found) ** 2 for time, found in zip(times, measured, strict=True))

    assert min(range(30, 91), key=lambda share: squares(share / 100)) == PROMPT_REACHED * 100
    assert statistics.median(abs(line.error) for line in expected.values()) < 0.17


def served_rows(*uses: str) -> list[MeasuredRun]:
    """Rows of inference of some uses, of all where none is named."""
    rows = [row for file in run_files().values() for row in file.rows]
    return [row for row in rows if row.kind == "inference" and (not uses or row.use in uses)]


TUNED = ("PyTorch + torch.compile", "FasterTransformer")


@pytest.mark.parametrize(
    ("name", "kind", "software"),
    [("decode", "decode", TUNED), ("prefill", "prefill", None), ("serving", "batch", None)],
)
def test_notes_state_what_published_runs_reached_of_the_bound(
    name: str, kind: str, software: tuple[str, ...] | None
) -> None:
    """On one chip and on several: the percents in the note are those of the rows."""
    chips = {row.id: row.parallelism.get("tp", 1) for row in served_rows()}
    (omission,) = (each for each in get_formula(name).omissions if each.name == "software")
    stated = re.findall(r"(\d+)\s+to (\d+) %", omission.message)
    lines = [line for line in compared(kind).lines if not software or line.group in software]

    def reached(found: list[ComparedRun]) -> tuple[str, str]:
        shares = sorted(100 * line.computed / line.measured for line in found)
        return f"{shares[0]:.0f}", f"{shares[-1]:.0f}"

    assert stated == [
        reached([line for line in lines if chips[line.id] == 1]),
        reached([line for line in lines if chips[line.id] > 1]),
    ]


@pytest.mark.parametrize(
    ("kind", "typical"), [("decode", 0.14), ("prefill", 0.17), ("batch", 0.25)]
)
def test_what_is_expected_is_nearer_than_the_bound(kind: str, typical: float) -> None:
    """Half of the runs that were looked at are met within the stated error; the bound misses more.

    Runs that were collected later, on other engines and chips, are off by six tenths as much again:
    prompts of the newest engines are faster than those of 2024 that the share was fitted to.
    """
    known = {row.id for row in served_rows("fit")}

    def error(name: str, ids: set[str] | None = None) -> float:
        lines = [line for line in compared(name).lines if ids is None or line.id in ids]
        return statistics.median(abs(line.error) for line in lines)

    assert error(f"expected {kind}", known) < typical
    assert error(f"expected {kind}") < 1.6 * typical
    assert error(f"expected {kind}") < error(kind) / 1.5


@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_the_expected_time_stands_beside_the_bound_in_the_default_answer(name: str) -> None:
    """The bound is marked as one, and what to expect follows in the next line."""
    result = calculate(name, model="llama-3-8b", chip="h100-sxm", seq=1000)
    assert result["likely_seconds"] > 1.1 * result["seconds"]
    assert result["likely_tokens_per_s"] < result["tokens_per_s"] / 1.1
    lines = answer(result).splitlines()
    (place,) = [n for n, line in enumerate(lines) if line.startswith("seconds ")]
    assert "bound" in lines[place] and lines[place + 1].startswith("likely_seconds ")
    (note,) = [note for note in result.notes if "published" in note]
    assert "expect" in note and "bound" in note


@pytest.mark.parametrize(
    ("name", "perfect"),
    [
        ("decode", {"bandwidth_share": 1, "layer_overhead": 0}),
        ("prefill", {"prompt_share": 1, "layer_overhead": 0}),
        ("serving", {"bandwidth_share": 1, "layer_overhead": 0, "prompt_share": 1}),
    ],
)
def test_software_can_be_switched_off(name: str, perfect: dict[str, float]) -> None:
    """Without loss, overhead and messages the expected time is the bound, and no note is left."""
    asked: dict[str, Any] = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 1000}
    result = calculate(name, **asked, **perfect)
    assert result["likely_seconds"] == result["seconds"] == calculate(name, **asked)["seconds"]
    assert result["likely_tokens_per_s"] == result["tokens_per_s"]
    assert not any("published" in note for note in result.notes)


def test_expected_prices_are_those_of_the_expected_times() -> None:
    """A million tokens at the expected pace; a request as its prompt and its share of the steps."""
    served = calculate("serving", **SERVED)
    prompt = calculate(
        "prefill", **{name: SERVED[name] for name in ("model", "chip", "tp")}, seq=4096
    )
    a_second = 8 * 2 / 3600
    pace = served["batch_runs"] / served["likely_seconds"]
    assert served["likely_tokens_per_s"] == pytest.approx(pace)
    assert served["likely_usd_per_million_tokens"] == pytest.approx(1e6 * a_second / pace)
    request = prompt["likely_seconds"] + 499 * served["likely_seconds"] / served["batch_runs"]
    assert served["likely_usd_per_request"] == pytest.approx(a_second * request, rel=1e-9)


def test_nothing_is_expected_where_nothing_fits() -> None:
    served = calculate("serving", **{**SERVED, "model": "llama-3-405b", "tp": 2})
    assert served["batch_runs"] == served["likely_tokens_per_s"] == 0
    assert served["likely_usd_per_million_tokens"] == served["likely_usd_per_request"] == math.inf


def test_prompts_that_are_read_are_told_beside_the_rate_of_steps() -> None:
    """The note is there where both lengths are known, with the share that is lost."""
    served = calculate("serving", **SERVED)
    (note,) = [note for note in served.notes if "tokens_per_s is that of steps alone" in note]
    lost = 1 - served["requests_per_s"] * 500 / served["tokens_per_s"]
    assert lost > 0.5 and f"(-{100 * lost:.0f} %)" in note
    without = calculate("serving", **{**SERVED, "answer_tokens": 1e9, "seq": 1e6})
    assert not any("steps alone" in note for note in without.notes)
    for open_one in ("prompt_tokens", "answer_tokens"):
        half = {name: value for name, value in SERVED.items() if name != open_one}
        assert not any("steps alone" in note for note in calculate("serving", **half).notes)
