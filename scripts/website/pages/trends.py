"""Accelerators over the years as pictures: peak, memory, bandwidth, links, and the memory wall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.drawing.scales import Room, Scale
from scripts.website.pages.growth import Growth, fitted
from scripts.website.pages.quantities import (
    QUANTITIES,
    RATIOS,
    Cell,
    Cells,
    Quantity,
    peak_id,
    value_of,
)

WIDTH, HEIGHT = 400, 290
LEFT, RIGHT, TOP, BOTTOM = 76, 18, 14, 30
LABELS = 7
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


class Product(NamedTuple):
    """What a picture needs of an entry; `group` is the number of its vendor's colour and shape."""

    id: str
    name: str
    href: str
    vendor: str
    group: int
    cells: Cells


class Point(NamedTuple):
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


def _known(name: str) -> Quantity:
    return next(q for q in QUANTITIES if q.id == name)


_INTENSITY = next(q for q in RATIOS if q.id == "intensity")
TRENDS = (
    Trend(
        "peak",
        "Peak, dense bf16 (fp16 where there is no bf16)",
        Quantity("peak", "peak", "FLOP/s"),
        "Sparse peaks and peaks of unstated sparsity are left out.",
    ),
    Trend("memory", "Memory", _known("memory")),
    Trend("memory_bandwidth", "Memory bandwidth", _known("memory_bandwidth")),
    Trend(
        "scaleup_bandwidth",
        "Scale-up bandwidth of a chip, one way",
        _known("scaleup_bandwidth"),
        "Figures for both ways together are halved; figures without a direction are left out.",
    ),
    Trend(
        "wall",
        "The memory wall: dense FLOP per byte of memory traffic",
        _INTENSITY,
        "The higher a point, the more arithmetic a chip must find for each byte that it reads.",
    ),
    Trend(
        "links",
        "The link wall: dense FLOP per byte of scale-up traffic",
        _INTENSITY,
        "The higher a point, the more arithmetic must hide each byte that goes to another chip.",
    ),
)
# What the chapter on the landscape fits too; the page of accelerators does not draw these.
MORE_TRENDS = (
    Trend("power", "Power of a chip", _known("power")),
    Trend("transistors", "Transistors", _known("transistors")),
    Trend("efficiency", "Dense FLOP per joule", next(q for q in RATIOS if q.id == "efficiency")),
)
_OVER = {"wall": "memory_bandwidth", "links": "scaleup_bandwidth", "efficiency": "power"}


def points(
    trend: Trend, products: Sequence[Product]
) -> tuple[list[Point], list[Product], list[Product]]:
    """The points of a picture; the products without a date; the products with a date and without a
    value.
    """
    found, undated, empty = [], [], []
    for product in products:
        year, value = value_of(product.cells, "date"), _value(trend, product.cells)
        if year is None:
            undated.append(product)
        elif value is None:
            empty.append(product)
        else:
            found.append(Point(product, year, value, _marks(trend, product.cells)))
    return sorted(found, key=lambda p: (p.year, p.value)), undated, empty


def _parts(trend: Trend, cells: Cells) -> list[str]:
    """The quantities that a picture's value is made of."""
    if trend.id not in ("peak", *_OVER):
        return [trend.quantity.id]
    peak = next((name for name in DENSE if value_of(cells, name) is not None), DENSE[0])
    return [peak, _OVER[trend.id]] if trend.id in _OVER else [peak]


def _value(trend: Trend, cells: Cells) -> float | None:
    values = [value_of(cells, name) for name in _parts(trend, cells)]
    if not all(values):
        return None
    first, *rest = [value for value in values if value is not None]
    return first / rest[0] if rest else first


def _marks(trend: Trend, cells: Cells) -> tuple[str, ...]:
    found = [cells[name] for name in _parts(trend, cells)]
    marks = [mark for cell in found if isinstance(cell, Cell) for mark in cell.marks]
    return tuple(dict.fromkeys(m for m in marks if m in ("estimated", "reported")))


def growth(found: Sequence[Point]) -> Growth | None:
    """The growth of a picture's points; None for too few of them."""
    return fitted([(p.year, p.value) for p in found])


def figure(trend: Trend, products: Sequence[Product]) -> str:
    """One picture with its caption, or a sentence where there is nothing to draw."""
    found, undated, empty = points(trend, products)
    if not found:
        return f'<p class="fb-note">{escape(trend.title)}: no dated chip has a value yet.</p>'
    x, y = _scales(found)
    fit = growth(found)
    label = (
        f"{trend.title}: {len(found)} chips from {found[0].year:.0f} to {found[-1].year:.0f}, "
        + _range(trend, found)
    )
    parts = [
        f'<figure class="fb-figure fb-trend" id="trend-{trend.id}"><h3>{escape(trend.title)}</h3>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="fb-svg" role="group" aria-label="{escape(label)}">',
        *_grid(trend, x, y),
        *([_line(fit, x, y)] if fit else []),
        *(_mark(trend, point, x, y) for point in found),
        *_labels(found, x, y),
        "</svg>",
        f"<figcaption>{escape(_caption(trend, found, fit))}{_left_out(undated, empty)}</figcaption></figure>",
    ]
    return "".join(parts)


def _scales(found: Sequence[Point]) -> tuple[Scale, Scale]:
    years, values = [p.year for p in found], [p.value for p in found]
    x = Scale(math.floor(min(years)), math.floor(max(years)) + 1, LEFT, WIDTH - RIGHT, log=False)
    return x, Scale(min(values) / 1.5, max(values) * 1.7, HEIGHT - BOTTOM, TOP)


def _range(trend: Trend, found: Sequence[Point]) -> str:
    low, high = min(p.value for p in found), max(p.value for p in found)
    return f"{trend.quantity.words(low)} to {trend.quantity.words(high)}"


def _caption(trend: Trend, found: Sequence[Point], fit: Growth | None) -> str:
    said = f"{len(found)} chips, {_range(trend, found)}, logarithmic. "
    if fit:
        factor = fit.factor
        double = f", doubling in {fit.doubling:.1f} years" if factor > 1.05 else ""
        said += f"Dashed: {factor:.2f} times a year{double} (least squares through all points). "
    return said + trend.remark


def _left_out(undated: Sequence[Product], empty: Sequence[Product]) -> str:
    reasons = [("no such value", empty), ("no date", undated)]
    count = len(undated) + len(empty)
    if not count:
        return ""
    lists = "; ".join(
        f"{reason}: {', '.join(escape(p.name) for p in group)}"
        for reason, group in reasons
        if group
    )
    return f"<details><summary>{count} left out</summary>{lists}</details>"


def _grid(trend: Trend, x: Scale, y: Scale) -> list[str]:
    lines = []
    for year in x.ticks():
        at = x.at(year)
        lines.append(f'<path class="fb-grid" d="M{at} {y.end}V{y.start}"/>')
        lines.append(
            f'<text class="fb-tick" x="{at}" y="{y.start + 18}" text-anchor="middle">{year:.0f}</text>'
        )
    for value in y.ticks():
        at = y.at(value)
        lines.append(f'<path class="fb-grid" d="M{x.start} {at}H{x.end}"/>')
        label = escape(trend.quantity.words(value))
        lines.append(
            f'<text class="fb-tick" x="{x.start - 5}" y="{at + 4}" text-anchor="end">{label}</text>'
        )
    return lines


def _line(fit: Growth, x: Scale, y: Scale) -> str:
    """The fitted line, clipped to the frame."""
    factor, start = fit.factor, fit.start
    ends = [(year, start * factor ** (year - 2000)) for year in (x.low, x.high)]
    (x1, v1), (x2, v2) = (_clip(end, fit, y) for end in ends)
    return f'<path class="fb-fit" d="M{x.at(x1)} {y.at(v1)}L{x.at(x2)} {y.at(v2)}"/>'


def _clip(end: tuple[float, float], fit: Growth, y: Scale) -> tuple[float, float]:
    value = min(max(end[1], y.low), y.high)
    if value == end[1] or fit.factor == 1:
        return end[0], value
    return 2000 + math.log(value / fit.start) / math.log(fit.factor), value


def _mark(trend: Trend, point: Point, x: Scale, y: Scale) -> str:
    product = point.product
    when = product.cells["date"]
    dated = (
        when.kind + (" (launch)" if "launch" in when.marks else "")
        if isinstance(when, Cell)
        else ""
    )
    said = ", ".join([product.name, trend.quantity.words(point.value), *point.marks, dated])
    hollow = " fb-hollow" if point.marks else ""
    return (
        f'<a href="{escape(product.href)}" class="fb-v{product.group}{hollow}" data-id="{escape(product.id)}" '
        f'aria-label="{escape(said)}">'
        f'<path transform="translate({x.at(point.year)} {y.at(point.value)})" d="{SHAPES[product.group]}"/>'
        f"<title>{escape(said)}</title></a>"
    )


def _labels(found: Sequence[Point], x: Scale, y: Scale) -> list[str]:
    """Names of the products that were the highest of their time, as far as there is room; the
    newest first.
    """
    room = Room((x.start, y.end - 8, x.end, y.start))
    room.block((x.at(p.year), y.at(p.value)) for p in found)
    lines: list[str] = []
    for point in reversed(records(found)):
        name = short_name(point.product)
        place = room.place(name, x.at(point.year), y.at(point.value))
        if place and len(lines) < LABELS:
            lines.append(
                f'<text class="fb-label" x="{place[0]}" y="{place[1]}" text-anchor="{place[2]}">{escape(name)}</text>'
            )
    return lines


def records(found: Sequence[Point]) -> list[Point]:
    """Points higher than all before them; estimates set no record."""
    best, kept = 0.0, []
    for point in found:
        if point.value > best and not point.marks:
            best = point.value
            kept.append(point)
    return kept


def short_name(product: Product) -> str:
    """A product's name without its vendor."""
    words = product.name.split()
    if len(words) > 1 and words[0].lower() in (
        product.vendor.lower(),
        product.id.partition("/")[0],
    ):
        words = words[1:]
    return " ".join(words)


def legend(groups: Mapping[int, str]) -> str:
    """Which colour and shape is whose."""
    items = "".join(
        f'<li class="fb-v{group}"><svg viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true">'
        f'<path d="{SHAPES[group]}"/></svg> {escape(name)}</li>'
        for group, name in groups.items()
    )
    return f'<ul class="fb-legend">{items}<li class="fb-hollow-note">hollow: estimated or reported</li></ul>'


def section(products: Sequence[Product], groups: Mapping[int, str]) -> str:
    """All pictures."""
    return (
        legend(groups)
        + '<div class="fb-trends">'
        + "".join(figure(t, products) for t in TRENDS)
        + "</div>"
    )
