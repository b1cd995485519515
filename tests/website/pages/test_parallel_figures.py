"""The figures of the chapters on parallelism.

What they draw is what the calculators and the ring itself say.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from pathlib import Path

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import percent
from scripts.website.figures import (
    figure_names,
    figure_of,
    fsdp_streams,
    overlap,
    tokens_beyond,
)
from scripts.website.figures.chart import Chart
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.overlap import LAYERS, Bar, step
from scripts.website.figures.plotted import ChartAxis
from scripts.website.figures.ring_collective import OPS, exchanged, gathered, scattered
from scripts.website.figures.shapes import read
from tests.support.cases import every
from tests.support.rendering import READS_THE_HANDBOOK, default_figure

pytestmark = READS_THE_HANDBOOK

ROOT = Path(__file__).resolve().parents[3]
SIZES = pytest.mark.parametrize("devices", range(2, 7))


def drawn(name: str, **options: object) -> str:
    """All pieces of a figure."""
    return "".join(figure_of(name, **options).parts)


def widths(text: str, kind: str) -> list[float]:
    """Widths of the boxes of a colour, without those of the legend."""
    return [
        float(w)
        for w in re.findall(rf'<rect class="{kind}" x="[^"]+" y="[^"]+" width="([^"]+)"', text)
    ]


@SIZES
def test_a_gather_ends_with_all_blocks_everywhere(devices: int) -> None:
    """In every step each device gets one block from the device on its left, which had it."""
    panels = gathered(devices)
    assert len(panels) == devices
    assert all(cell.filled for row in panels[-1] for cell in row)
    for before, after in pairwise(panels):
        for device in range(devices):
            came = [
                b
                for b in range(devices)
                if after[b][device].filled and not before[b][device].filled
            ]
            assert len(came) == 1 and after[came[0]][device].fresh
            assert before[came[0]][(device - 1) % devices].filled


@SIZES
def test_a_reduce_scatter_adds_every_term_once(devices: int) -> None:
    """A block has as many terms as devices at any time, and all are home at the end."""
    for panel in scattered(devices):
        for row in panel:
            assert sum(int(cell.text.lstrip("→")) for cell in row if cell.filled) == devices
    for block, row in enumerate(scattered(devices)[-1]):
        assert [device for device, cell in enumerate(row) if cell.filled] == [block]


@SIZES
def test_an_all_to_all_brings_each_piece_to_its_device(devices: int) -> None:
    """Blocks move by one neighbour in a step, for as many steps as half of the ring."""
    panels = exchanged(devices)
    assert len(panels) == devices // 2 + 1
    assert [[int(cell.text) for cell in row] for row in panels[-1]] == [
        list(range(devices))
    ] * devices
    for before, after in pairwise(panels):
        for old, new in zip(chain(*before), chain(*after), strict=True):
            moved = (int(new.text) - int(old.text)) % devices
            assert moved in ((0,) if not new.fresh else (1, devices - 1))


def test_a_ring_that_cannot_be_drawn_is_refused() -> None:
    """One clear line for each."""
    with pytest.raises(UnknownName, match="all-gather"):
        figure_of("ring-collective", op="all-gathers")
    with pytest.raises(FlopbookError, match="2 to 6"):
        figure_of("ring-collective", devices=7)
    with pytest.raises(FlopbookError, match="moving"):
        figure_of("ring-collective", op="all-to-all", moving=True)


def test_what_moves_is_all_that_arrives() -> None:
    """Of 4 x 4 blocks four are at home from the start.

    The others slide in, each wave later than the one before.
    """
    parts = drawn("ring-collective", moving=True)
    waits = re.findall(r"--fb-wait:([\d.]+)s", parts)
    assert len(waits) == 12 and len(set(waits)) == 3
    assert max(map(float, waits)) < 5 - 0.9  # it ends within five seconds


@pytest.mark.parametrize("kind", ["dp", "fsdp"])
@pytest.mark.parametrize("share", [0.25, 1.0, 3.0])
def test_a_step_keeps_its_order_and_its_lengths(kind: str, share: float) -> None:
    """Nothing runs twice at once on a lane.

    Arithmetic takes 3 a layer, the network 2 (data parallel) or 3 (FSDP).
    """
    bars = step(kind, share)
    for lane, total in ((0, 3 * share * LAYERS), (1, (2 if kind == "dp" else 3) * LAYERS)):
        own = sorted(bar for bar in bars if bar.lane == lane)
        assert all(a.end <= b.start + 1e-9 for a, b in pairwise(own))
        assert sum(bar.end - bar.start for bar in own) == pytest.approx(total)
    ends = {bar.text: bar for bar in bars}
    for layer in range(1, LAYERS + 1):
        if kind == "fsdp":  # weights before use, gradients after
            assert min(b.end for b in bars if b.text == f"G{layer}") <= ends[f"F{layer}"].start
            assert ends[f"R{layer}"].start >= ends[f"B{layer}"].end
        else:
            assert ends[f"S{layer}"].start >= ends[f"B{layer}"].end


@pytest.mark.parametrize("kind", ["dp", "fsdp"])
def test_the_limit_decides_who_waits(kind: str) -> None:
    """Far below the smallest batch the network is always busy, far above it arithmetic is."""

    def idle(bars: list[Bar], lane: int) -> float:
        end = max(bar.end for bar in bars)
        return 1 - sum(bar.end - bar.start for bar in bars if bar.lane == lane) / end

    assert idle(step(kind, 0.1), 0) > 0.7 and idle(step(kind, 20.0), 0) < 0.03
    assert idle(step(kind, 0.01), 1) < 0.02
    with pytest.raises(UnknownName):
        figure_of("overlap", kind="tensor")


def test_bars_of_memory_are_those_of_the_calculator() -> None:
    """To scale, and told in words."""
    figure = figure_of("zero-memory", model="llama-3-8b", dp=16)
    whole = calculate("memory", model="llama-3-8b", seq=1, dp=16)
    cut = calculate("memory", model="llama-3-8b", seq=1, dp=16, zero=1)
    weights, optimizer = (
        widths("".join(figure.parts), "fb-c0"),
        widths("".join(figure.parts), "fb-c2"),
    )
    assert weights[0] / optimizer[0] == pytest.approx(
        whole["weights"] / whole["optimizer"], rel=1e-3
    )
    assert optimizer[0] / optimizer[1] == pytest.approx(
        whole["optimizer"] / cut["optimizer"], rel=1e-2
    )
    assert "128.5 GB" in figure.description and "8.03 GB" in figure.description


def test_bars_of_chips_are_those_of_the_limits() -> None:
    """Each bar in proportion to its chip's tokens."""
    parts = drawn("tokens-per-chip", chips="h100-sxm, tpu-v5p", limit="dp-limit")
    tokens = [
        calculate("dp-limit", chip=name)["tokens_per_chip"] for name in ("h100-sxm", "tpu-v5p")
    ]
    bars = widths(parts, "fb-c0")
    assert bars[0] / bars[1] == pytest.approx(tokens[0] / tokens[1], rel=1e-3)


def test_the_best_split_is_marked_where_the_calculator_finds_it() -> None:
    """The book's own case (austin2025training).

    13.9 ways of FSDP for 64 chips, 48,000 tokens and a width of 32,768.
    """
    given = {"d_ff": 32768, "batch_tokens": 48000, "chips": 64, "axes": 3, "link_bandwidth": 90e9}
    best = calculate("mixed-limit", chip="tpu-v5p", **given)["x_opt"]
    figure = figure_of("fsdp-tensor-split", chip="tpu-v5p", **given)
    assert f"degree of {best:.1f}," in figure.description and best == pytest.approx(13.9, abs=0.3)
    with pytest.raises(FlopbookError, match="at an end"):
        figure_of("fsdp-tensor-split", batch_tokens=1e9)


@pytest.mark.parametrize(
    ("schedule", "virtual"), [("interleaved", 2), ("zb-h1", 1), ("zb-v", 1), ("1f1b", 1)]
)
def test_a_micro_batch_can_be_followed_on_a_phone(schedule: str, virtual: int) -> None:
    figure = figure_of("pipeline-schedule", schedule=schedule, virtual=virtual)
    narrow = narrow_sheet(figure)
    assert narrow is not None
    numbers = [
        re.findall(r">(\d)</text>", "".join(parts)) for parts in (figure.parts, narrow.parts)
    ]
    assert sorted(numbers[0]) == sorted(numbers[1])


def test_no_line_passes_through_the_name_of_the_best_split() -> None:
    """On the chapter's run, on a wide screen and on a phone."""
    run = {"d_ff": 43_008, "batch_tokens": 500_000, "chips": 1024, "axes": 3, "tensor_axes": 1}
    figure = figure_of("fsdp-tensor-split", chip="tpu-v5p", **run)
    narrow = narrow_sheet(figure)
    assert narrow is not None
    for parts in (figure.parts, narrow.parts):
        found = read(parts)
        (name,) = (shape.extent for shape in found if shape.text == "X = 154")
        lines = re.findall(r'class="fb-(?:line|stroke)[^>]*points="([^"]+)"', "".join(parts))
        for line in lines:
            places = [tuple(map(float, place.split(","))) for place in line.split()]
            assert not any(
                name.left < x < name.right and name.top < y < name.foot for x, y in places
            )
        level = next(places for places in map(str.split, lines) if len(places) == 2)
        assert name.foot < float(level[0].split(",")[1])


def test_the_ratio_crosses_one_at_the_limits() -> None:
    """The dots stand at the batches that the calculators give."""
    figure = figure_of("fsdp-tensor-ratio", d_ff=30000, chips=64, axes=3)
    alone = calculate("fsdp-limit", chip="tpu-v5p", axes=3)["tokens_per_chip"]
    both = calculate("mixed-limit", chip="tpu-v5p", d_ff=30000, axes=3)["tokens_per_chip"]
    assert (
        f"{alone:,.0f} tokens" in figure.description and f"{both:,.1f} tokens" in figure.description
    )


def test_the_bend_of_a_collective_is_where_latency_ends() -> None:
    figure = figure_of("collective-time", chip="tpu-v5p", chips=(8,))
    assert "4 µs up to 914.3 kB" in figure.description


def test_a_schedule_wears_the_fills_of_the_house() -> None:
    """As many bars as passes, and the idle share of the closed form."""
    figure = figure_of("pipeline-schedule", schedule="zb-h1", stages=4, microbatches=8)
    share = calculate("bubble", schedule="zb-h1", stages=4, microbatches=8)["fraction"]
    assert f"idle for {percent(share, 1)}" in figure.title
    parts = "".join(figure.parts)
    assert parts.count("<rect") == 4 * 8 * 3 + 3 and "fb-pass" not in parts
    with pytest.raises(FlopbookError, match="too many"):
        figure_of("pipeline-schedule", stages=65, microbatches=65)


def test_every_layout_has_its_blocks() -> None:
    """One field for each block.

    The calculator `shard` refuses what cannot be cut, and so does the figure.
    """
    parts = drawn(
        "sharding-layouts", array="bf16[8,8]", mesh="X=2,Y=4", layouts="A[I_X, J]; A[I_X, J_Y]"
    )
    assert parts.count("<rect") == 2 + 8
    with pytest.raises(FlopbookError):
        figure_of("sharding-layouts", layouts="A[I_Z, J]")


def test_a_block_tells_the_bytes_that_a_chip_holds() -> None:
    """4,096 tokens of width 8,192 in bf16 are 67.11 MB whole and a quarter of that when cut."""
    described = figure_of("tensor-block", tokens=4096, d_model=8192, d_ff=28672, ways=4).description
    assert "In[B, D] 67.11 MB" in described and "In[B_Y, D] 16.78 MB" in described


def test_names_of_lines_keep_apart() -> None:
    """Lines that end at one height have names one below the other."""
    chart = Chart(ChartAxis("a", 1, 10, ""), ChartAxis("b", 1, 10, ""))
    names = chart.names([(name, [(1, 1), (10, 5)]) for name in ("one", "two", "three")])
    heights = sorted(float(re.search(r' y="([^"]+)"', text)[1]) for text in names)  # type: ignore[index]
    assert heights[1] - heights[0] >= 14 and heights[2] - heights[1] >= 14


def test_steps_wear_the_same_colours_wherever_they_are_drawn() -> None:
    """Arithmetic is blue and what travels orange, in still pictures and in those that move."""
    colours = {overlap.FORWARD, overlap.BACKWARD, overlap.GATHERED, overlap.SUMMED}
    assert colours == {"c0", "c8", "c1", "c6"}
    for kind in overlap.KINDS:
        for share in (0.5, 1.5):
            for bar in overlap.step(kind, share):
                blue = bar.colour in (overlap.FORWARD, overlap.BACKWARD)
                assert bar.colour in colours and blue == (bar.lane == 0)
    for row, kinds in (("arithmetic", {"c0", "c8"}), ("network", {"c1", "c6"})):
        ahead, state = fsdp_streams.forward()
        spans = [*ahead, *fsdp_streams.backward(state)]
        assert {span.kind for span in spans if span.row == row} == kinds
    living = ROOT / "docs" / "assets" / "flopbook" / "living"
    moved = set(re.findall(r'"(c\d)"', (living / "fsdp.js").read_text(encoding="utf-8")))
    assert moved == colours


@every("name", figure_names())
def test_a_caption_calls_panels_by_their_names(name: str) -> None:
    """On a phone panels lie below each other: what is left or right in one is not in the other."""
    drawn = default_figure(name)
    if len(drawn.plots) > 1:
        assert not re.search(r"(Left|Right|Middle)\b[,:]", drawn.caption), drawn.caption


def test_a_narrow_sheet_keeps_the_band_of_an_estimate() -> None:
    """The lowest and the highest growth of algorithms are lines, so that a phone shows them too."""
    drawn = figure_of("compute-against-algorithms")
    named = {series.name: series for series in drawn.plots[0].series}
    ends = [named[f"algorithms, at {edge}"].points[-1][1] for edge in ("least", "most")]
    guess = named["algorithms, best guess"].points[-1][1]
    assert ends[0] < guess < ends[1]
    sheet = narrow_sheet(drawn)
    assert sheet and "".join(sheet.parts).count("fb-line2") >= 2


@pytest.mark.parametrize("name", tokens_beyond.CHIPS)
def test_beyond_its_domain_a_chip_needs_as_many_tokens_or_more(name: str) -> None:
    """A node of eight needs its peak over the rate of all its cards, a torus has no such edge."""
    limits = tokens_beyond.limits_of(name)
    if name.startswith("tpu"):
        assert limits.beyond is None
        return
    assert limits.beyond is not None and limits.beyond >= limits.inside
    if name in ("h100-sxm", "b200"):
        assert limits.beyond == pytest.approx(chip(name).peak("bf16") / (8 * 50e9), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "options"),
    [("fsdp-streams", {}), *(("ring-collective", {"op": op}) for op in OPS)],
)
def test_a_caption_names_colours_and_no_shades(name: str, options: dict[str, str]) -> None:
    """What is dark on a light page may be light on a dark one."""
    caption = figure_of(name, **options).caption
    assert not re.search(r"\b(light|dark)\b", caption, re.I), caption
