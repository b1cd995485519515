"""The figures of the chapter on the landscape: what they draw is what the entries say."""

from __future__ import annotations

import math
import re
from html import unescape
from itertools import combinations

import pytest

from flopbook.data.library import entry_ids, vendor_ids
from flopbook.hardware.chip import chip
from scripts.website.figures import (
    capacity_bandwidth,
    doubling_times,
    figure_of,
    peak_bandwidth,
    power_peak,
    published_shares,
    scaleup_domains,
    scatter,
)
from scripts.website.figures.chart import Chart
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.plotted import ChartAxis
from scripts.website.pages.explorer import items
from scripts.website.pages.families import FAMILIES, SERVERS, family_of
from scripts.website.pages.trends import SHAPES

PLOTS = (peak_bandwidth, capacity_bandwidth, power_peak, scaleup_domains)
NAMES = ("peak-bandwidth", "capacity-bandwidth", "power-peak", "scaleup-domains")
MARK = re.compile(r'class="fb-mark [^"]*" transform="translate\(([\d.]+) ([\d.]+)\)')


def by_id(module) -> dict[str, scatter.Spot]:
    return {spot.item.entry.id: spot for spot in module.spots()}


@pytest.mark.parametrize(("module", "name"), zip(PLOTS, NAMES, strict=True), ids=NAMES)
def test_every_chip_stands_inside_the_frame(module, name: str) -> None:
    """No value is cut off at the edge of an axis, and each chip has a mark beside the legend."""
    drawn = figure_of(name)
    marks = [tuple(map(float, place)) for place in MARK.findall("".join(drawn.parts))]
    assert len(marks) == len(module.spots()) + len(scatter.MARKS)
    plotted = [(x, y) for x, y in marks if y < drawn.height - 60]
    assert len(plotted) >= len(module.spots())
    left = 84 if name == "scaleup-domains" else 104
    assert all(left < x < 616 and 14 < y < drawn.height - 60 for x, y in plotted), name
    assert f"{len(module.spots())} " in drawn.description


@pytest.mark.parametrize("module", PLOTS, ids=NAMES)
def test_a_pointer_names_each_chip(module) -> None:
    spots = module.spots()
    assert len({spot.item.entry.id for spot in spots}) == len(spots) > 40
    assert all(
        spot.tip.startswith(spot.item.entry.name) and spot.x > 0 and spot.y > 0 for spot in spots
    )


@pytest.mark.parametrize("module", PLOTS, ids=NAMES)
def test_the_names_that_are_wanted_exist(module) -> None:
    """A name of an entry that is gone would silently not be drawn."""
    assert set(module._NAMED) <= set(entry_ids())
    assert set(module._NAMED) <= set(by_id(module))


def test_chips_of_the_worked_example_are_named_in_the_first_picture() -> None:
    """A reader meets them again: by words beside the mark, or at the end of a line."""
    text = "".join(peak_bandwidth.figure().parts)
    for name in ("H100", "H200", "H20", "B200", "MI355X", "TPU v6e"):
        assert f">{name}<" in text
    assert ">GroqChip 1<" in text


def test_peak_and_bandwidth_are_those_of_the_chip() -> None:
    spot = by_id(peak_bandwidth)["nvidia/h100-sxm"]
    item = chip("nvidia/h100-sxm")
    assert (spot.y, spot.x) == (item.peak("bf16"), item.memory_bandwidth()) and not spot.hollow
    assert by_id(peak_bandwidth)["biren/br100"].hollow, "nobody says that this peak is dense"
    assert all(family_of(name).id in SERVERS for name in by_id(peak_bandwidth))


def test_size_and_bandwidth_are_of_one_memory() -> None:
    spots = by_id(capacity_bandwidth)
    assert "untether/speedai240" not in spots and "apple/m3-ultra" in spots
    assert spots["nvidia/h100-sxm"].x == chip("nvidia/h100-sxm").memory()


def test_a_power_of_others_is_hollow() -> None:
    spots = by_id(power_peak)
    assert not spots["nvidia/h100-sxm"].hollow and spots["google/tpu-v5e"].hollow
    assert spots["nvidia/h100-sxm"].x == chip("nvidia/h100-sxm").power()


def test_domains_are_those_of_chips() -> None:
    spots = by_id(scaleup_domains)
    assert spots["google/tpu-v5p"].y == 8960 and spots["nvidia/h100-sxm"].y == 8
    assert 2022 <= spots["nvidia/h100-sxm"].x < 2023


@pytest.mark.parametrize("is_narrow", [False, True])
def test_no_domain_hides_another_and_the_file_has_them_all(is_narrow: bool) -> None:
    """Nine chips lay on the line of eight; those of equal size and day share no place."""
    drawn = scaleup_domains.figure()
    sheet = narrow_sheet(drawn)
    assert sheet
    parts = sheet.parts if is_narrow else drawn.parts
    marks = [part for part in parts if "<title>" in part]
    places = [
        (float(found[1]), float(found[2]))
        for mark in marks
        if (found := re.search(r"translate\(([\d.]+) ([\d.]+)\)", mark))
    ]
    spots = scaleup_domains.spots()
    assert len(places) == len(spots) == sum(len(one.points) for one in drawn.plots[0].series)
    least = 4 if is_narrow else 7.9
    for one, other in combinations(places, 2):
        assert math.dist(one, other) >= least
    sizes = {point for one in drawn.plots[0].series for point in one.points}
    assert sizes == {(spot.x, spot.y) for spot in spots}
    tips = sorted(re.findall("<title>([^<]+)</title>", unescape("".join(marks))))
    assert tips == sorted(spot.tip for spot in spots)


LINE = re.compile(r'<polyline class="fb-(dashed|line\d)" fill="none" points="([^"]+)"')
WORDS = re.compile(
    r'class="fb-halo" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]+)<'
)  # those of diagonals stand at 0


@pytest.mark.parametrize("is_narrow", [False, True], ids=["wide", "phone"])
@pytest.mark.parametrize("name", [*NAMES, "mfu-years", "moores-law"])
def test_names_keep_off_marks_each_other_and_lines(name: str, is_narrow: bool) -> None:
    """Beside its mark a name may lie on nothing; where that cannot be a pointer leads to it."""
    drawn = figure_of(name)
    sheet = narrow_sheet(drawn) if is_narrow else drawn
    assert sheet
    text = "".join(sheet.parts)
    boxes = {}
    for x, y, side, name in WORDS.findall(text):
        if float(x):
            width = 6.0 * len(name)
            left = float(x) - {"start": 0.0, "middle": width / 2, "end": width}[side]
            boxes[name] = (left, float(y) - 8, left + width, float(y))
    assert len(boxes) >= 5
    for one, other in combinations(boxes.values(), 2):
        beside = one[2] <= other[0] or other[2] <= one[0]
        assert beside or one[3] <= other[1] or other[3] <= one[1]
    found = re.findall(r'translate\(([\d.]+) ([\d.]+)\)|cx="([\d.]+)" cy="([\d.]+)"', text)
    places = [(float(x or cx), float(y or cy)) for x, y, cx, cy in found]
    for _, line in LINE.findall(text):
        (x0, y0), (x1, y1) = (tuple(map(float, point.split(","))) for point in line.split())
        places += [(x0 + n / 999 * (x1 - x0), y0 + n / 999 * (y1 - y0)) for n in range(1000)]
    for name, (left, top, right, bottom) in boxes.items():
        assert not any(left < x < right and top < y < bottom for x, y in places), name


def test_pointers_cross_neither_names_nor_each_other() -> None:
    for name in NAMES[:3]:
        for parts in (figure_of(name).parts, narrow_sheet(figure_of(name)).parts):  # type: ignore[union-attr]
            ends = re.findall(r'class="fb-stroke" fill="none" points="([^"]+)"', "".join(parts))
            lines = [
                _outside([tuple(map(float, at.split(","))) for at in one.split()]) for one in ends
            ]
            assert lines
            for (a, b), (c, d) in combinations(lines, 2):
                is_apart = _side(a, b, c) == _side(a, b, d) or _side(c, d, a) == _side(c, d, b)
                assert is_apart, (name, a, b, c, d)


def _outside(pointer: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """A pointer from where it leaves its mark, which may lie on another one."""
    (x0, y0), (x1, y1) = pointer
    share = 6 / math.dist((x0, y0), (x1, y1))
    return [(x0 + share * (x1 - x0), y0 + share * (y1 - y0)), (x1, y1)]


def _side(start: tuple[float, ...], end: tuple[float, ...], point: tuple[float, ...]) -> bool:
    """On which side of a line a point lies."""
    across, down = end[0] - start[0], end[1] - start[1]
    return across * (point[1] - start[1]) > down * (point[0] - start[0])


def test_quantities_stand_by_their_speed() -> None:
    """And each band holds its point."""
    rows = doubling_times.rows()
    assert [row.every.doubling for row in rows] == sorted(row.every.doubling for row in rows)
    assert {row.label for row in rows} == {label for _, label in doubling_times.QUANTITIES}
    for row in rows:
        for fit in (row.every, row.gpus):
            assert fit.fast < fit.doubling < fit.slow and fit.count >= 8
        assert row.gpus.count <= row.every.count


def test_shares_add_up_over_makers() -> None:
    """The last row is the mean of all makers, small ones included."""
    rows = published_shares.rows()
    *large, every = rows
    assert every.name == "all makers" and every.chips >= sum(row.chips for row in large)
    assert all(row.chips >= published_shares.LEAST for row in large)
    assert all(0 <= share <= 1 for row in rows for share in row.shares)
    for column in range(len(published_shares.COLUMNS)):
        assert (
            sum(row.shares[column] * row.chips for row in large)
            <= every.shares[column] * every.chips + 1e-9
        )
    assert len({row.name for row in rows}) == len(rows) <= len(vendor_ids()) + 1


@pytest.mark.parametrize(
    ("share", "fill"),
    [(1, "fb-c0"), (0.75, "fb-c0"), (0.5, "fb-c2"), (0.1, "fb-c4"), (0, "fb-hollow")],
)
def test_fills_go_in_steps(share: float, fill: str) -> None:
    assert published_shares._fill(share)[0] == fill


def test_marks_differ_without_colour() -> None:
    """Each group of families has an outline of its own, and every family a mark."""
    assert len({SHAPES[number] for number in scatter.MARKS}) == len(scatter.MARKS)
    named = [family for _, families in scatter.MARKS.values() for family in families]
    assert len(named) == len(set(named)) and set(named) <= {one.id for one in FAMILIES}
    assert scatter.mark_of("acme/one") == max(scatter.MARKS)
    assert scatter.mark_of("nvidia/h100-sxm") == 0
    plain, with_hollow = scatter.legend(10), scatter.legend(10, hollow="x")
    assert len(plain) == 2 * len(scatter.MARKS) < len(with_hollow)


def test_a_diagonal_has_its_ratio() -> None:
    """Its ends are on the frame, and y over x is the same at both.

    Outside of the frame there is none.
    """
    chart = Chart(ChartAxis("x", 1, 1e4), ChartAxis("y", 1, 1e4), (100, 0, 500, 400))
    (line, words) = scatter.diagonal(chart, 10, "ten")
    ends = [
        tuple(map(float, pair.split(",")))
        for pair in re.search(r'points="([^"]+)"', line)[1].split()
    ]  # type: ignore[index]
    assert ends == [(100, 300), (400, 0)] and ">ten<" in words and "rotate(-45)" in words
    assert scatter.diagonal(chart, 1e9, "far") == []


def test_names_stand_where_there_is_room() -> None:
    """The first name goes first, two of one place do not overlap, an unknown one is left out."""
    spots = by_id(scaleup_domains)
    one = spots["nvidia/h100-sxm"]
    crowd = [one._replace(x=2022 + n / 50) for n in range(40)]
    chart = Chart(ChartAxis("year", 2017, 2027, "", log=False), ChartAxis("chips", 1.5, 2e4, ""))
    assert len(scatter.marks(chart, [one], ["nvidia/h100-sxm", "acme/one"])) == 2
    assert len(scatter.marks(chart, [one], [])) == 1
    twins = [one, spots["nvidia/h200-sxm"]._replace(x=one.x, y=one.y), *crowd]
    drawn = scatter.marks(chart, twins, ["nvidia/h100-sxm", "nvidia/h200-sxm"])
    assert len(drawn) - len(twins) <= 2


def test_names_lose_their_maker() -> None:
    short = {item.entry.id: scatter.short(item) for item in items()}
    assert short["nvidia/groq-3-lpu"] == "Groq 3 LPU" and short["google/tpu-v6e"] == "TPU v6e"
    assert short["nvidia/h100-sxm"] == "H100" and short["nvidia/h20"] == "H20"
    assert all(short.values())


def test_thousands_have_a_comma_and_years_have_none() -> None:
    assert ChartAxis("chips", 1.5, 2e4, "").tick(10_000) == "10,000"
    assert ChartAxis("year", 2017, 2027, "", log=False).tick(2020) == "2020"
