"""Networks by name or rate: nearest names for a slip, and no faster step on a slower card."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.prediction.asking import predict
from flopbook.prediction.networks import CARDS, NETWORK, card_rate

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "64",
    "seq": "8192",
    "batch": "64",
    "zero": "3",
    "micro_batch": "1",
    "stack": "torchtitan",
}


@given(st.sampled_from(sorted(CARDS)))
def test_a_name_is_a_rate_in_gigabits(name: str) -> None:
    assert card_rate(name) == card_rate(f"{CARDS[name]}Gb/s") == card_rate(f" {name.upper()} ")


def test_a_slower_card_makes_no_faster_step() -> None:
    seconds = [predict({**ASKED, "network": name}).seconds for name in ("ndr", "hdr", "edr")]
    assert seconds == sorted(seconds) and seconds[0] < seconds[-1]
    inside = {**ASKED, "chips": "8", "batch": "8"}
    alone = predict(inside)
    assert predict({**inside, "network": "edr"}).seconds == alone.seconds
    assert NETWORK not in alone.inferred


def test_a_network_that_nobody_named_is_inferred() -> None:
    assert NETWORK in predict(ASKED).inferred
    assert NETWORK not in predict({**ASKED, "network": "ndr"}).inferred


def test_a_plan_takes_it_too() -> None:
    asked = {**ASKED, "micro_batch": None, "network": "edr"}
    best = plan(question_of(asked), top=1).layouts[0]
    slower = plan(question_of({**asked, "network": "ndr"}), top=1).layouts[0]
    assert best.seconds > slower.seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nrd", "unknown network 'nrd'; nearest: ndr"),
        ("800gbe", "unknown network '800gbe'; nearest: 400gbe"),
        ("carrier pigeon", "unknown network 'carrier pigeon'"),
        ("3bananas", "--network is '3bananas': unknown unit"),
        ("0Gb/s", "--network is 0Gb/s, expected a rate"),
    ],
)
def test_other_words_are_refused(text: str, message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        card_rate(text)
    assert issubclass(UnknownName, FlopbookError)
