"""The figures that the founding documents ask for.

What they draw obeys the arithmetic that they show.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from scripts.website.figures import (
    batch_time,
    block_product,
    bubble_stages,
    called,
    cluster_plan,
    dot_assembly,
    figure_of,
    gpu_node,
    language_models,
    memory_parts,
    memory_wall,
    micro_batches,
    moores_law,
    pipeline_stages,
    power_laws,
    scheme_arrays,
    size_intensity,
    strong_scaling,
    systolic_array,
    torus_slice,
    tpu_core,
    training_state,
    two_times,
)
from scripts.website.figures.device_blocks import NINE
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.ring_collective import reduced


def drawn(name: str, **options: object) -> str:
    return "".join(figure_of(name, **options).parts)


def test_every_generation_has_units_and_rates() -> None:
    """v5p: 2 cores, 8 arrays of 128 by 128 (Google's documentation of v5p)."""
    rows = {row.name: row for row in tpu_core.generations()}
    assert rows["v5p"].cores == "2" and rows["v5p"].arrays == "8 × 128 × 128"
    assert all(row.arrays and row.hbm and row.rate and row.peak for row in rows.values())


@pytest.mark.parametrize(
    ("shape", "closed", "hops", "across"),
    [
        ((4, 4, 4), True, 6, 32),
        ((2, 2, 1), False, 2, 2),
        ((4, 4, 8), True, 8, 32),
        ((16, 16), True, 16, 32),
    ],
)
def test_slices_close_by_their_shape(
    shape: tuple[int, ...], closed: bool, hops: int, across: int
) -> None:
    """A cube of 4 closes, and a square only when it is the whole pod.

    Cloud documentation of v5p and v5e.
    """
    assert torus_slice.closed(shape) == (closed,) * len(shape)
    assert (torus_slice.hops(shape), torus_slice.across(shape)) == (hops, across)
    assert torus_slice.closed((8, 16)) == (False, True)


@pytest.mark.parametrize("text", ["4", "4x", "0x4", "4x4x4x4", "axb", "4x65"])
def test_a_slice_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(FlopbookError, match="4x4x8"):
        figure_of("torus-slice", shapes=text)
    with pytest.raises(FlopbookError, match="too many"):
        figure_of("torus-slice", shapes="; ".join(["4x4"] * 7))


def test_a_node_is_faster_inside_than_outside() -> None:
    """450 GB/s at the switches, 50 GB/s at an adapter, six links of 100 GB/s on a v5p."""
    rates = gpu_node.rates()
    assert rates["inside"] > 5 * rates["out"] and rates["torus"] == pytest.approx(6 * rates["link"])


def test_the_fit_finds_a_doubling() -> None:
    """From made points exactly, and from the chips something near the two years of the rule."""
    made = [moores_law.ChipPoint("a/b", "b", 2000 + n, 5.0 * 2 ** (n / 1.5)) for n in range(9)]
    assert moores_law.doubling(made) == pytest.approx((1.5, 5.0))
    found = moores_law.points()
    assert len(found) > 40 and 1.5 < moores_law.doubling(found)[0] < 3.5
    assert [point.year for point in found] == sorted(point.year for point in found)


def test_arithmetic_outgrew_memory_and_latency_stood_still() -> None:
    last = {
        one.name: one.points[-1][1]
        for one in (*memory_wall.accelerators(), *memory_wall.memory_chips())
    }
    assert last["FLOP/s"] > last["bandwidth"] > 1 and last["FLOP/s"] > last["size"]
    assert last["capacity"] == 64 and last["speed of access"] < 2
    assert all(one.points[0][1] == 1 for one in memory_wall.accelerators())


def test_lines_of_a_panel_stand_together_below_both_on_a_phone() -> None:
    """Seven lines have four strokes: sorted by stroke, those of two panels stood in turn."""
    sheet = narrow_sheet(memory_wall.figure())
    assert sheet is not None
    drawn = "".join(sheet.parts)
    names = [*memory_wall.accelerators(), *memory_wall.memory_chips()]
    places = [drawn.rindex(f">{one.name}<") for one in names]
    assert max(places[:4]) < min(places[4:])


def test_power_and_floor_add_up() -> None:
    """16,384 times 700 W; a server draws more.

    Racks cover more than a court, and aisles more than racks.
    """
    shares, areas = dict(cluster_plan.power()), [area for _, area in cluster_plan.floors()]
    assert (
        shares["chips"] == pytest.approx(16384 * 700)
        and sum(shares.values()) > 1.5 * shares["chips"]
    )
    assert areas == sorted(areas) and areas[0] == 420 and areas[1] == pytest.approx(674.6, rel=1e-3)


def test_models_predict_better_over_time() -> None:
    """The best so far only improves; the last is the one with the least perplexity."""
    found = language_models.points()
    assert len(found) == 9 and [p.year for p in found] == sorted(p.year for p in found)
    assert min(p.perplexity for p in found) == found[-1].perplexity == 7.16
    assert language_models.radius(70e9) > language_models.radius(257e6) > 3


def test_power_laws_have_the_constants_of_the_fit() -> None:
    """E = 1.8172, alpha = 0.3478, beta = 0.3658.

    By compute alpha beta over their sum (besiroglu2024chinchilla).
    """
    assert power_laws.floor() == pytest.approx(1.8172, abs=1e-4)
    slopes = [
        -power_laws.slope(power_laws.curve(name)) for name in ("compute", "parameters", "tokens")
    ]
    assert slopes == pytest.approx([0.3478 * 0.3658 / (0.3478 + 0.3658), 0.3478, 0.3658], abs=1e-3)


@pytest.mark.parametrize(("compute", "memory"), [(3.0, 5.0), (5.0, 3.0), (1.0, 1.0)])
def test_overlap_lies_between_the_larger_and_the_sum(compute: float, memory: float) -> None:
    """One tile takes the sum; many come near the larger, and never below."""
    totals = [two_times.total(two_times.schedule(compute, memory, n)) for n in (1, 2, 8, 64)]
    assert totals[0] == pytest.approx(compute + memory) and totals == sorted(totals, reverse=True)
    assert max(compute, memory) < totals[-1] < 1.05 * max(compute, memory)
    with pytest.raises(FlopbookError, match="tiles"):
        figure_of("two-times", tiles=(0,))


def test_intensity_stops_at_the_smallest_side() -> None:
    last = {name: points[-1][1] for name, points in size_intensity.lines()}
    assert last["dot product"] == pytest.approx(0.5, rel=1e-3) and last["vector"] == pytest.approx(
        1, rel=1e-3
    )
    assert 60 < last["64 rows"] < 64 and last["square"] == pytest.approx(16384 / 3)


def test_the_listing_is_that_of_the_chapter() -> None:
    """The same instructions in order: two loads, two operations and four others in a round."""
    from pathlib import Path

    page = (Path(__file__).resolve().parents[3] / "docs" / "handbook" / "computer.md").read_text(
        encoding="utf-8"
    )
    block = re.search(r"```asm\n(      li.*?)```", page, re.S)
    assert block is not None
    lines = [line.partition("#")[0].replace("loop:", "").split() for line in block[1].splitlines()]
    assert lines == [line.text.split() for line in dot_assembly.LISTING]
    assert dot_assembly.counts() == {"load": 2, "arithmetic": 2, "loop": 4}


def test_countings_of_memory_name_their_bytes() -> None:
    assert [sum(one.bytes) for one in memory_parts.COUNTINGS] == [10, 12, 16, 18]
    assert (
        "master copy" in drawn("memory-parts") and memory_parts.activations("llama-3-8b", 4096) > 0
    )


def test_shares_are_one_state_and_copies_are_many() -> None:
    whole = sum(training_state.held("llama-3-8b", 1, False))
    assert sum(training_state.held("llama-3-8b", 4, False)) == whole
    assert sum(training_state.held("llama-3-8b", 4, True)) == pytest.approx(whole / 4)
    with pytest.raises(FlopbookError, match="2 to 4"):
        figure_of("training-state", chips=5)


def test_nine_layouts_hold_what_they_should() -> None:
    """Numbers on each device and copies: 16/4, 8/2 four times, 4/1 four times."""
    told = figure_of("device-blocks").description
    found = re.findall(r"(\d+) on each, (\d) cop", told)
    assert sorted((int(a), int(b)) for a, b in found) == [(4, 1)] * 4 + [(8, 2)] * 4 + [(16, 4)]
    assert NINE.count(";") == 8
    assert ">01<" in drawn("device-blocks", layouts="A[I_X, J_Y]", across=1)
    with pytest.raises(FlopbookError, match="two axes"):
        figure_of("device-blocks", mesh="X=2,Y=2,Z=2")


def test_blocks_that_meet_share_an_index() -> None:
    assert block_product.terms(2, 1, 3) == ["A21 B11", "A22 B21", "A23 B31"]
    with pytest.raises(FlopbookError, match="must be one of them"):
        figure_of("block-product", row=3)


@pytest.mark.parametrize("devices", range(2, 7))
def test_an_all_reduce_ends_with_all_sums_everywhere(devices: int) -> None:
    """Twice as many steps as one half; no term is lost, and in the end all devices hold all."""
    panels = reduced(devices)
    assert len(panels) == 2 * (devices - 1) + 1
    assert all(
        cell.filled and cell.text.lstrip("→") == str(devices) for row in panels[-1] for cell in row
    )
    for before, after in pairwise(panels[devices - 1 :]):
        assert (
            sum(c.filled for row in after for c in row)
            - sum(c.filled for row in before for c in row)
            == devices
        )


@pytest.mark.parametrize(
    ("scheme", "shares"),
    [("dp", (4, 1, 1, 4)), ("fsdp", (4, 4, 4, 4)), ("tp", (1, 4, 4, 1)), ("mixed", (4, 4, 4, 4))],
)
def test_schemes_cut_what_they_say(scheme: str, shares: tuple[int, ...]) -> None:
    assert scheme_arrays.shares(scheme) == [1 / n for n in shares]
    if scheme == "dp":
        with pytest.raises(UnknownName, match="fsdp"):
            figure_of("scheme-arrays", scheme="zero")


def test_scaling_never_beats_the_straight_line() -> None:
    """Hidden sums are no slower than sums in turn, and with many chips both fall behind."""
    args = ("gpt-3-1.3b", "nvidia/h100-sxm", 50e9)
    one = strong_scaling.rate(*args, 8, True)
    for chips in (64, 512, 4096):
        hidden, turn = (strong_scaling.rate(*args, chips, overlap) for overlap in (True, False))
        assert turn <= hidden <= one * chips / 8 * 1.001
    assert hidden < 0.5 * one * 4096 / 8


def test_traffic_crosses_arithmetic_where_the_limits_are() -> None:
    """FSDP at its tokens per chip, both at theirs.

    Tensor parallelism over 64 chips is always above.
    """
    found = dict(batch_time.lines("tpu-v5p", 30000.0, 64, 3, 1))
    limit = calculate("fsdp-limit", chip="tpu-v5p", axes=3)["tokens_per_chip"] * 64
    for (batch, work), (_, fsdp), (_, tensor) in zip(
        found["arithmetic"], found["FSDP"], found["tensor"], strict=True
    ):
        assert (fsdp < work) == (batch > limit) and tensor > work


@pytest.mark.parametrize(("layers", "stages"), [(12, 4), (7, 3), (5, 5)])
def test_layers_are_dealt_out_in_order(layers: int, stages: int) -> None:
    found = pipeline_stages.dealt(layers, stages)
    assert [layer for mine in found for layer in mine] == list(range(1, layers + 1)) and len(
        found
    ) == stages
    assert max(map(len, found)) - min(map(len, found)) <= 1
    with pytest.raises(FlopbookError, match="stages"):
        figure_of("pipeline-stages", layers=3, stages=6)


@pytest.mark.parametrize(("layers", "stages"), [(12, 4), (7, 5), (24, 4)])
def test_on_a_phone_two_arrows_lead_from_each_stage_to_the_next(layers: int, stages: int) -> None:
    """Stages lay in two columns, with arrows that ended at nothing."""
    sheet = figure_of("pipeline-stages", layers=layers, stages=stages).narrow
    assert sheet
    text = "".join(sheet.parts)
    hollow = r'<rect class="fb-hollow" x="2" y="([\d.]+)" width="340" height="([\d.]+)'
    frames = re.findall(hollow, text)
    edges = [(float(top), float(top) + float(height)) for top, height in frames]
    assert len(edges) == stages and text.count(">stage ") == stages
    upright = re.findall(r'points="([\d.]+),([\d.]+) \1,([\d.]+)"', text)
    ends = [sorted((float(y0), float(y1))) for _, y0, y1 in upright]
    assert len(ends) == 2 * (stages - 1)
    for (_, foot), (top, _) in pairwise(edges):
        between = [one for one in ends if foot < one[0] < one[1] < top]
        assert len(between) == 2


def test_more_micro_batches_wait_less() -> None:
    """(K - 1) / (M + K - 1) with 4 stages, and the work is the same each time."""
    for count, run in zip((1, 4, 8, 16), micro_batches.runs(4, (1, 4, 8, 16)), strict=True):
        assert run.fraction == pytest.approx(3 / (count + 3)) and run.ideal == pytest.approx(3)


@pytest.mark.parametrize("stages", bubble_stages.STAGES)
def test_four_for_each_stage_lose_less_than_a_fifth(stages: int) -> None:
    found = bubble_stages.share(stages, 4 * stages)
    assert found == pytest.approx((stages - 1) / (5 * stages - 1)) and found < 0.2


def test_what_moves_ends_within_five_seconds_and_stands_still_when_asked() -> None:
    """Delay and length of every animation.

    The style sheet stops all of them for print and for reduced motion.
    """
    from pathlib import Path

    style = (Path(__file__).resolve().parents[3] / "docs/assets/flopbook/flopbook.css").read_text(
        encoding="utf-8"
    )
    length = {
        name: float(t)
        for name, t in re.findall(r"\.(fb-\w+) \{[^}]*animation: fb-\w+ ([\d.]+)s", style)
    }
    waits = [
        float(w) for w in re.findall(r"--fb-wait:([\d.]+)s", drawn("systolic-array", moving=True))
    ]
    assert len(waits) == systolic_array.ROWS * systolic_array.SIDE**2
    assert max(waits) + length["fb-visit"] < 5 and length["fb-sweep"] < 5
    assert 'class="fb-sweep"' in drawn("pipeline-schedule", moving=True)
    assert (
        "animation: none !important"
        in style.split("prefers-reduced-motion: reduce")[1].split("@media")[0]
    )
    printed = style.split("@media print")[1]
    assert ".fb-slide, .fb-visit, .fb-sweep { animation: none; }" in printed


def test_a_figure_says_how_it_is_called() -> None:
    assert called("zero-memory", model="llama-3-8b", dp=64, memory=8e10) == (
        'figure("zero-memory", model="llama-3-8b", dp=64, memory=80e9)'
    )
    assert (
        called("ring-collective", moving=True, shares=[1, 2])
        == 'figure("ring-collective", moving=true, shares=[1, 2])'
    )


def test_what_is_not_recorded_is_a_dash() -> None:
    """The memory on the chip of v3 and v4 has no entry; nothing is put in its place."""
    rows = {row.name: row for row in tpu_core.generations()}
    assert rows["v3"].vmem == rows["v4"].vmem == "" and rows["v5e"].vmem
    assert drawn("tpu-core").count(">–<") == sum(not cell for row in rows.values() for cell in row)


def test_the_growth_in_the_title_is_of_what_the_drawing_has() -> None:
    """Of the matrix units and the memory that feeds them: 2,307 over 123, 7.38 over 0.9."""
    assert (round(2307 / 123), round(7.38 / 0.9)) == (19, 8)
    title = tpu_core.figure().title
    assert "matrix units of a TPU became 19 times as fast" in title
    assert title.endswith("the memory that feeds them 8")


@pytest.mark.parametrize("shape", ["1x1x1", "1x4", "3x5", "4x12x16", "16x2"])
def test_slices_of_any_shape_are_drawn(shape: str) -> None:
    """Chips in a line, alone or in many layers; no more than eight are drawn along a side."""
    sides = torus_slice.read_shape(shape)
    text = drawn("torus-slice", shapes=shape)
    layers = min(sides[2], 3) if len(sides) == 3 else 1
    assert text.count("<circle") == layers * min(sides[0], 8) * min(sides[1], 8)
    assert ("layers" in text) == (len(sides) == 3 and sides[2] > 3)


def test_a_large_area_is_a_large_model() -> None:
    """Radii grow with the decades of parameters; without a number the point is small."""
    radii = [language_models.radius(params) for params in (0, 1e8, 1e9, 1e10, 1e11)]
    assert radii[1:] == sorted(radii[1:]) and radii[0] < radii[2]
    assert radii[3] - radii[2] == pytest.approx(3)
