"""The roofline of a chip as SVG: attainable rate against arithmetic intensity, both logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flopbook.drawing.markup import escape, slug
from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.rooflines import peaks
from flopbook.quantities.units import format_quantity

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 74, 28, 18, 46
LOW_X, HIGH_X = 1.0, 1e4  # FLOP per byte


@dataclass(frozen=True, slots=True)
class Roof:
    """One number format's flat roof."""

    dtype: str
    peak: float
    sparsity: str


def roofs(chip: Chip) -> list[Roof]:
    """The peaks that are drawn; formats with the same peak share a line."""
    return _merged([Roof(one.claim.dtype, one.value, one.claim.sparsity) for one in peaks(chip)])


def _merged(found: list[Roof]) -> list[Roof]:
    """Formats with the same peak share one line and one label."""
    named: dict[tuple[float, str], list[str]] = {}
    for roof in found:
        named.setdefault((roof.peak, roof.sparsity), []).append(roof.dtype)
    return [Roof(" and ".join(names), peak, sparsity) for (peak, sparsity), names in named.items()]


def roofline_svg(chip: Chip, origin: str = "") -> str:
    """The picture with title and description; colours come from CSS variables, so that it fits
    light and dark.

    `origin` is HTML that ends the caption. Raises FlopbookError when the chip has no bandwidth or
    no peak.
    """
    bandwidth = chip.memory_bandwidth()
    lines = roofs(chip)
    if not lines:
        raise FlopbookError(f"{chip.id} has no matrix peak to draw")
    top = max(roof.peak for roof in lines) * 2
    low_y = min(bandwidth * LOW_X, min(roof.peak for roof in lines)) / 2
    x = Scale(LOW_X, HIGH_X, LEFT, WIDTH - RIGHT)
    y = Scale(low_y, top, HEIGHT - BOTTOM, TOP)
    described = "; ".join(
        f"{roof.dtype} {roof.sparsity} peak {format_quantity(roof.peak, 'FLOP/s')}, "
        f"ridge at {roof.peak / bandwidth:,.0f} FLOP/byte"
        for roof in lines
    )
    name = f"Roofline of {chip.name}"
    parts = [
        f'<figure class="fb-figure" id="fig-roofline-{slug(chip.id)}">'
        f'<div class="fb-wide" tabindex="0" role="group" aria-label="{escape(name)}">'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(name)}: '
        f'memory bandwidth {escape(format_quantity(bandwidth, "byte/s"))}; {escape(described)}" class="fb-svg">',
        *grid(x, y),
        *(_roof(roof, bandwidth, x, y) for roof in lines),
        *axes(),
        "</svg></div>",
        f"<figcaption>{escape(name)}. The slope is memory bandwidth, {escape(format_quantity(bandwidth, 'byte/s'))}; "
        f"left of a ridge the chip waits for memory. {escape(described)}.{f' {origin}' if origin else ''}"
        "</figcaption></figure>",
    ]
    return "".join(parts)


def axes() -> list[str]:
    """What the axes are."""
    return [
        f'<text class="fb-axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        "arithmetic intensity, FLOP/byte</text>",
        f'<text class="fb-axis" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        'text-anchor="middle">attainable FLOP/s</text>',
    ]


def grid(x: Scale, y: Scale) -> list[str]:
    """Lines and labels at the powers of ten of both axes."""
    lines = []
    for power in range(math.ceil(math.log10(x.low)), math.floor(math.log10(x.high)) + 1):
        at = x.at(10.0**power)
        lines.append(f'<line class="fb-grid" x1="{at}" x2="{at}" y1="{y.end}" y2="{y.start}"/>')
        lines.append(
            f'<text class="fb-tick" x="{at}" y="{y.start + 16}" text-anchor="middle">{10.0**power:,.12g}</text>'
        )
    for power in range(math.ceil(math.log10(y.low)), math.floor(math.log10(y.high)) + 1):
        at = y.at(10.0**power)
        label = format_quantity(10.0**power, "FLOP/s").replace("FLOP/s", "").strip()
        lines.append(f'<line class="fb-grid" x1="{x.start}" x2="{x.end}" y1="{at}" y2="{at}"/>')
        lines.append(
            f'<text class="fb-tick" x="{x.start - 6}" y="{at + 4}" text-anchor="end">{label}</text>'
        )
    return lines


def _roof(roof: Roof, bandwidth: float, x: Scale, y: Scale) -> str:
    ridge = roof.peak / bandwidth
    points = f"{x.at(x.low)},{y.at(bandwidth * x.low)} {x.at(ridge)},{y.at(roof.peak)} {x.at(x.high)},{y.at(roof.peak)}"
    label = f"{roof.dtype} {roof.sparsity}, ridge {ridge:,.0f}"
    return (
        f'<polyline class="fb-roof" points="{points}"/>'
        f'<circle class="fb-ridge" cx="{x.at(ridge)}" cy="{y.at(roof.peak)}" r="4">'
        f"<title>{escape(label)} FLOP/byte</title></circle>"
        f'<text class="fb-label" x="{x.end - 4}" y="{y.at(roof.peak) - 6}" text-anchor="end">{escape(label)}</text>'
    )
