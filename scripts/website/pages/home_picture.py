"""The picture of the first page: a roofline on which a script moves the number of requests.

`home/picture.js` draws on the same scales; without it the picture stands still.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, link
from scripts.website.pages.sources import html_link

_PAGE = "index.md"
_WIDTH, _HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 14, 18, 40
_X, _Y = (1.0, 4096.0), (1e12, 2e15)  # requests at once; FLOP/s
_SHOWN_BATCH = 16


def picture() -> Html:
    """The roofline of a chip with the rate of decoding at a number of requests."""
    subject = chip("h100-sxm")
    peak, bandwidth = subject.peak("bf16"), subject.memory_bandwidth()
    ridge = peak / bandwidth
    title = f"An H100 waits for its memory until about {float(f'{ridge:.1g}'):,.0f} requests share"
    source = Html(
        "{} of dense bf16 and {} of {}. A request does one FLOP for each byte of weights read, so "
        "the number of requests is the arithmetic intensity; the KV cache is left out. {}"
    ).format(
        format_quantity(peak, "FLOP/s"),
        format_quantity(bandwidth, "byte/s"),
        link(subject.name, html_link(_PAGE, f"accelerators/{subject.id}.md")),
        link("Rooflines in 15 minutes", html_link(_PAGE, "handbook/roofline.md")),
    )
    return Html(
        '<figure class="fb-card fb-living" data-peak="{}" data-bandwidth="{}">\n'
        "<p><strong>{} each read of the weights</strong></p>\n{}\n"
        '<p class="fb-slide-row" hidden><label for="fb-batch">Requests at once</label> '
        '<input id="fb-batch" type="range" min="0" max="12" step="0.05" value="4">'
        ' <output for="fb-batch">{}</output></p>\n'
        '<figcaption class="fb-fine">{}</figcaption>\n</figure>'
    ).format(peak, bandwidth, title, _roofline(peak, bandwidth), _said(peak, bandwidth), source)


def _said(peak: float, bandwidth: float) -> str:
    share = 100 * min(1.0, _SHOWN_BATCH * bandwidth / peak)
    return f"{_SHOWN_BATCH} · {share:.0f} % of peak"


def _x(batch: float) -> float:
    return _place(batch, _X, _LEFT, _WIDTH - _RIGHT)


def _y(rate: float) -> float:
    return _place(rate, _Y, _HEIGHT - _BOTTOM, _TOP)


def _place(amount: float, ends: tuple[float, float], start: float, end: float) -> float:
    share = math.log(amount / ends[0]) / math.log(ends[1] / ends[0])
    return round(start + share * (end - start), 1)


def _roofline(peak: float, bandwidth: float) -> Html:
    ridge = peak / bandwidth
    left, right, floor = _x(_X[0]), _x(_X[1]), _HEIGHT - _BOTTOM
    rate = min(peak, _SHOWN_BATCH * bandwidth)
    ticks = Html().join((*_upright(floor), *_level(left, right)))
    label = (
        f"Attainable rate against requests at once: it rises with memory bandwidth to "
        f"{format_quantity(peak, 'FLOP/s')} at {ridge:,.0f} requests and stays there"
    )
    return Html(
        '<svg viewBox="0 0 {w} {h}" class="fb-svg" role="img" aria-label="{label}">{ticks}'
        '<path class="fb-slope" d="M{x0} {y0}L{xr} {yr}"/>'
        '<path class="fb-flat" d="M{xr} {yr}L{x1} {yr}"/>'
        '<text class="fb-of-byte" x="{xm}" y="{ym}" text-anchor="end">waits for memory</text>'
        '<text class="fb-of-flop" x="{x1}" y="{yl}" text-anchor="end">waits for arithmetic</text>'
        '<path class="fb-drop fb-dashed" d="M{bx} {by}V{floor}"/>'
        '<circle class="fb-point" cx="{bx}" cy="{by}" r="7"/></svg>'
    ).format(
        w=_WIDTH,
        h=_HEIGHT,
        label=label,
        ticks=ticks,
        x0=left,
        y0=_y(bandwidth),
        xr=_x(ridge),
        yr=_y(peak),
        x1=right,
        xm=_x(20) - 8,
        ym=_y(20 * bandwidth) - 10,
        yl=_y(peak) - 8,
        bx=_x(_SHOWN_BATCH),
        by=_y(rate),
        floor=floor,
    )


def _upright(floor: float) -> Iterator[Html]:
    for batch in (1, 10, 100, 1000):
        yield Html(
            '<path class="fb-grid" d="M{0} {1}V{2}"/>'
            '<text class="fb-tick" x="{0}" y="{3}" text-anchor="middle">{4:,}</text>'
        ).format(_x(batch), _TOP, floor, floor + 17, batch)
    yield Html(
        '<text class="fb-tick" x="{}" y="{}" text-anchor="end">requests at once</text>'
    ).format(_WIDTH - _RIGHT, _HEIGHT - 6)


def _level(left: float, right: float) -> Iterator[Html]:
    for rate, words in ((1e12, "1 T"), (1e13, "10 T"), (1e14, "100 T"), (1e15, "1 P")):
        yield Html(
            '<path class="fb-grid" d="M{0} {2}H{1}"/>'
            '<text class="fb-tick" x="{3}" y="{4}" text-anchor="end">{5}</text>'
        ).format(left, right, _y(rate), left - 6, _y(rate) + 4, words)
    yield Html('<text class="fb-tick" x="{}" y="11">FLOP/s</text>').format(left)
