"""Sweeps as pictures.

What is drawn, in the house style, readable without colour and without the picture.
"""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.drawing.curves import MOST_LINES, Plot, curves_svg, description, plot_of
from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError
from flopbook.evaluation.sweeping import read_axis, sweep
from flopbook.formulas import get_formula

SVG = "{http://www.w3.org/2000/svg}"


def batch(log: bool = True) -> Plot:
    text = "bandwidth=1TB/s:16TB/s:" + ("log" if log else "lin")
    return plot_of(
        sweep("min-batch", peak=[1e15, 2e15], bandwidth=read_axis(get_formula("min-batch"), text))
    )


def test_a_line_for_each_value_of_the_second_input() -> None:
    plot = batch()
    assert [line.name for line in plot.lines] == ["bandwidth 1 TB/s"] or plot.axis.name == "peak"
    ordered = plot_of(sweep("min-batch", bandwidth=[1e12, 2e12], peak=[1e15, 2e15]))
    assert ordered.axis.name == "bandwidth"
    assert [line.name for line in ordered.lines] == ["peak 1 PFLOP/s", "peak 2 PFLOP/s"]
    assert ordered.lines[0].points == ((1e12, 1000.0), (2e12, 500.0))


def test_the_first_output_that_changes_is_drawn_or_those_asked_for() -> None:
    swept = sweep(
        "min-batch", peak=1e15, bandwidth=1e12, bytes_per_param=[1, 2], d_model=4096, d_ff=[8192]
    )
    assert plot_of(swept).label == "tokens"
    swept = sweep("min-batch", peak=1e15, bandwidth=1e12, d_model=[8192, 16384], d_ff=8192)
    assert plot_of(swept).label == "tokens_exact", "tokens does not change"
    both = plot_of(swept, ["tokens", "tokens_exact"])
    assert [line.name for line in both.lines] == ["tokens", "tokens_exact"]


def test_log_axes_where_the_sweep_is_log() -> None:
    axis = read_axis(get_formula("min-batch"), "bandwidth=1TB/s:16TB/s:log")
    plot = plot_of(sweep("min-batch", peak=1e15, bandwidth=axis))
    assert plot.log and plot.axis.log and "both axes logarithmic" in description(plot)
    linear = plot_of(sweep("min-batch", peak=1e15, bandwidth=[1e12, 16e12]))
    assert not linear.log and "linear upwards" in description(linear)


def test_the_file_is_text_with_title_description_and_both_themes() -> None:
    plot = plot_of(sweep("min-batch", bandwidth=[1e12, 2e12, 4e12], peak=[1e15, 2e15]))
    root = ET.fromstring(curves_svg(plot))
    title, words = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and title.text == "Minimum batch: tokens by bandwidth and peak"
    assert words is not None and "1,000 tokens at 1 TB/s to 250 tokens at 4 TB/s" in (
        words.text or ""
    )
    assert root.get("role") == "img" and title.get("id") in (root.get("aria-labelledby") or "")
    text = curves_svg(plot)
    assert "prefers-color-scheme:dark" in text and "var(--md-default-fg-color" in text
    assert len(re.findall(r"stroke-dasharray", text)) == 1, (
        "lines differ without colour: one plain, one dashed"
    )
    assert {node.text for node in root.iter(f"{SVG}text")} >= {
        "peak 1 PFLOP/s",
        "peak 2 PFLOP/s",
        "bandwidth",
    }
    assert "href" not in text.replace("xmlns", "") and "<script" not in text


def test_a_gap_where_there_is_no_value() -> None:
    chips = {"params": 1e9, "tokens": 1e12, "peak": 1e15, "chips": 8}
    plot = plot_of(sweep("training-time", **chips, mfu=[0.2, 0.4, 1.5, 0.6, 0.8]))
    drawn = re.search(r'class="fb-line fb-line0" d="([^"]+)"', curves_svg(plot))
    assert drawn is not None and drawn[1].count("M") == 2 and drawn[1].count("L") == 2


def test_words_on_the_axis_stand_side_by_side() -> None:
    plot = plot_of(sweep("bubble", stages=8, microbatches=32, schedule=["gpipe", "zb-h1"]))
    text = curves_svg(plot)
    assert ">gpipe</text>" in text and ">zb-h1</text>" in text and text.count("<circle") == 2
    assert 'class="fb-line fb-line0" d="M' in text, "the mark of the label"


def test_many_points_make_a_small_picture() -> None:
    plot = plot_of(sweep("min-batch", peak=1e15, bandwidth=np.geomspace(1e9, 1e13, 100_000)))
    assert len(curves_svg(plot)) < 60_000 and plot.lines[0].points[-1][0] == pytest.approx(1e13)


@given(st.lists(st.floats(min_value=1e9, max_value=1e15), min_size=1, max_size=5))
def test_any_values_can_be_drawn(values: list[float]) -> None:
    """One point, equal points, any order: every coordinate lies inside the picture."""
    text = curves_svg(plot_of(sweep("min-batch", peak=1e15, bandwidth=values)))
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())  # type: ignore[union-attr]
    for x, y in re.findall(r'cx="([^"]+)" cy="([^"]+)"', text):
        assert 0 <= float(x) <= width and 0 <= float(y) <= height


def test_what_has_no_picture_is_said() -> None:
    shape = {"model": "llama-3-8b", "chip": "h100-sxm", "batch": 8}
    swept = sweep("decode", **shape, seq=[1024, 2048])
    with pytest.raises(FlopbookError, match="bound is a word and cannot be drawn"):
        plot_of(swept, ["bound"])
    with pytest.raises(FlopbookError, match="one picture has one unit, found s, token/s"):
        plot_of(swept, ["seconds", "tokens_per_s"])
    many = sweep(
        "min-batch", bandwidth=[1e12, 2e12], peak=[1e15 * n for n in range(1, MOST_LINES + 2)]
    )
    with pytest.raises(
        FlopbookError,
        match=f"{MOST_LINES + 1} lines are too many for a picture, at most {MOST_LINES}",
    ):
        plot_of(many)
    never = sweep("min-batch", peak=1e15, bandwidth=1e9, d_model=[8, 16], d_ff=8)
    with pytest.raises(FlopbookError, match="tokens_exact has no finite value to draw"):
        plot_of(never, ["tokens_exact"])


@given(low=st.floats(min_value=-1e9, max_value=1e9), size=st.floats(min_value=1e-6, max_value=1e12))
def test_round_ticks_are_inside_and_even(low: float, size: float) -> None:
    """Between two and seven of them, whatever the size, and of one step of 1, 2 or 5."""
    if low + size == low or size < 1e-6 * abs(low):
        return
    ticks = Scale(low, low + size, 0, 100, log=False).round_ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-6 * size <= tick <= low + size * (1 + 1e-6) for tick in ticks)
    steps = [b - a for a, b in itertools.pairwise(ticks)]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-3)
    assert f"{steps[0]:.0e}"[0] in "125"
