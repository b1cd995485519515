"""A run of a number of requests admits no more than those, and ends with a batch half empty."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.serving import LOADED, predict_one, serving_of
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import full_batch
from tests.support.serving_rows import served

P = fitted_kinds()["inference"].parameters
ROWS = {row.id: row for file in run_files().values() for row in file.rows}


def case_of(**run: Any) -> Serving:
    """A model at full load on eight chips."""
    lengths = {"input_len_tokens": 512, "output_len_tokens": 512, **run}
    row: MeasuredRun = served(chips=8, tp=8, phase="prefill+decode, max load", **lengths)
    return serving_of(row)[0]


def rate(**run: Any) -> float:
    return predict_one(case_of(**run), P)


def test_a_server_admits_no_more_than_it_is_sent() -> None:
    free = full_batch(case_of(), P)
    assert free > 64
    assert full_batch(case_of(n_prompts=64), P) == 64
    assert full_batch(case_of(n_prompts=10**6), P) == pytest.approx(free)


def test_requests_that_all_fit_are_one_static_batch_at_the_share_of_full_load() -> None:
    static = serving_of(
        served(
            chips=8,
            tp=8,
            phase="prefill+decode, static batch",
            batch_seqs=64,
            input_len_tokens=512,
            output_len_tokens=512,
        )
    )[0]
    assert case_of(n_prompts=64).task == LOADED
    assert rate(n_prompts=64) == pytest.approx(P["loaded"] * predict_one(static, P))


def test_many_requests_are_as_fast_as_endlessly_many() -> None:
    endless = rate()
    rates = [rate(n_prompts=n) for n in (5_000, 50_000, 5_000_000)]
    assert rates == sorted(rates) and rates[-1] == pytest.approx(endless, rel=1e-3)
    assert rates[0] > 0.8 * endless


def test_the_last_wave_is_half_empty_on_average() -> None:
    """Of requests between two and three batches, by waves of whole batches and what is left."""
    batch = full_batch(case_of(), P)
    counts = [batch * (2 + step / 50) for step in range(1, 51)]
    case = case_of()
    whole = 512 * batch / predict_one(case, P)
    exact = [
        2 * whole + 512 * left / predict_one(case._replace(requests=left), P)
        for left in (count - 2 * batch for count in counts)
    ]
    smooth = [512 * n / predict_one(case._replace(requests=n), P) for n in counts]
    assert sum(smooth) / sum(exact) == pytest.approx(1, rel=0.03)


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("trt10-llama-3.1-405b-b200-128-128", 30000),
        ("trt10-llama-3.1-405b-b200-1000-1000", 3000),
        ("trt10-llama-3.1-405b-b200-2048-128", 3000),
        ("trt10-llama-3.1-405b-b200-2048-2048", 1500),
        ("trt10-llama-3.1-405b-b200-20000-2000", 1000),
        ("trt11-deepseek-r1-b200-dep4-1024-1024", 3000),
        ("trt11-deepseek-r1-b200-dep4-8192-1024", 1500),
        ("trt11-deepseek-r1-b200-dep4-1024-8192", 1500),
        ("trt11-deepseek-r1-b200-dep4-1024-32768", 1000),
        ("amd-mi300x-llama-3-70b-128-2048", 3200),
    ],
)
def test_requests_are_as_many_as_the_source_says(name: str, requests: int) -> None:
    """perf-overview.md of TensorRT-LLM at 00f37686 and 03e27c7d; AMD's page, as in its rows."""
    assert ROWS[name].run["n_prompts"] == requests
    assert serving_of(ROWS[name])[0].requests == requests


def test_lengths_of_which_the_source_gives_no_number_have_none() -> None:
    assert "n_prompts" not in ROWS["trt11-deepseek-r1-b200-dep4-1000-1000"].run
