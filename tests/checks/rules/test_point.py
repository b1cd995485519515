"""Peaks that are shown together belong to one operating point and product version."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import point
from flopbook.data.library import load_entry
from flopbook.errors import DataError
from flopbook.hardware.chip import chip
from flopbook.hardware.choice import choose_peak
from tests.support.samples import NEEDED, World, assert_clean, claim

ALL_TILES = {"point": "all 40 tiles"}
PEAK = claim(value=100)
MORE = claim(value=106)


def found(world: World, *peaks: dict[str, Any]) -> list[str]:
    world.entry("one", *(claim(name) for name in NEEDED if name != "peak"), *peaks)
    problems = [problem for problem in checker.lint() if problem.rule == point.NAME]
    if problems:
        assert_clean(DataError(problems))
    return [problem.found for problem in problems]


@pytest.mark.parametrize("changes", [{}, {"conflicts_with": "100 TFLOP/s of the abstract"}])
def test_two_rates_of_one_source_are_of_two_points(world: World, changes: dict[str, str]) -> None:
    """The paper on the Maia 200 has 5,072 TFLOP/s in its abstract and 4,785 in its benchmarks."""
    (words,) = found(world, PEAK, {**MORE, **changes})
    assert words.startswith("two rates of acme2026one: 106 TFLOP/s here, 100 TFLOP/s in line ")


@pytest.mark.parametrize(
    "changes",
    [
        ALL_TILES,
        {"at_power_w": 900},
        {"at_clock_mhz": 1900},
        {"accumulate": "fp16"},
        {"value": 101},
        {"dtype": "fp16"},
        {"sparsity": "unstated"},
        {"known_error": True, "note": "A slip of the table."},
    ],
)
def test_what_is_told_apart_is_fine(world: World, changes: dict[str, Any]) -> None:
    assert found(world, PEAK, {**MORE, **changes}) == []


def test_a_rate_in_step_with_that_of_another_point_is_of_that_point(world: World) -> None:
    """The paper on the Maia 200 has FP4 in its abstract alone: twice the FP8 rate there."""
    pointed = {**MORE, **ALL_TILES}
    (words,) = found(world, PEAK, pointed, claim(dtype="fp8", value=212))
    assert words.startswith("212 TFLOP/s here, in step with 106 TFLOP/s at all 40 tiles in line ")


@pytest.mark.parametrize(
    "narrow",
    [
        {"value": 200},
        {"value": 212, **ALL_TILES},
        {"value": 212, "source": "acme2026two"},
        {"value": 212, "sparsity": "unstated"},
        {"value": 212, "at_power_w": 900},
        {"value": 290},
    ],
)
def test_a_rate_of_the_usual_point_or_of_none_is_fine(world: World, narrow: dict[str, Any]) -> None:
    assert found(world, PEAK, {**MORE, **ALL_TILES}, claim(dtype="fp8", **narrow)) == []


def test_without_a_usual_rate_nothing_says_which_point_is_meant(world: World) -> None:
    assert found(world, {**MORE, **ALL_TILES}, claim(dtype="fp8", value=212)) == []


def test_the_usual_point_goes_first_and_another_says_so(world: World) -> None:
    narrow = claim(dtype="fp8", value=212, **ALL_TILES)
    world.entry("one", {**MORE, **ALL_TILES}, PEAK, narrow)
    usual = chip("acme/one")
    assert usual.pick_peak("bf16").value == 100e12 and not usual.pick_peak("bf16").notes
    only = usual.pick_peak("fp8")
    assert only.value == 212e12
    assert only.notes == ("this fp8 peak is of another operating point: all 40 tiles",)


def test_the_peaks_of_the_maia_200_are_those_of_its_benchmarks() -> None:
    """xu2026maia, benchmark section: 1,180 TFLOP/s in BF16 and 4,785 in FP8 with 36 tiles."""
    claims = load_entry("microsoft/maia-200").claims
    shown = {dtype: choose_peak(claims, dtype) for dtype in ("bf16", "fp8")}
    values = {dtype: peak.value for dtype, peak in shown.items() if peak}
    assert values == {"bf16": 1180, "fp8": 4785}
    assert chip("microsoft/maia-200").pick_peak("fp4").claim.point == "more than 36 active tiles"


def test_the_rates_of_the_950dt_do_not_mix_its_bins() -> None:
    """1 and 2 PFLOP/s of the roadmap are its largest bin, rounded, with the vector engines."""
    shown = chip("huawei/ascend-950dt")
    for dtype in ("bf16", "fp16", "mxfp8", "mxfp4"):
        assert not shown.pick_peak(dtype).claim.point
    assert shown.pick_peak("fp8").claim.point and shown.pick_peak("fp4").claim.point
