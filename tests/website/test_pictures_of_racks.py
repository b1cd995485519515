"""Pictures of the chapter on racks: what they say beside their shapes is what was computed."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.reached import reached_runs
from scripts.website.figures import (
    domain_copies,
    domain_decode,
    domain_pace,
    measured_pairs,
    rack_trays,
    token_degree,
)
from scripts.website.figures.narrow import narrow_sheet
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

MODEL, CHIP, CARD = "deepseek-v3", "nvidia/gb200-gpu", 50e9


def test_copies_are_bytes_and_orange_with_an_edge_where_they_are_pale() -> None:
    parts = domain_copies.figure().parts
    assert not any("fb-c8" in part for part in parts)
    pale = [number for number, part in enumerate(parts) if '"fb-c1"' in part and "rank" in part]
    assert len(pale) == 9 and all("fb-hollow" in parts[number + 1] for number in pale)


def test_nodes_that_overlap_take_the_longer_of_work_and_exchange() -> None:
    """3.5 of 8 copies leave, at an eighteenth of the rate; weights are read by both halves."""
    options = {"model": MODEL, "chip": CHIP, "dtype": "fp8", "tp": 1, "seq": 4096}
    wide = calculate("decode", **options, dp=64, ep=64, batch=64 * 64)
    port = chip(CHIP).scaleup_bandwidth()
    sent = wide["message_seconds"] * 64 / 63 * 3.5 / 8 * port / CARD
    expected = max(wide["seconds"] + wide["weight_seconds"], sent)
    found = domain_decode.step(MODEL, CHIP, 64, 64, 4096, CARD)
    assert domain_decode.overlapped(found, MODEL, CHIP, CARD) == pytest.approx(expected)
    drawn = domain_decode.figure()
    one_domain = float(wide["seconds"] + wide["message_seconds"])
    assert f"{expected / one_domain:.1f} times if these overlap" in drawn.title
    text = "".join(drawn.parts)
    assert f"overlapped, {1e3 * expected:.2g} ms" in text
    assert f"one domain, {1e3 * one_domain:.2g} ms" in text


@READS_THE_HANDBOOK
def test_the_point_of_nodes_that_overlap_is_the_last_row_of_the_table() -> None:
    found = domain_decode.step(MODEL, CHIP, 64, 64, 4096, CARD)
    best = 1e3 * domain_decode.overlapped(found, MODEL, CHIP, CARD)
    lines = rendered("handbook/racks.md").splitlines()
    (row,) = (line for line in lines if line.startswith("| the same, in two halves"))
    cell = re.sub(r"<[^>]+>", "", row).split("|")[-2]
    assert cell.replace("\xa0", " ").strip() == f"{best:.2g} ms"


def test_a_line_of_a_token_says_whose_all_reduce_it_has() -> None:
    text = "".join(token_degree.figure().parts)
    assert "NCCL on H100, " in text and "SGLang, " in text
    assert not re.search(r">[\d.]+ µs<", text)


@pytest.mark.parametrize("pair", measured_pairs.KINDS["racks"].pairs, ids=lambda one: one.name)
def test_a_pair_says_the_degrees_of_its_rows(pair: measured_pairs.RunPair) -> None:
    rows = {run.row.id: run.row for run in reached_runs()}
    nodes, racks = (rows[name].parallelism["ep"] for name in (pair.first, pair.second))
    said = f"EP {nodes} on both" if nodes == racks else f"EP {nodes} to EP {racks}"
    assert pair.layouts == said


@pytest.mark.parametrize("kind", measured_pairs.KINDS)
@pytest.mark.parametrize("is_narrow", [False, True])
def test_no_dashed_line_runs_through_a_ratio(kind: str, is_narrow: bool) -> None:
    drawn = measured_pairs.figure(kind)
    assert drawn.narrow
    text = "".join(drawn.narrow.parts if is_narrow else drawn.parts)
    (bound,) = set(re.findall(r'fb-dashed"[^>]*points="([\d.]+),', text))
    starts = re.findall(r'<text class="fb-strong" x="([\d.]+)"[^>]*>\d\.\d\d<', text)
    assert len(starts) == len(measured_pairs.KINDS[kind].pairs)
    assert all(not 0 < float(bound) - float(start) < 26 for start in starts)


def test_points_of_one_load_are_joined_and_say_the_gain() -> None:
    drawn = domain_pace.figure()
    (plot,) = drawn.plots
    joined = [series for series in plot.series if series.name == "the same load"]
    assert len(joined) == len(domain_pace.LOADS)
    for number, series in enumerate(joined):
        (few, _), (many, _) = series.points
        assert many / few == pytest.approx(domain_pace.gain(number))
        assert any(f"{many / few:.1f} times" in part for part in drawn.parts)
    labels = {text for _, text in plot.labels}
    assert {f"{load} on a chip" for load in domain_pace.LOADS} <= labels
    assert narrow_sheet(drawn)


def test_a_rack_is_drawn_with_all_its_gpus_on_any_screen() -> None:
    drawn = rack_trays.figure()
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert text.count('class="fb-c0"') == 72
        assert text.count('class="fb-c4"') == 9
    assert "the other 71" in drawn.title
    assert 'figure("rack-trays")' in text_of("racks")


def test_the_project_points_at_the_picture_of_steps() -> None:
    """The first picture shows copies; the curves over ranks are the second."""
    text = text_of("racks")
    pictures = re.findall(r'figure\("([a-z-]+)"', text)
    assert pictures[1] == "domain-decode"
    assert "as the second picture has them" in text
