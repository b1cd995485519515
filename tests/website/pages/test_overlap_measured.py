"""Measured pairs with and without overlap: within the bound, and told as they are."""

from __future__ import annotations

import pytest

from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import percent
from scripts.website.figures.overlap_measured import BOUND, figure, pairs


def test_no_pair_beats_the_bound() -> None:
    assert all(0 < pair.ratio < BOUND for pair in pairs())
    assert [pair.ratio for pair in pairs()] == sorted(pair.ratio for pair in pairs())


def test_narrow_products_gain_more_from_the_same_messages() -> None:
    """70B: 8 percent of a step in bf16 and 14 in fp8, nearly the same time for a token."""
    rates = {name: float(ledger_row(f"titan-70b-{name}").stated.si_value or 0) for name in RUNS}
    wide = 1 / rates["vanilla"] - 1 / rates["async"]
    narrow = 1 / rates["float8-vanilla"] - 1 / rates["float8-async"]
    assert wide * rates["vanilla"] == pytest.approx(0.084, abs=0.001)
    assert narrow * rates["float8-vanilla"] == pytest.approx(0.141, abs=0.001)
    assert narrow == pytest.approx(wide, rel=0.3)


RUNS = ("vanilla", "async", "float8-vanilla", "float8-async")


def test_the_words_are_those_of_the_bars() -> None:
    drawn = figure()
    found = pairs()
    assert f"lost {percent(1 - found[0].ratio)}" in drawn.title
    assert f"to {percent(found[-1].ratio - 1)}" in drawn.title
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert text.count("<rect") == len(found)
        assert all(f">{pair.name}<" in text for pair in found)


def test_a_stated_half_is_rounded_up() -> None:
    assert "1.26" in [pair.printed for pair in pairs()]


def test_halves_pay_once_the_exchange_is_longer_than_a_reading() -> None:
    """The exercise: 12 ms of reading, 0.1 ms of work and 0.12 ms of exchange for a sequence."""

    def gain(sequences: int) -> float:
        turn = 12 + 0.22 * sequences
        return turn / max(24 + 0.1 * sequences, 0.12 * sequences)

    assert gain(32) == pytest.approx(0.70, abs=0.005)
    assert gain(256) == pytest.approx(1.38, abs=0.005)
    assert gain(100) == pytest.approx(1)
