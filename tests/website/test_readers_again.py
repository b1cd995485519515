"""What an independent reader found in eight chapters, each computed anew beside what is right."""

from __future__ import annotations

import math

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.degree_measured import steps
from scripts.website.figures.tensor_degree import DEGREES
from scripts.website.figures.tensor_degree import figure as tensor_degrees
from scripts.website.figures.what_moves import moved
from scripts.website.pages.prediction_prose import PredictionProse
from scripts.website.pages.published import published
from tests.website.test_handbook_errors import text_of


def test_a_copied_shard_costs_the_same_share_at_any_number_of_chips() -> None:
    """Its time falls with the chips just as the time between failures does."""
    options = {"chip_mtbf": "6year", "restart": 0}
    lost = [
        calculate("reliability", **options, chips=chips, save=400 / chips)["lost"]
        for chips in (1000, 4000, 16000)
    ]
    assert max(lost) == pytest.approx(min(lost), rel=1e-6)
    stored = [calculate("reliability", **options, chips=n, save=2)["lost"] for n in (1000, 4000)]
    assert stored[1] / stored[0] == pytest.approx(2, rel=1e-6)


def test_reading_a_checkpoint_128_times_takes_five_minutes() -> None:
    once = 12 * 405.85e9 / 2e12
    assert round(once, 1) == 2.4 and round(128 * once / 60, 1) == 5.2
    assert "replicas. If each reads all" in text_of("reliability-and-energy")


def test_a_tuned_engine_has_room_for_a_quarter_of_the_chunk_of_the_bounds() -> None:
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    read = calculate("prefill", **options, seq=4096)
    step = calculate("serving", **options, seq=4352, batch=64)
    bound = (30e-3 - step["seconds"]) / (2 * 70.55e9 / (8 * chip("h100-sxm").peak("bf16")))
    expected = (30e-3 - step["likely_seconds"]) / (read["likely_seconds"] / 4096)
    assert expected / bound < 0.25


def test_attention_of_394_sequences_is_longer_than_reading_their_caches() -> None:
    """So the last line of the table of wide expert parallelism gains less."""
    h200 = chip("h200-sxm")
    narrow = {"model": "deepseek-v3", "chip": "h200-sxm", "seq": 8192, "dtype": "fp8"}
    wide = calculate("serving", **narrow, ep=64, dp=64)
    each = wide["batch_fits"] / 64
    products = 2 * (576 + 512) * 128 * 61 * 8192 * each / h200.peak("fp8")
    reading = 576 * 61 * 8192 * each / h200.memory_bandwidth()
    assert each == 394 and products == pytest.approx(27.7e-3, rel=0.01) and reading < products
    assert "so many sequences it is bound by arithmetic" in text_of("serving")


def test_one_request_in_a_hundred_waits_for_more_than_four_means() -> None:
    assert math.log(100) == pytest.approx(4.605, abs=1e-3)
    allowed = (1 - 0.05 * math.log(100) / 0.6) / 0.05
    assert allowed == pytest.approx(12.3, abs=0.05)


def test_a_whole_layer_allows_less_tensor_parallelism_than_its_widest_block() -> None:
    """One more than 11.9 with the factor 1 - 1/Y, where the feed-forward block allows 19."""
    feed_forward, width, keys = 28_672, 8192, 1024
    ratio = chip("h100-sxm").scaleup_bandwidth() / chip("h100-sxm").peak("bf16")
    whole = (6 * feed_forward + 4 * width + 4 * keys) / 8 * ratio
    assert whole == pytest.approx(11.9, abs=0.05)
    # At TP 8 traffic takes 59 percent of the matmuls: the worked example of the chapter.
    assert 7 / whole == pytest.approx(0.59, abs=0.005)
    assert "they mean that of the block" in text_of("tensor-parallelism")


def test_every_degree_of_the_picture_has_its_tick() -> None:
    drawn = "".join(tensor_degrees().parts)
    assert all(f">{degree}<" in drawn for degree in DEGREES)


def test_the_measured_degrees_stand_in_a_table() -> None:
    rows = {row.id: row for row in run_files()["vtrain-multi"].rows}
    text = text_of("tensor-parallelism")
    for degree, seconds in steps().items():
        named = [name for name in rows if f'({degree}, prediction.row("{name}"))' in text]
        assert [rows[name].measured["step_time_s"] for name in named] == [seconds]


def test_attention_without_its_mask_adds_a_seventh_for_a_70b() -> None:
    counted = calculate("params", model="llama-3-70b")["compute"]
    added = 12 * 80 * 8192 * 8192 / (6 * counted)
    assert added == pytest.approx(0.154, abs=0.002)
    assert "Ask what an MFU counts" in text_of("why-compute")


def test_the_two_bars_of_what_moves_are_those_of_the_text() -> None:
    tokens, width, layers = 65_536, 8192, 80
    assert moved("tp") == 10 * 7 / 8 * layers * tokens * width * 2
    assert moved("pp") == 2 * tokens * width * 2
    assert "five exchanges for each of two blocks" in text_of("choosing-a-configuration")


def test_a_rack_serves_no_more_per_gpu_than_eight_of_its_gpus() -> None:
    """At full load, by two submitters to MLPerf 6.1 in two scenarios."""
    for who in ("nvidia", "oracle"):
        start = f"mlperf61-{who}-gb300-nvl72-gb300-288gb-aarch64x"
        for scenario in ("offline", "server"):
            eight, rack = (published(f"{start}{n}-trt-dsr1-{scenario}") for n in (8, 72))
            assert (eight.chips, rack.chips) == (8, 72)
            assert 0.95 < rack.each / eight.each < 1
    assert "The rack gains nothing" in text_of("racks")


def test_51_users_visit_four_experts_in_five() -> None:
    visited = 1 - (1 - 8 / 256) ** 51
    each = 51 * 8 / 256 / visited
    assert visited == pytest.approx(0.80, abs=0.005) and each == pytest.approx(2, abs=0.02)


def test_the_later_runs_ask_for_a_wider_factor_than_the_band_has() -> None:
    told = PredictionProse()
    assert told.covering() > 1 and float(told.inside()) <= 100
    if float(told.inside()) < 80:
        assert told.covering() > told.band()
    assert float(told.later()) < float(told.constant(0.4)) < float(told.constant(0.4, 0.9))
    assert 0 < int(told.moved()) < int(told.count())
