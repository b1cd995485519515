"""What figures draw obeys the laws that their chapters teach, and is what calculators say."""

from __future__ import annotations

import itertools
import re

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from scripts.website.figures import drawn_of, figure_names, figure_of
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import PlotSeries, Point
from scripts.website.figures.ridge_points import _CHIPS
from tests.support.rendering import READS_THE_HANDBOOK

pytestmark = READS_THE_HANDBOOK

NETWORK = {"chip": "google/tpu-v5p", "axes": 3, "tensor_axes": 1, "d_ff": 30000}


def lines(drawn: Figure) -> dict[str, list[Point]]:
    """The points of each line, by the name of the line or its number."""
    (chart,) = drawn.plots
    found = [one for one in chart.series if one.kind == "line"]
    return {one.name or str(number): one.points for number, one in enumerate(found)}


def boxes(drawn: Figure, kind: str) -> list[tuple[float, float]]:
    """Height and width of the boxes of a kind, from the top."""
    pattern = rf'<rect class="{kind}" x="[^"]+" y="([^"]+)" width="([^"]+)" height="26'
    return [(float(y), float(w)) for y, w in re.findall(pattern, "".join(drawn.parts))]


def every_series() -> list[tuple[str, PlotSeries]]:
    """The series of all charts, with the name of the figure."""
    return [
        (name, series)
        for name in figure_names()
        for chart in drawn_of(f'["{name}",{{}}]').plots
        for series in chart.series
    ]


def test_every_mark_has_its_words_or_none_has() -> None:
    for name, series in every_series():
        assert len(series.tips) in (0, len(series.points)), name
        if series.kind == "mark":
            assert all(tip and tip == tip.strip() for tip in series.tips), name


def test_what_stands_on_a_logarithmic_axis_is_positive() -> None:
    for name in figure_names():
        for chart in drawn_of(f'["{name}",{{}}]').plots:
            for axis, place in ((chart.across, 0), (chart.up, 1)):
                assert axis.low < axis.high, (name, axis.label)
                if axis.log:
                    points = [point for series in chart.series for point in series.points]
                    assert axis.low > 0, (name, axis.label)
                    assert all(point[place] > 0 for point in points), (name, axis.label)


# Pipelines.


@pytest.mark.parametrize("stages", [4, 8, 16])
def test_a_bubble_falls_as_one_over_the_micro_batches(stages: int) -> None:
    """(P - 1) / (M + P - 1) with one chunk, and P - 1 cut by the chunks with several."""
    shown = lines(figure_of("bubble-share", stages=stages))
    for name, points in shown.items():
        assert all(a > b for (_, a), (_, b) in itertools.pairwise(points)), name
    plain, cut = shown["GPipe and 1F1B"], shown["Interleaved, 4 chunks"]
    for count, share in plain:
        assert share == pytest.approx((stages - 1) / (count + stages - 1))
    for count, share in cut:
        bubble = (stages - 1) / 4
        assert share == pytest.approx(bubble / (count + bubble))
    assert plain[0][0] == stages and len(plain) == len(cut) == 256 // stages
    # No schedule is drawn that idles longer than the plain one.
    for points in shown.values():
        assert all(share <= dict(plain)[count] for count, share in points)


# Sharding of states.


@pytest.mark.parametrize("dp", [2, 8, 64])
def test_each_stage_of_zero_cuts_one_state_more(dp: int) -> None:
    """Bars to scale: what is cut is as many times narrower as there are devices."""
    drawn = figure_of("zero-memory", model="llama-3-8b", dp=dp)
    for number, kind in enumerate(("fb-c2", "fb-c3", "fb-c0"), 1):
        bars = dict(boxes(drawn, kind))
        rows = sorted(bars)
        whole = bars[rows[0]]
        for stage, row in enumerate(rows):
            expected = whole / dp if stage >= number else whole
            assert bars[row] == pytest.approx(expected, abs=0.06), (kind, stage)


def test_a_line_for_the_memory_of_a_chip_keeps_the_scale() -> None:
    """A chip that holds more than all states makes the bars shorter, and a smaller one does not."""
    bare = boxes(figure_of("zero-memory", dp=8), "fb-c0")
    small = boxes(figure_of("zero-memory", dp=8, memory=8e10), "fb-c0")
    large = boxes(figure_of("zero-memory", dp=8, memory=1e12), "fb-c0")
    assert small == bare
    assert all(a[1] > b[1] for a, b in zip(bare, large, strict=False))
    assert "memory of a chip, 80 GB" in "".join(figure_of("zero-memory", memory=8e10).parts)


# Networks.


@pytest.mark.parametrize("op", ["all-gather", "reduce-scatter", "all-reduce"])
def test_a_collective_takes_its_hops_and_then_its_bytes(op: str) -> None:
    """A straight line over the bytes. At its dot both parts take as long; left of it the hops take
    longer, right of it the bytes."""
    drawn = figure_of("collective-time", chip="google/tpu-v5p", op=op, chips=[4, 32])
    (chart,) = drawn.plots
    bends = [point for one in chart.series if one.kind == "mark" for point in one.points]
    shown = list(lines(drawn).values())
    assert len(shown) == len(bends) == 2
    for points, (bend, there) in zip(shown, bends, strict=True):
        hops = there / 2
        assert points[0][1] == pytest.approx(hops, rel=0.01)
        for size, seconds in points:
            assert seconds == pytest.approx(hops * (1 + size / bend))
    few, many = bends
    assert many[1] > few[1] and many[0] > few[0]


@pytest.mark.parametrize("tokens", [24_000, 48_000])
def test_the_best_split_is_the_lowest_point_of_the_sum(tokens: int) -> None:
    """There weights and activations take as long; away from it one is longer and one shorter."""
    shown = lines(figure_of("fsdp-tensor-split", batch_tokens=tokens, chips=64, **NETWORK))
    best = calculate("mixed-limit", batch_tokens=tokens, chips=64, **NETWORK)
    heights = dict(shown["sum"])
    assert min(heights.values()) >= 1 / best["slack"]
    assert min(heights.values()) == pytest.approx(1 / best["slack"], rel=1e-2)
    lowest = min(heights, key=lambda ways: heights[ways])
    assert lowest == pytest.approx(best["x_opt"], rel=0.1)
    weights, activations = dict(shown["weights"]), dict(shown["activations"])
    for ways in weights.keys() & activations.keys():
        assert heights[ways] == pytest.approx(weights[ways] + activations[ways])
        assert (weights[ways] > activations[ways]) == (ways > best["x_opt"])


def test_a_split_that_is_best_at_an_end_is_not_drawn() -> None:
    with pytest.raises(FlopbookError, match="the best split of 64 chips lies at an end"):
        figure_of("fsdp-tensor-split", batch_tokens=10_000_000, chips=64, **NETWORK)


@pytest.mark.parametrize("ways", [2, 4, 8])
def test_a_block_holds_all_weights_once_over_all_chips(ways: int) -> None:
    """Bytes of the seven arrays: what is cut is held by each chip for its share alone."""
    drawn = figure_of("tensor-block", tokens=1000, d_model=2000, d_ff=6000, ways=ways)
    told = re.findall(r"(\w+\[[^\]]+\](?: {U_Y})?) ([\d.]+) (\w+)", drawn.description)
    held = {
        name: float(amount) * {"MB": 1e6, "kB": 1e3, "GB": 1e9}[unit] for name, amount, unit in told
    }
    assert held["W_in[D, F_Y]"] * ways == pytest.approx(2 * 2000 * 6000, rel=0.01)
    assert held["W_in[D, F_Y]"] == held["W_out[F_Y, D]"]
    assert held["Tmp[B, F_Y]"] * ways == pytest.approx(2 * 1000 * 6000, rel=0.01)
    assert held["In[B, D]"] == held["Out[B, D] {U_Y}"] == pytest.approx(2 * 1000 * 2000)
    assert held["In[B_Y, D]"] * ways == pytest.approx(held["In[B, D]"], rel=0.01)
    assert held["Out[B_Y, D]"] == held["In[B_Y, D]"]


# Chips.


def test_a_bar_of_a_ridge_point_is_its_minimum_batch() -> None:
    """An outline, where a sparse peak is printed, is twice as long: the mistake doubles a batch."""
    drawn = figure_of("ridge-points")
    tips = re.findall(r"<title>([^<]+): ([\d,]+)</title>", "".join(drawn.parts))
    named = {name: float(tokens.replace(",", "")) for name, tokens in tips}
    dense = {name: tokens for name, tokens in named.items() if "sparse" not in name}
    expected = [calculate("min-batch", chip=chip)["tokens"] for chip in _CHIPS]
    assert list(dense.values()) == pytest.approx(expected, abs=0.5)
    for name, tokens in named.items():
        if name not in dense:
            plain = dense[name.removesuffix(" with the sparse peak")]
            assert tokens == pytest.approx(2 * plain, rel=0.01), name
    assert len(named) > len(dense)
    assert f"{min(expected):,.0f} to {max(expected):,.0f} tokens" in drawn.title


def test_a_server_is_faster_in_all_and_slower_for_each_with_a_larger_batch() -> None:
    """Longer sequences end sooner, and lower."""
    shown = list(lines(drawn_of('["batch-frontier",{}]')).values())
    for points in shown:
        seconds, rates = zip(*points, strict=True)
        assert list(seconds) == sorted(seconds) and list(rates) == sorted(rates)
    ends = [points[-1][1] for points in shown]
    assert ends == sorted(ends, reverse=True)
    lengths = [len(points) for points in shown]
    assert lengths == sorted(lengths, reverse=True)
