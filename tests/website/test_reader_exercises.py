"""Worked numbers and exercises that readers asked for, computed anew from what they print."""

from __future__ import annotations

import math

import pytest

from tests.website.test_exercise_answers import H100, NVLINK, agrees, numbers_of
from tests.website.test_handbook_errors import text_of


def test_states_on_drives_hide_behind_as_many_tokens_on_each_gpu() -> None:
    shown = numbers_of("overlap-and-offloading", "Adam's states")
    moved, drives = 24 * 8e9, 14e9
    for value in (moved, moved / drives, 4 * H100 / drives, 8 * 4 * H100 / drives):
        assert agrees(value, shown), value


def test_a_promise_for_more_requests_leaves_a_server_less_busy() -> None:
    shown = numbers_of("serving", "Prompts take 50")
    rates = [(1 - 0.05 * math.log(odds) / 0.6) / 0.05 for odds in (100, 20)]
    assert all(agrees(rate, shown) for rate in rates) and rates[0] < rates[1]


def test_eight_parts_of_a_gather_gain_less_than_four() -> None:
    gather = 7 / 8 * 2 * 4096 * 8192 / NVLINK
    product = 4 * 4096 * 8192 * 28_672 / 8 / H100
    for parts in (4, 8):  # the own eighth, and the other seven in three parts or in seven
        assert product / 8 > gather / (parts - 1)
    gains = [(gather + product) / (product + parts * 10e-6) - 1 for parts in (4, 8)]
    assert gains == pytest.approx([0.17, 0.09], abs=0.005)
    assert "they are too many here although the ring has eight" in text_of("overlap-and-offloading")
