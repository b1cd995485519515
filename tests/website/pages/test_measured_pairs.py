"""Pairs of published runs: both exist, they differ in what is said, and bars say their ratio."""

from __future__ import annotations

import pytest

from flopbook.errors import UnknownName
from flopbook.hardware.chip import chip
from flopbook.prediction.reached import reached_runs
from scripts.website.figures.measured_pairs import KINDS, RunPair, figure

ROWS = {run.row.id: run.row for run in reached_runs()}
PAIRS = [pair for kind in KINDS.values() for pair in kind.pairs]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_is_one_model_on_as_many_chips(pair: RunPair) -> None:
    first, second = ROWS[pair.first], ROWS[pair.second]
    assert first.model["name"] == second.model["name"]
    assert first.hardware["n_chips"] == second.hardware["n_chips"]
    assert first.publication == second.publication
    assert f"{first.hardware['n_chips']} GPUs" in pair.name or ":" in pair.name


@pytest.mark.parametrize("pair", KINDS["racks"].pairs, ids=lambda pair: pair.name)
def test_racks_differ_in_the_machine_and_not_in_the_format(pair: RunPair) -> None:
    first, second = ROWS[pair.first], ROWS[pair.second]
    assert first.run["precision"] == second.run["precision"]
    assert first.run["software"] == second.run["software"]
    assert "GB200" not in first.hardware["chip"] and "GB200" in second.hardware["chip"]


@pytest.mark.parametrize("pair", KINDS["formats"].pairs, ids=lambda pair: pair.name)
def test_formats_differ_in_the_format_and_not_in_the_layout(pair: RunPair) -> None:
    first, second = ROWS[pair.first], ROWS[pair.second]
    assert first.run["precision"] != second.run["precision"]
    assert first.parallelism == second.parallelism
    assert first.hardware["chip"] == second.hardware["chip"]
    assert 1 < pair.ratio < 2, "the peak doubles, the step does not"


def test_the_control_gains_nothing_and_the_wide_exchange_does() -> None:
    control, *_, widest = KINDS["racks"].pairs
    assert control.ratio < 1.02 and widest.ratio > 1.4


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_are_those_of_the_bars(kind: str) -> None:
    drawn = figure(kind)
    ratios = [pair.ratio for pair in KINDS[kind].pairs]
    assert f"{min(ratios):.2f} to {max(ratios):.2f}" in drawn.title
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert text.count("<rect") == len(ratios)
        assert all(f">{ratio:.2f}<" in text for ratio in ratios)
        assert f"the peaks: {KINDS[kind].peaks():.3g}" in text


def test_the_line_of_the_peaks_is_that_of_every_pair() -> None:
    """fp8 over bf16 is two on H100, GB200 and GB300; so is NVFP4 over fp8 on GB200."""
    doubled = KINDS["formats"].peaks()
    assert doubled == pytest.approx(2)
    for name in ("nvidia/h100-sxm", "nvidia/gb300-gpu"):
        device = chip(name)
        assert device.peak("fp8") / device.peak("bf16") == pytest.approx(doubled, rel=0.01)
    rack = chip("nvidia/gb200-gpu")
    assert rack.peak("nvfp4") / rack.peak("fp8") == pytest.approx(doubled)
    assert 1 < KINDS["racks"].peaks() < 1.2


def test_other_pairs_do_not_exist() -> None:
    with pytest.raises(UnknownName):
        figure("clouds")
