"""A step that is laid out for nobody runs on all its chips, on most of them, or is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.prediction.asking import predict
from flopbook.prediction.idle_chips import on_fewer_chips
from flopbook.prediction.layouts import RunLayout


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["llama-3-8b", "mixtral-8x7b", "gpt-oss-20b"]),
    st.integers(1, 300),
    st.integers(1, 300),
)
def test_what_is_predicted_can_run(model: str, chips: int, batch: int) -> None:
    """Degrees make the chips that run, and every replica has as many whole micro-batches."""
    options = {"model": model, "chip": "h200-sxm", "chips": f"{chips}", "batch": f"{batch}"}
    try:
        prediction = predict(options)
    except FlopbookError as error:
        assert str(error).startswith("no layout of ") and "chips" in str(error)
        return
    run = prediction.run
    assert run.chips + prediction.idle == chips and prediction.idle < max(chips / 2, 1)
    assert run.tp * run.pp * run.cp * run.dp == run.chips
    assert run.micro_batch * run.micro_batches * run.dp == batch
    assert run.micro_batches % 1 == 0 and prediction.memory is not None
    assert set(prediction.record()) >= ({"idle_chips"} if prediction.idle else set())


def test_the_fastest_of_the_fullest_is_taken() -> None:
    """Of three numbers that work the largest, 90, is slower than the next."""
    base = predict({"model": "llama-3-8b", "chip": "h200-sxm", "chips": "8"}).run
    works = {90: 3.0, 84: 2.0, 80: 2.5, 60: 1.0}

    def search(chips: int) -> RunLayout | None:
        return base._replace(chips=float(chips)) if chips in works else None

    found = on_fewer_chips(search, 100, lambda run: works[int(run.chips)])
    assert found is not None and found.chips == 84
    assert on_fewer_chips(lambda chips: None, 100, lambda run: math.inf) is None
    assert on_fewer_chips(search, 90 * 2 + 2, lambda run: 0.0) is None  # more than half run


def test_a_refusal_names_chips_that_would_do() -> None:
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "7", "batch": "8"}
    with pytest.raises(FlopbookError, match=r"8 sequences on 7 chips .*; use 20 chips"):
        predict(options)
    assert predict({**options, "chips": "20"}).memory
