"""The page of what people reach: every run once, each with its source, and its excerpts."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from flopbook.data.library import entry_ids, load_entry, model_ids, reference
from flopbook.data.measured_runs import run_files
from flopbook.hardware.chip import chip
from scripts.website.figures import bandwidth_share, figure_of, matmul_share, mfu_chips, mfu_years
from scripts.website.figures.drawing import Figure, svg
from scripts.website.markup import Sortable
from scripts.website.pages import data, reached, run_kinds
from scripts.website.pages.prose import render

FIGURES = ("mfu-years", "mfu-chips", "matmul-share", "bandwidth-share")
DOCS = Path(__file__).resolve().parents[3] / "docs"
ROWS = [row for file in run_files().values() for row in file.rows]


@functools.cache
def page(name: str) -> str:
    return render((DOCS / name).read_text(encoding="utf-8"), name, name)


def cells(markup: str) -> list[list[str]]:
    """The text of each cell of the table's body."""
    body = markup.partition('<table class="fb-sort fb-runs">')[2].partition("<tbody>")[2]
    lines = re.findall(r"<tr>(.*?)</tr>", body.partition("</tbody>")[0])
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in lines]


def all_cells() -> list[list[str]]:
    """The cells of all pages that have plain tables, one after the other."""
    return [line for name in run_kinds.PLAIN for line in cells(page(name))]


def test_every_run_has_a_row_with_a_link_to_its_source() -> None:
    lines = all_cells()
    assert len(lines) == len(ROWS)
    addresses = {html.escape(reference(source.source).link) for source in sources()}
    linked = [line for line, run in zip(lines, reached.shown_runs(), strict=True) if has_link(run)]
    for line in linked:
        assert len(line) == len(reached.HEAD)
        found = re.search(r'href="([^"]+)"', line[-1])
        assert found is not None and found[1] in addresses


def has_link(run: reached.Reached) -> bool:
    """Whether others published it; what we measured has a record in the repository."""
    work = reference(run.source.source)
    assert work.place
    return bool(work.link)


def sources() -> list:
    return [source for file in run_files().values() for source in file.sources.values()]


def test_a_run_stands_in_its_own_year() -> None:
    """A month late in the year does not round up."""
    years = [re.sub("<[^>]*>", "", line[reached.HEAD.index("#Year")]) for line in all_cells()]
    assert years == [str(int(run.date)) for run in reached.shown_runs()]


def test_a_row_that_cannot_be_computed_is_marked_and_not_left_out() -> None:
    for run in reached.shown_runs():
        marked = "fb-badge" in reached._configuration(run)
        assert marked == (not run.is_whole or bool(run.row.flags)), run.row.id


def test_the_page_is_light() -> None:
    """What crosses the wire for the text and its pictures."""
    import gzip

    assert len(gzip.compress(page("reached.md").encode())) < 60_000


@pytest.mark.parametrize("name", FIGURES)
def test_a_point_leads_to_a_source_that_we_cite(name: str) -> None:
    drawn = figure_of(name)
    links = re.findall(r'<a href="([^"]+)" tabindex="-1">', "".join(drawn.parts))
    allowed = {html.escape(reference(source.source).link) for source in sources()}
    assert len(links) > 20 and set(links) <= allowed
    assert 'role="group"' in svg(drawn, "one")


@pytest.mark.parametrize("name", FIGURES)
def test_the_finding_is_the_title_and_stands_above_the_picture(name: str) -> None:
    title = figure_of(name).title
    assert re.search(r"\d+ %", title)
    # Once, above the picture: the heading of the section says what it is about.
    text = html.unescape(page("reached.md") + page("rates.md"))
    assert title in text and f"## {title}" not in text


def test_a_figure_is_no_link_list_unless_it_says_so() -> None:
    assert 'role="img"' in svg(Figure("t", "d", "c", 10, ()), "one")


def test_medians_and_quartiles_are_those_of_the_runs() -> None:
    runs = mfu_years.trained()
    counts = [count for _, count, _ in mfu_years.medians(runs)]
    assert sum(counts) == len(runs)
    low, high = mfu_years.quartiles(runs)
    inside = sum(low <= (run.rate.share or 0) <= high for run in runs)
    assert 0.45 < inside / len(runs) < 0.55
    for row in mfu_chips.by_chip(runs):
        below = sum((run.rate.share or 0) < row.median for run in row.runs)
        assert below <= len(row.runs) / 2 and len(row.runs) >= mfu_chips.LEAST


def test_a_year_has_a_line_at_the_median_of_each_format_with_enough_runs() -> None:
    runs = mfu_years.trained()
    levels = mfu_years.yearly(runs)
    assert len({(year, number) for year, number, _ in levels}) == len(levels) >= 8
    for year, number, share in levels:
        shares = [run.rate.share or 0 for run in runs if int(run.date) == year]
        assert min(shares) <= share <= max(shares) and len(shares) >= 10, (year, number)
    titles = {series.name for series in mfu_years.figure().plots[0].series}
    assert {"median, 16 bits", "median, FP8"} <= titles


def test_a_bar_stands_at_the_best_product_of_a_chip() -> None:
    for line in matmul_share.lines():
        sound = [run.rate.share or 0 for run in line.runs if not run.row.flags]
        assert line.middle == max(sound) <= 1


def test_a_chip_in_the_picture_of_bandwidth_has_two_sources() -> None:
    for line in matmul_share.lines("hbm_bandwidth", bandwidth_share.SOURCES):
        assert len({run.row.publication for run in line.runs}) >= 2, line.name


def section(name: str) -> str:
    entry = load_entry(name)
    return "".join(map(str, reached.measured_section(entry, f"accelerators/{name}.md")))


def test_a_chip_shows_printed_beside_measured_with_their_ratio() -> None:
    """The matmul of the H100 in ml-engineering: 794.5 of 989.4 TFLOP/s."""
    shown = section("nvidia/h100-sxm")
    (line,) = (line for line in shown.splitlines() if "2,048 × 2,048 × 13,312" in line)
    printed = chip("h100-sxm").peak("bf16") / 1e12
    assert "794.5 TFLOP/s" in line and f"{printed:.1f} TFLOP/s" in line and "80 %" in line
    assert "training runs reach an MFU of" in shown and "?chip=nvidia/h100-sxm" in shown


def test_a_chip_without_runs_has_no_section() -> None:
    with_runs = {run.chip for run in reached.shown_runs()}
    without = next(name for name in entry_ids() if name not in with_runs)
    assert section(without) == ""


def test_of_each_source_a_chip_shows_its_best_rate_in_a_format() -> None:
    for name in ("nvidia/h100-sxm", "google/tpu-v7x"):
        runs = [run for run in reached.runs_of_chip(name) if run.row.kind == "matmul_peak"]
        best = reached.best_by_source(runs)
        keys = [(run.row.publication, run.format) for run in best]
        assert best and len(keys) == len(set(keys))
        for run in runs:
            (shown,) = (
                one
                for one in best
                if (one.row.publication, one.format) == (run.row.publication, run.format)
            )
            assert (run.rate.value or 0) <= (shown.rate.value or 0)


def test_models_tell_how_often_they_were_measured() -> None:
    table = data.models_page()
    assert "?model=llama-3-8b" in table
    for name in model_ids():
        cell = reached.model_cell(name, "models.md")
        runs = reached.runs_of_model(name)
        assert isinstance(cell, Sortable) == bool(runs)
        if isinstance(cell, Sortable):
            assert cell.key == len(runs)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([], None), ([0.4], (1, 0.4, 0.4, 0.4)), ([0.2, 0.5, 0.3], (3, 0.2, 0.3, 0.5))],
)
def test_a_spread_is_lowest_middle_and_highest(
    shares: list[float], expected: tuple[float, ...] | None, a_run: Callable[[float], object]
) -> None:
    assert reached.spread([a_run(share) for share in shares]) == expected


@pytest.fixture
def a_run() -> Callable[[float], object]:
    """A run that reaches a share."""
    first = next(run for run in reached.shown_runs() if run.rate.share)
    return lambda share: first._replace(rate=first.rate._replace(share=share))


def test_a_long_text_is_cut_between_words_and_a_short_one_is_not() -> None:
    assert reached.cut("x" * 48) == "x" * 48
    assert reached.cut("PyTorch 2.11; median of 20") == "PyTorch 2.11"
    assert reached.cut("word " * 20) == "word " * 8 + "word ..."


def test_a_source_is_named_before_the_place_in_it() -> None:
    """A file name or a line says nothing about who measured."""
    run = next(run for run in reached.shown_runs() if run.row.where.startswith("README.md"))
    shown = str(reached.source_link(run))
    assert reference(run.source.source).short in shown.partition("<small>")[0]
    assert run.row.where[:9] in shown.partition("<small>")[2]
