"""Accelerators over the years as pictures: peak, memory, bandwidth, links, and the memory wall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.drawing.frame import Frame, PlotAxis, ticks_of
from flopbook.drawing.scales import Room, Scale
from flopbook.hardware.picked import Picked
from scripts.website.markup import Html, attribute, tag, trusted
from scripts.website.pages.growth import Growth, fitted
from scripts.website.pages.quantities import (
    ANNOUNCED,
    QUANTITIES,
    RATIOS,
    Cells,
    Quantity,
    peak_id,
    value_of,
)

# Of a picture and of the margins around its frame, in units of the view box.
WIDTH, HEIGHT = 400, 290
LEFT, RIGHT, TOP, BOTTOM = 76, 18, 14, 30
LABELS = 7  # more of them hide the points
# One outline for each colour, so that vendors differ without colour too; the last is for all
# others.
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6L4.4 3.4H-4.4z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.6L4.4-3.4H-4.4z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-5-2.2h10v4.4h-10z",
    "M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0",
)
DENSE = (peak_id("bf16", "tensor", "dense"), peak_id("fp16", "tensor", "dense"))
# Slower growth than this is none to speak of.
_GROWS_FROM = 1.05


class Product(NamedTuple):
    """What a picture needs of an entry; `group` is the number of its vendor's colour and shape."""

    id: str
    name: str
    href: str
    vendor: str
    group: int
    cells: Cells


class TrendPoint(NamedTuple):
    """A product at its year with a value; `marks` say what sort of value it is."""

    product: Product
    year: float
    value: float
    marks: tuple[str, ...]


class Trend(NamedTuple):
    """One picture."""

    id: str
    title: str
    quantity: Quantity
    remark: str = ""
    finding: str = ""  # the heading where a growth could be fitted


_QUANTITIES = {quantity.id: quantity for quantity in (*QUANTITIES, *RATIOS)}
TRENDS = (
    Trend(
        "peak",
        "Peak, dense bf16 (fp16 where there is no bf16)",
        Quantity("peak", "peak", "FLOP/s"),
        "Sparse peaks and peaks of unstated sparsity are left out.",
        "The dense bf16 peak, or fp16, grows {factor:.2f} times a year",
    ),
    Trend(
        "memory",
        "Memory",
        _QUANTITIES["memory"],
        finding="Memory grows {factor:.2f} times a year",
    ),
    Trend(
        "memory_bandwidth",
        "Memory bandwidth",
        _QUANTITIES["memory_bandwidth"],
        finding="Memory bandwidth grows {factor:.2f} times a year",
    ),
    Trend(
        "scaleup_bandwidth",
        "Scale-up bandwidth of a chip, one way",
        _QUANTITIES["scaleup_bandwidth"],
        "Figures for both ways together are halved; figures without a direction are left out.",
        "Scale-up bandwidth, one way, grows {factor:.2f} times a year",
    ),
    Trend(
        "wall",
        "The memory wall: dense FLOP per byte of memory traffic",
        _QUANTITIES["intensity"],
        "The higher a point, the more arithmetic a chip must find for each byte that it reads.",
        "The memory wall: FLOP per byte read grow {factor:.2f} times a year",
    ),
    Trend(
        "links",
        "The link wall: dense FLOP per byte of scale-up traffic",
        _QUANTITIES["intensity"],
        "The higher a point, the more arithmetic must hide each byte that goes to another chip.",
        "The link wall: FLOP per byte sent grow {factor:.2f} times a year",
    ),
)
# What the chapter on the landscape fits too; the page of accelerators does not draw these.
MORE_TRENDS = (
    Trend("power", "Power of a chip", _QUANTITIES["power"]),
    Trend("transistors", "Transistors", _QUANTITIES["transistors"]),
    Trend("efficiency", "Dense FLOP per joule", _QUANTITIES["efficiency"]),
)
# The quantity below the peak in a picture of a ratio.
_DIVISORS = {"wall": "memory_bandwidth", "links": "scaleup_bandwidth", "efficiency": "power"}


# Points.


def points(
    trend: Trend, products: Iterable[Product]
) -> tuple[list[TrendPoint], list[Product], list[Product]]:
    """The points of a picture; products without a date; products with a date but no value."""
    drawn, undated, empty = [], [], []
    for product in products:
        year, amount = value_of(product.cells, "date"), _value(trend, product.cells)
        if year is None:
            undated.append(product)
        elif amount is None:
            empty.append(product)
        else:
            drawn.append(TrendPoint(product, year, amount, _marks(trend, product.cells)))
    return sorted(drawn, key=lambda point: (point.year, point.value)), undated, empty


def _sources(trend: Trend, cells: Cells) -> list[str]:
    """The quantities of which a picture's value is made: one, or a peak and its divisor."""
    if trend.id not in ("peak", *_DIVISORS):
        return [trend.quantity.id]
    with_value = (name for name in DENSE if value_of(cells, name) is not None)
    peak = next(with_value, DENSE[0])
    if trend.id in _DIVISORS:
        return [peak, _DIVISORS[trend.id]]
    return [peak]


def _value(trend: Trend, cells: Cells) -> float | None:
    first, *divisors = (value_of(cells, name) for name in _sources(trend, cells))
    if not first or not all(divisors):
        return None
    for divisor in divisors:
        assert divisor is not None
        first /= divisor
    return first


def _marks(trend: Trend, cells: Cells) -> tuple[str, ...]:
    marks: dict[str, None] = {}  # a set that keeps its order
    for name in _sources(trend, cells):
        cell = cells[name]
        if isinstance(cell, Picked):
            marks |= dict.fromkeys(cell.notes)
    return tuple(mark for mark in marks if mark in ("estimated", "reported"))


def growth(drawn: Iterable[TrendPoint]) -> Growth | None:
    """The growth of a picture's points; None for too few of them."""
    return fitted([(point.year, point.value) for point in drawn])


def records(drawn: Iterable[TrendPoint]) -> list[TrendPoint]:
    """Points higher than all before them; estimates set no record."""
    highest, kept = 0.0, []
    for point in drawn:
        if point.value > highest and not point.marks:
            highest = point.value
            kept.append(point)
    return kept


# One picture.


def figure(trend: Trend, products: Sequence[Product]) -> Html:
    """One picture with its caption, or a sentence where there is nothing to draw."""
    drawn, undated, empty = points(trend, products)
    if not drawn:
        return tag("p", f"{trend.title}: no dated chip has a value yet.", "fb-note")
    frame = _frame(trend, drawn)
    fit = growth(drawn)
    first, last = drawn[0].year, drawn[-1].year
    label = (
        f"{trend.title}: {len(drawn)} chips from {first:.0f} to {last:.0f}, {_range(trend, drawn)}"
    )
    shapes = [trusted(shape) for shape in frame.grid()]
    if fit:
        shapes.append(_line(fit, frame))
    shapes += [_mark(trend, point, frame) for point in drawn]
    return Html(
        '<figure class="fb-figure fb-trend" id="trend-{id}"><h3>{title}</h3>'
        '<svg viewBox="0 0 {width} {height}" class="fb-svg" role="group" aria-label="{label}">'
        "{shapes}{labels}</svg>"
        "<figcaption>{caption}{left_out}</figcaption></figure>"
    ).format(
        id=attribute(trend.id),
        title=trend.finding.format(factor=fit.factor) if fit and trend.finding else trend.title,
        width=WIDTH,
        height=HEIGHT,
        label=label,
        shapes=Html().join(shapes),
        labels=Html().join(_labels(drawn, frame)),
        caption=_caption(trend, drawn, fit),
        left_out=_left_out(undated, empty),
    )


def _frame(trend: Trend, drawn: Sequence[TrendPoint]) -> Frame:
    years = [point.year for point in drawn]
    heights = [point.value for point in drawn]
    x = Scale(math.floor(min(years)), math.floor(max(years)) + 1, LEFT, WIDTH - RIGHT, log=False)
    # Some room below the lowest point, and more above the highest, where labels stand.
    y = Scale(min(heights) / 1.5, max(heights) * 1.7, HEIGHT - BOTTOM, TOP)
    # The heading above the picture says what it shows, so neither axis needs a title.
    across = PlotAxis(x, ticks_of(x.ticks(), "{:.0f}".format), "")
    return Frame(across, PlotAxis(y, ticks_of(y.ticks(), trend.quantity.words), ""), 18, 5)


def _range(trend: Trend, drawn: Sequence[TrendPoint]) -> str:
    heights = [point.value for point in drawn]
    return f"{trend.quantity.words(min(heights))} to {trend.quantity.words(max(heights))}"


def _caption(trend: Trend, drawn: Sequence[TrendPoint], fit: Growth | None) -> str:
    caption = f"{len(drawn)} chips, {_range(trend, drawn)}, logarithmic. "
    if fit:
        doubling = ""
        if fit.factor > _GROWS_FROM:
            doubling = f", doubling in {fit.doubling:.1f} years"
        caption += (
            f"Dashed: {fit.factor:.2f} times a year{doubling} (least squares through all points). "
        )
    return caption + trend.remark


def _left_out(undated: Sequence[Product], empty: Sequence[Product]) -> Html:
    """The products that are not drawn, with the reason, in a box that opens."""
    count = len(undated) + len(empty)
    if not count:
        return Html()
    reasons = []
    for reason, products in (("no such value", empty), ("no date", undated)):
        names = ", ".join(product.name for product in products)
        if names:
            reasons.append(f"{reason}: {names}")
    return Html("<details><summary>{} left out</summary>{}</details>").format(
        count, "; ".join(reasons)
    )


def _line(fit: Growth, frame: Frame) -> Html:
    """The fitted line, clipped to the frame."""
    start, stop = (_clipped(year, fit, frame.y) for year in (frame.x.low, frame.x.high))
    ends = (*frame.at(*start), *frame.at(*stop))
    return Html('<path class="fb-fit" d="M{} {}L{} {}"/>').format(*ends)


def _clipped(year: float, fit: Growth, y: Scale) -> tuple[float, float]:
    """The fitted line at a year; where it leaves the frame instead, when it does so before."""
    height = fit.start * fit.factor ** (year - 2000)
    in_frame = min(max(height, y.low), y.high)
    if in_frame == height or fit.factor == 1:
        return year, in_frame
    return 2000 + math.log(in_frame / fit.start) / math.log(fit.factor), in_frame


def _mark(trend: Trend, point: TrendPoint, frame: Frame) -> Html:
    product = point.product
    x, y = frame.at(point.year, point.value)
    words = [product.name, _point_words(trend, point), *point.marks, _date_words(product)]
    return Html(
        '<a href="{href}" class="fb-v{group}{hollow}" data-id="{id}" aria-label="{label}">'
        '<path transform="translate({x} {y})" d="{shape}"/><title>{label}</title></a>'
    ).format(
        href=attribute(product.href),
        group=product.group,
        hollow=" fb-hollow" if point.marks else "",
        id=product.id,
        label=", ".join(words),
        x=x,
        y=y,
        shape=SHAPES[product.group],
    )


def _point_words(trend: Trend, point: TrendPoint) -> str:
    """The value of a point; one that is no ratio as the chip's table shows it."""
    cell = point.product.cells.get(trend.quantity.id)
    if isinstance(cell, Picked):
        return trend.quantity.in_text(cell)
    return trend.quantity.words(point.value)


def _date_words(product: Product) -> str:
    date = product.cells["date"]
    if not isinstance(date, Picked):
        return ""
    if ANNOUNCED in date.notes:
        return f"{date.kind} ({ANNOUNCED})"
    return date.kind


def _labels(drawn: Sequence[TrendPoint], frame: Frame) -> list[Html]:
    """Names of products that were the highest of their time, as far as they fit; newest first."""
    x, y = frame.x, frame.y
    room = Room((x.start, y.end - 8, x.end, y.start))
    room.block(frame.at(point.year, point.value) for point in drawn)
    label = Html('<text class="fb-label" x="{}" y="{}" text-anchor="{}">{}</text>')
    labels: list[Html] = []
    for point in reversed(records(drawn)):
        name = short_name(point.product)
        place = room.place(name, *frame.at(point.year, point.value))
        if place and len(labels) < LABELS:
            labels.append(label.format(*place, name))
    return labels


def short_name(product: Product) -> str:
    """A product's name without its vendor."""
    first, *words = product.name.split()
    vendor_names = (product.vendor.lower(), product.id.partition("/")[0])
    if words and first.lower() in vendor_names:
        return " ".join(words)
    return " ".join([first, *words])


# All pictures.


def section(products: Sequence[Product], groups: Mapping[int, str]) -> Html:
    """All pictures."""
    figures = Html().join(figure(trend, products) for trend in TRENDS)
    return legend(groups) + Html('<div class="fb-trends">{}</div>').format(figures)


def legend(groups: Mapping[int, str]) -> Html:
    """Which colour and shape is whose."""
    entry = Html(
        '<li class="fb-v{}">'
        '<svg viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true"><path d="{}"/></svg>'
        " {}</li>"
    )
    entries = Html().join(
        entry.format(group, SHAPES[group], name) for group, name in groups.items()
    )
    return Html(
        '<ul class="fb-legend">{}<li class="fb-hollow-note">hollow: estimated or reported</li></ul>'
    ).format(entries)
