"""Measured against predicted: the table has every kind, the picture every run with its source."""

from __future__ import annotations

import html
import re

import pytest

from flopbook.data.library import references
from flopbook.data.measured_runs import run_files
from flopbook.prediction.bands import band_of
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import error_sizes, summary_of
from scripts.website.figures import figure_of, predicted_runs
from scripts.website.pages.peers import OURS, PEERS, peers
from scripts.website.pages.predicted import (
    CHECK,
    FIT,
    PredictedProse,
    sound_lines,
    validated,
)
from scripts.website.pages.prediction_checks import covering_factor
from scripts.website.pages.prose import render
from scripts.website.pages.reached import KINDS

PROSE = PredictedProse()


def test_the_table_has_a_line_for_every_kind() -> None:
    text = PROSE.table()
    assert [name for name in KINDS.values() if f'<th scope="row">{name}</th>' not in text] == []
    assert text.count("<tr>") == len(MODELS) + 1


def test_rows_are_those_that_nobody_doubts() -> None:
    for use in (FIT, CHECK):
        for line in sound_lines("training_throughput", use):
            row = line.case.row
            assert row.use == use and row.complete and not row.flags


def test_counts_and_errors_of_prose_are_those_of_the_rows() -> None:
    lines = [line for kind in MODELS for line in sound_lines(kind, CHECK)]
    assert PROSE.rows() == f"{len(lines):,}"
    fitted = summary_of(sound_lines("matmul_peak", FIT))
    assert PROSE.median("matmul_peak", FIT) == f"{100 * fitted['median']:.0f} %"
    assert PROSE.covered("matmul_peak", FIT) == f"{100 * fitted['coverage']:.0f} %"
    assert PROSE.promised() == "80 %"
    assert float(PROSE.of_rows("korthikanti22-t5").rstrip(" %")) < 3.65


def test_every_point_is_a_run_and_leads_to_its_source() -> None:
    drawn = html.unescape("".join(predicted_runs.figure().parts))
    lines = predicted_runs.points()
    ids = re.findall(r"\(([^()]+)\)</title>", drawn)
    assert ids == [line.case.row.id for line in lines] and len(ids) == len(set(ids))
    addresses = re.findall(r'<a href="([^"]+)"', drawn)
    known = {reference.link for reference in references().values()}
    linked = [line for line in lines if line.case.row.publication != "flopbook-measure"]
    assert len(addresses) == len(linked) and set(addresses) <= known


def test_no_point_lies_outside_the_picture() -> None:
    figure = predicted_runs.figure()
    places = re.findall(r"translate\(([\d.]+) ([\d.]+)\) scale", "".join(figure.parts))
    assert places
    assert all(0 < float(x) < figure.width and 0 < float(y) < figure.height for x, y in places)


def test_the_title_says_what_the_runs_say() -> None:
    other = summary_of(sound_lines("training_throughput", CHECK))
    assert f"{100 * other['median']:.0f} %" in predicted_runs.figure().title


def test_the_page_tells_where_predictions_end() -> None:
    text = render(
        '{{ predicted.rows() }} {{ (100 * stated("charon-error")) | unit("1") }}',
        "measured.md",
        "page.md",
    )
    assert PROSE.rows() in text and "5.35" in text


def test_others_stand_beside_ours_with_their_sources() -> None:
    text = peers("measured.md")
    assert text.count("<tr>") == len(PEERS) + len(OURS) + 1
    assert {one.source for one in PEERS} <= set(references())
    for said in ("3.65 %", "under 5.35 %", "8.87 %", ">43<"):
        assert said in text


def test_ours_are_errors_on_sources_that_were_left_out() -> None:
    """Of the sound rows of the fit; larger than the residuals of the fit itself."""
    for kind in OURS:
        known = fitted_kinds()[kind]
        ids = [line.case.row.id for line in sound_lines(kind, FIT)]
        left_out = error_sizes([known.left_out[name] for name in ids])
        fitted = error_sizes([known.residuals[name] for name in ids])
        assert left_out["n"] == fitted["n"] > 50 and left_out["median"] > fitted["median"]


@pytest.mark.parametrize("kind", MODELS)
def test_nothing_of_a_kind_is_lost(kind: str) -> None:
    """Every row on file is compared or refused."""
    rows = [row for file in run_files().values() for row in file.rows if row.kind == kind]
    found = validated()
    compared = [line for line in found.lines if line.case.row.kind == kind]
    refused = [one for one in found.refused if one[1] == kind]
    assert len(compared) + len(refused) == len(rows)


def test_the_picture_of_the_chapter_says_how_many_runs_a_band_holds() -> None:
    """The shares within the band, and the factor that holds four fifths of the later runs."""
    drawn = figure_of("predicted-spread")
    band = band_of(fitted_kinds()["training_throughput"], "throughput")
    for use in (FIT, CHECK):
        ratios = [1 + line.error for line in sound_lines("training_throughput", use)]
        inside = sum(1 / band <= ratio <= band for ratio in ratios) / len(ratios)
        assert f"{100 * inside:.0f} % of " in drawn.title
    assert f"would have to be {covering_factor():.2f}" in drawn.caption
    assert len("".join(drawn.parts)) < 30_000
