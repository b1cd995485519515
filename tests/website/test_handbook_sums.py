"""Sums of chapters that were wrong once: offloading, tokens beside prompts, narrow formats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.prediction.asking import predict
from scripts.website.figures.step_budget import FORMATS, SMALL, budgets
from tests.support.rendering import text_of


@pytest.mark.parametrize("peak", [989.4e12, 459e12])
def test_offloaded_gradients_hide_behind_the_backward_pass_alone(peak: float) -> None:
    """From B = pi / (2 beta) on, by the calculator; new weights have 2NB operations: pi / beta."""
    params, link = 8e9, 64e9
    usual = {"params": params, "host_bandwidth": link, "dp": 1}
    least = peak / (2 * link)
    enough, short = (
        calculate("offload", compute_seconds=6 * params * tokens / peak, **usual)
        for tokens in (least, 0.9 * least)
    )
    assert enough["exposed"] == pytest.approx(enough["update_seconds"])
    assert short["exposed"] == pytest.approx(short["update_seconds"] + 0.1 * short["down"] / link)
    assert 2 * params / link == pytest.approx(2 * params * (peak / link) / peak)
    text = text_of("overlap-and-offloading")
    assert r"B \ge \frac{x}{y} \cdot \frac{\pi}{\beta_h}" in text


def test_the_host_of_the_worked_example_is_as_fast_as_the_one_that_was_measured() -> None:
    """110 GB/s of a whole host, for one GPU or eight: 2.0 s for an 8B, not 1.1 s."""
    for dp in (1, 8):
        answer = calculate("offload", model="llama-3-8b", chip="h100-sxm", dp=dp)
        assert answer["update_seconds"] == pytest.approx(2.04, abs=0.01)
    assert "hostram = 28 * N / update" in text_of("overlap-and-offloading")


def test_prompts_slow_the_tokens_of_a_server_that_reads_them() -> None:
    """At full load 42 ms, beyond the 30 that are promised; at the load of ten servers 24."""
    usual = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    prefill = calculate("prefill", seq=4096, **usual)["likely_seconds"]

    def step(batch: int) -> float:
        return calculate("serving", seq=4352, batch=batch, **usual)["likely_seconds"]

    request = prefill + 512 * step(64) / 64
    assert step(64) * request / (request - prefill) == pytest.approx(41.9e-3, abs=1e-4)
    rate = 20 / math.ceil(20 * request / 0.7)
    pace = step(24) / (1 - rate * prefill)
    assert round(rate * 512 * pace) == 24 and pace < 30e-3
    assert "settled = 24" in text_of("serving")
    assert "At full load it would not" in text_of("serving")


def test_a_server_that_reads_prompts_is_full_at_half_the_rate() -> None:
    """Not 14.5 requests per second, whose prompts alone take 107 percent of its time."""
    usual = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    prefill = calculate("prefill", seq=4096, **usual)["seconds"]
    step = calculate("serving", seq=4352, batch=64, **usual)["seconds"]
    assert 64 / (512 * step) * prefill > 1
    assert 1 / (prefill + 512 * step / 64) == pytest.approx(7.0, abs=0.1)
    assert "on a server that only decodes" in text_of("serving")


def test_the_worked_example_gains_what_the_figure_of_its_chapter_says() -> None:
    """1.28 and no 1.47: with the share of products of each chip, and r from the measured gain."""
    wide, narrow, newer, _, newest = budgets("formats")
    bar = wide.kinds["products"] / wide.seconds
    share = predict({**SMALL, **FORMATS["H100, bf16"]}).parts["products"] / wide.seconds
    assert share < bar < share + 0.06  # the head is in the bar and stays in bf16
    ratio = share / (6667 / 8532 - 1 + share - 0.03)
    assert 1.7 < ratio < 1.8
    assert wide.seconds / narrow.seconds == pytest.approx(8532 / 6667, abs=0.03)
    assert newer.kinds["products"] / newer.seconds < bar - 0.05
    assert newer.seconds / newest.seconds < 1.4
    text = text_of("low-precision")
    assert 'share8 = planned.part("products") /' in text
    assert 'share4 = newer.part("products") /' in text


@pytest.mark.parametrize("rate", [2.0, 1.7])
def test_the_share_of_narrow_matmuls_grows_as_their_rate_falls(rate: float) -> None:
    """So 2.8 is the limit at twice the rate, and no upper bound."""
    won = 1.48
    share = (1 - 1 / won) / (1 - 1 / rate)
    assert 1 / (1 - share) >= 1 / (1 - (1 - 1 / won) / 0.5) - 1e-9
    assert "their share was larger, and the factor would be larger too" in text_of("low-precision")


@pytest.mark.parametrize(("size", "share"), [(16, 40), (32, 28), (64, 17)])
def test_fewer_large_blocks_of_normal_numbers_saturate(size: int, share: int) -> None:
    """The numbers of the listing, with a scale of 2^floor(log2(max / 4)) and an end at 6."""
    values = np.random.default_rng(0).normal(size=32 * 256)
    largest = np.abs(values).reshape(-1, size).max(axis=1)
    cut = largest / 2.0 ** np.floor(np.log2(largest / 4)) > 6
    assert round(100 * cut.mean()) == share
    assert f'{{{{ {share} | unit("1") }}}} percent' in text_of("low-precision")
