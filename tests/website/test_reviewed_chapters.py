"""Statements that a review of seven chapters found wrong, from batches to inference.

Each was wrong once, beside what is right; `test_handbook_errors` holds those of before.
"""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from scripts.website.figures.batch_window import run_time
from scripts.website.figures.exchange_reach import RACK, exchange
from scripts.website.pages.explorer import items
from scripts.website.pages.landscape import new_formats
from scripts.website.pages.prediction_prose import PredictionProse
from tests.website.test_handbook_errors import text_of


@pytest.mark.parametrize(("share", "level"), [(1 / 8, 9 / 8), (1, 2)])
def test_a_run_takes_an_eighth_longer_at_an_eighth_of_the_critical_batch(
    share: float, level: float
) -> None:
    """On given chips a step is proportional to B and the steps to 1 + B_c / B."""
    assert run_time(64 * share, 1e-3) / run_time(1e-3, 1e-3) == pytest.approx(level, rel=1e-4)
    assert "at $B_c$ itself it is twice the level" in text_of("batch")


def test_the_band_of_a_complete_run_holds_about_half_of_the_later_runs() -> None:
    """The share within the printed factor is told beside that of the wider bands."""
    assert 40 < float(PredictionProse().inside()) < 65
    assert "{{ prediction.inside() }} percent lie within that factor" in text_of("prediction")


def test_busy_time_of_a_rank_without_a_head_is_its_own_kernels() -> None:
    """TP sums, sends and the wait for the last stage leave the compute stream empty."""
    assert 'ran.part("products", "attention", "elementwise", "optimizer")' in text_of("profiling")


def test_an_all_to_all_takes_nine_times_as_long_at_twice_the_domain() -> None:
    """Half of it then leaves through cards; 17 times needs a hundred domains."""
    within = exchange(RACK, 72)
    assert exchange(RACK, 144) / within == pytest.approx(8.7, abs=0.1)
    assert exchange(RACK, 8064) / within == pytest.approx(17.2, abs=0.1)
    assert "At twice the domain half of the exchange leaves" in text_of("networks")


@pytest.mark.parametrize("query", [4, 8, 16])
def test_with_one_kv_head_on_a_rank_the_ring_moves_least(query: int) -> None:
    """TP 8 of Llama 3 405B leaves 16 query heads and one KV head."""
    for ranks in range(2, query + 1):
        exchange_units = 2 * query * (ranks - 1) / ranks + 2 * (ranks - 1)
        assert exchange_units > 2 * (ranks - 1)
    assert "on no number of ranks does it move less" in text_of("context-parallelism")


def test_ironwood_is_the_first_tpu_with_fp8() -> None:
    """By its engineers; v6e prints the rate of bf16 for it."""
    formats = {row.family: set(row.formats) for row in new_formats(items(), "google")}
    assert "fp8" not in formats.get("TPU v6", set()) and "fp8" in formats["TPU v7"]


def test_beyond_the_kv_heads_a_rank_reads_a_whole_head_of_the_cache() -> None:
    """Sixteen ranks of a model with 8 KV heads read as much cache each as eight."""
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "batch": 1, "seq": 8192}
    eight, sixteen = (calculate("decode", **options, tp=degree) for degree in (8, 16))
    assert sixteen["kv_seconds"] == eight["kv_seconds"]
    assert "the cache is divided by eight only" in text_of("inference")


def test_three_drafted_tokens_beat_two_and_six() -> None:
    """At an acceptance of 0.6 and a tenth of a pass for each."""
    gains = {
        count: calculate("speculative-decoding", acceptance=0.6, draft_tokens=count, draft_time=0.1)
        for count in (2, 3, 4, 6)
    }
    assert max(gains, key=lambda count: gains[count]["speedup"]) == 3
    assert "Three. Two give" in text_of("inference")


def test_drafts_for_one_user_of_a_mixture_gain_a_twentieth() -> None:
    """Six tokens of DeepSeek-V3 read 44 routed experts for 8, in 20.4 of 37 billion parameters."""
    routed = 58 * 3 * 8 * 7168 * 2048
    read = 256 / 8 * (1 - (1 - 8 / 256) ** 6)
    tokens = (1 - 0.8**6) / 0.2
    assert tokens / (1 + (read - 1) * routed / 37e9) == pytest.approx(1.05, abs=0.01)
    assert 'spec["tokens_per_step"] / spread' in text_of("inference")
