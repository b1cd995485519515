"""What a narrow accumulator loses, as the picture of low precision draws it."""

from __future__ import annotations

import pytest

from scripts.website.figures.short_accumulator import (
    CHUNK,
    cut_off,
    figure,
    lost,
    rounded,
    sums,
    sums_in_chunks,
    terms,
)


def test_fourteen_digits_are_kept() -> None:
    assert cut_off(255 + 63 / 64) == 255 + 63 / 64
    assert cut_off(256 + 1 / 64) == 256, "above 256 the step is a thirty-second"
    assert rounded(4096 + 0.4) == 4096.5 and cut_off(4096 + 0.4) == 4096


def test_a_sum_loses_nothing_until_its_step_is_coarser_than_its_terms() -> None:
    added = terms()
    shares = lost(added, sums(added, cut_off))
    assert shares[CHUNK // 2] == 0 and 0 < shares[2 * CHUNK] < 0.002
    assert shares[-1] == pytest.approx(0.07, abs=0.003), "as exercise and listing say"


def test_chunks_and_rounding_lose_next_to_nothing() -> None:
    added = terms()
    assert abs(lost(added, sums_in_chunks(added, cut_off))[-1]) < 0.001
    assert abs(lost(added, sums(added, rounded))[-1]) < 0.005


def test_the_picture_says_what_was_lost() -> None:
    assert "loses 7 %" in figure().title
