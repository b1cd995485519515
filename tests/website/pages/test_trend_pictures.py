"""Pictures over the years.

Which chips are drawn, where, what is said of those left out, and the fitted line.
"""

from __future__ import annotations

import re

import pytest

from flopbook.data.claims import Claim
from flopbook.hardware.picked import Picked
from scripts.website.pages.quantities import Cells, peak_id
from scripts.website.pages.trends import (
    MORE_TRENDS,
    SHAPES,
    TRENDS,
    Product,
    TrendPoint,
    figure,
    growth,
    legend,
    points,
    records,
    section,
    short_name,
)
from tests.support.samples import READ

CLAIM = Claim("memory", 1.0, "acme2026one", READ)
BF16, FP16 = peak_id("bf16", "tensor", "dense"), peak_id("fp16", "tensor", "dense")
NAMED = {trend.id: trend for trend in TRENDS}


def chip(
    name: str,
    year: float | None = 2020.5,
    group: int = 0,
    marks: tuple[str, ...] = (),
    **values: float,
) -> Product:
    cells: Cells = {
        key.replace("__", ":"): Picked(value, "1", CLAIM, marks) for key, value in values.items()
    }
    if year is not None:
        cells["date"] = Picked(year, "year", CLAIM, (), f"{int(year)}")
    return Product(f"acme/{name}", f"Acme {name}", f"acme/{name}/", "Acme", group, cells)


def with_peak(product: Product, **peaks: float) -> Product:
    ids = {
        "bf16": BF16,
        "fp16": FP16,
        "sparse": peak_id("bf16", "tensor", "2:4"),
        "fp8": peak_id("fp8", "tensor", "dense"),
    }
    return product._replace(
        cells=product.cells
        | {ids[name]: Picked(value, "1", CLAIM) for name, value in peaks.items()}
    )


def test_chips_without_a_date_or_a_value_are_left_out_and_named() -> None:
    products = [chip("one", memory=1e9), chip("two", year=None, memory=2e9), chip("three")]
    drawn, undated, empty = points(NAMED["memory"], products)
    assert [p.product.id for p in drawn] == ["acme/one"]
    assert [p.id for p in undated] == ["acme/two"] and [p.id for p in empty] == ["acme/three"]
    picture = figure(NAMED["memory"], products)
    assert "2 left out" in picture and "no such value: Acme three; no date: Acme two" in picture


def test_the_peak_is_dense_bf16_else_dense_fp16_and_never_sparse() -> None:
    products = [
        with_peak(chip("both"), bf16=2e14, fp16=1e14),
        with_peak(chip("old"), fp16=3e13),
        with_peak(chip("sparse"), sparse=9e14),
        with_peak(chip("eight"), fp8=8e14),
    ]
    drawn, _, empty = points(NAMED["peak"], products)
    assert {p.product.id: p.value for p in drawn} == {"acme/both": 2e14, "acme/old": 3e13}
    assert {p.id for p in empty} == {"acme/sparse", "acme/eight"}


def test_the_walls_are_ratios() -> None:
    product = with_peak(chip("one", memory_bandwidth=2e12, scaleup_bandwidth=5e11), bf16=1e15)
    for name, value in (("wall", 500), ("links", 2000)):
        (point,), _, _ = points(NAMED[name], [product])
        assert point.value == value


def test_work_for_a_joule_is_peak_over_power() -> None:
    """A chip without one of the two is left out; an estimated power makes an estimated ratio."""
    named = {trend.id: trend for trend in MORE_TRENDS}
    products = [
        with_peak(chip("one", power=500.0, marks=("estimated",)), bf16=1e15),
        with_peak(chip("two"), bf16=1e15),
        chip("three", power=300.0),
    ]
    drawn, _, empty = points(named["efficiency"], products)
    assert [(p.product.id, p.value, p.marks) for p in drawn] == [("acme/one", 2e12, ("estimated",))]
    assert {p.id for p in empty} == {"acme/two", "acme/three"}
    assert {"power", "transistors"} < {*named} and not {*named} & {*NAMED}, (
        "no picture is drawn twice"
    )


def test_estimates_are_hollow_set_no_record_and_say_so() -> None:
    products = [
        chip("a", 2020, memory=1e9),
        chip("b", 2021, memory=9e9, marks=("estimated",)),
        chip("c", 2022, memory=2e9),
    ]
    drawn, _, _ = points(NAMED["memory"], products)
    assert [p.product.id for p in records(drawn)] == ["acme/a", "acme/c"]
    picture = figure(NAMED["memory"], products)
    assert picture.count("fb-hollow") == 1 and "Acme b, 9 GB, estimated, 2021" in picture


def test_growth_finds_a_known_rate() -> None:
    drawn = [TrendPoint(chip(str(n)), 2014 + n, 3.0 * 1.5**n, ()) for n in range(10)]
    fit = growth(drawn)
    assert fit is not None
    assert fit.factor == pytest.approx(1.5) and fit.start == pytest.approx(3.0 / 1.5**14)


def test_growth_needs_enough_points_over_enough_years() -> None:
    assert growth([TrendPoint(chip(str(n)), 2014 + n, 2.0, ()) for n in range(7)]) is None
    assert growth([TrendPoint(chip(str(n)), 2020 + n / 10, 2.0, ()) for n in range(20)]) is None


def test_the_caption_tells_the_rate() -> None:
    products = [chip(f"n{n}", 2014.5 + n, memory=1e9 * 2**n) for n in range(10)]
    picture = figure(NAMED["memory"], products)
    assert "2.00 times a year, doubling in 1.0 years" in picture and "fb-fit" in picture
    flat = figure(NAMED["memory"], [chip(f"n{n}", 2014.5 + n, memory=1e9) for n in range(10)])
    assert "doubling" not in flat


def test_points_are_links_with_names_inside_the_picture() -> None:
    products = [chip(f"n{n}", 2014.5 + n, group=n % 8, memory=1e9 * 2**n) for n in range(10)]
    picture = figure(NAMED["memory"], products)
    assert picture.count("<a ") == 10 and picture.count("aria-label") == 11
    for x, y in re.findall(r"translate\(([-\d.]+) ([-\d.]+)\)", picture):
        assert 0 <= float(x) <= 400 and 0 <= float(y) <= 290
    for number in range(8):
        assert SHAPES[number] in picture and f"fb-v{number}" in picture


def test_the_fitted_line_stays_inside_the_frame() -> None:
    products = [chip(f"n{n}", 2014.5 + n, memory=1e9 * 3**n) for n in range(10)]
    (ends,) = re.findall(
        r'fb-fit" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', figure(NAMED["memory"], products)
    )
    x1, y1, x2, y2 = map(float, ends)
    assert 76 <= x1 < x2 <= 382 and 14 <= y2 < y1 <= 260


def test_nothing_to_draw_is_said() -> None:
    assert "no dated chip has a value yet" in figure(
        NAMED["memory"], [chip("one", None, memory=1e9)]
    )
    assert section([], {}).count("no dated chip") == len(TRENDS)


def test_names_lose_their_vendor_and_are_escaped() -> None:
    assert short_name(chip("X1")) == "X1"
    product = chip("<i>", memory=1e9)
    assert "<i>" not in figure(NAMED["memory"], [product])
    assert "&lt;i&gt;" in legend({0: "<i>"})


def test_the_heading_is_the_finding_where_growth_could_be_fitted() -> None:
    """Memory that triples each year, in ten chips; one chip alone tells no growth."""
    products = [chip(f"n{n}", 2014.5 + n, memory=1e9 * 3**n) for n in range(10)]
    assert "<h3>Memory grows 3.00 times a year</h3>" in figure(NAMED["memory"], products)
    assert "<h3>Memory</h3>" in figure(NAMED["memory"], products[:1])
    assert all("{factor" in trend.finding for trend in TRENDS)
