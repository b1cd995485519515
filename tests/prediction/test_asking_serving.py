"""Serving as people ask for it: times, throughput, memory and cost of a batch or of full load."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.prediction.asking_serving import ServingPrediction, predict_serving
from flopbook.prediction.bands import Adjustment
from flopbook.prediction.calibration import Calibration
from tests.support.commands import without_numpy

ASKED = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "1", "seq": "1024", "answer": "512"}


def asked(**changes: str | None) -> ServingPrediction:
    return predict_serving({**ASKED, **changes})


@given(st.sampled_from([1, 4, 16, 64]))
def test_throughput_is_the_batch_over_the_time_of_its_answers(batch: int) -> None:
    """A static batch: all prompts, then a step for each token with the scheduling of each."""
    found = asked(batch=str(batch))
    least = batch * 512 / (found.first_token.value + 512 * found.token.value)
    assert 0.7 * least < found.throughput.value < least
    for one in (found.first_token, found.token, found.throughput):
        assert one.low < one.value < one.high


def test_a_step_is_no_faster_than_the_memory_allows() -> None:
    bound = calculate("decode", model="llama-3-8b", chip="h100-sxm", batch=8, seq=1280)["seconds"]
    assert asked(batch="8").token.value > bound


def test_more_sequences_give_more_tokens_and_longer_steps() -> None:
    few, many = asked(batch="4"), asked(batch="64")
    assert many.throughput.value > few.throughput.value
    assert many.token.value > few.token.value and many.bytes > few.bytes


def test_memory_is_weights_and_cache() -> None:
    found = asked(batch="16")
    cache = calculate("kv-cache", model="llama-3-8b", seq=1536, batch=16)["bytes"]
    assert found.bytes == pytest.approx(8.03e9 * 2 + cache, rel=5e-3)
    assert found.fits
    large = predict_serving({**ASKED, "model": "llama-3-70b", "batch": "1"})
    assert not large.fits and large.record()["prediction"]["fits"] is False


def test_full_load_fills_the_memory() -> None:
    loaded = asked()
    assert loaded.batch > 50 and loaded.fits
    assert loaded.throughput.value > asked(batch="8").throughput.value
    # Prompts are read as they come, not all at once.
    assert loaded.first_token.value == asked(batch="1").first_token.value


def test_a_price_makes_the_cost_of_a_million_tokens() -> None:
    found = asked(batch="8", price="3.6USD/h")
    assert found.cost_per_million == pytest.approx(1e-3 / found.throughput.value * 1e6)
    assert asked(batch="8").cost_per_million is None


def test_calibration_shortens_times_where_it_raises_rates() -> None:
    faster = Calibration("inference", 3, 1.25, 1.1, 0.2, 0.05, Adjustment(1.25, 1.1))
    plain, moved = asked(batch="8"), predict_serving({**ASKED, "batch": "8"}, faster)
    assert moved.throughput.value == pytest.approx(1.25 * plain.throughput.value)
    assert moved.token.value == pytest.approx(plain.token.value / 1.25)
    assert moved.token.high / moved.token.value == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "--model is missing"),
        ({"batch": "0"}, "--batch is 0"),
        ({"chips": "8", "tp": "3"}, "--tp 3 does not divide 8 chips"),
        ({"chips": "3"}, "--tp 3 does not divide 32 attention heads; use 2 or 4"),
        ({"dtype": "fp3"}, "--dtype is 'fp3'"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, str | None], said: str) -> None:
    with pytest.raises(FlopbookError, match=said):
        asked(**change)


def test_an_unknown_stack_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="vllm"):
        asked(stack="vlm")
    assert "software stack" in asked().inferred and asked(stack="vllm@0.9").inferred == ()


def test_the_command_prints_what_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", *(f"--{name}={value}" for name, value in ASKED.items()), "--batch=8"]
    assert run([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == asked(batch="8").record()
    assert record["similar_runs"] and all(one["source"] for one in record["similar_runs"])
    assert record["similar_count"] > len(record["similar_runs"])
    assert run(words) == 0
    text = capsys.readouterr().out
    assert "first token" in text and "80 % band" in text and "fits into 80 GB" in text


@pytest.mark.parametrize("batch", [None, "8"])
def test_one_prediction_does_without_numpy(batch: str | None) -> None:
    """To load it takes as long as the answer; only reading the runs on file, once, needs it."""
    given_ones = {**ASKED, "batch": batch} if batch else ASKED
    done = without_numpy("predict", given_ones)
    assert done.returncode == 0 and b"first token" in done.stdout
