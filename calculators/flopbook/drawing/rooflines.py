"""The roofline of a chip as SVG: attainable rate against arithmetic intensity, both logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from flopbook.drawing.frame import Frame, PlotAxis, powers_of_ten, ticks_of
from flopbook.drawing.markup import escape
from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.rooflines import peaks
from flopbook.quantities.units import format_quantity

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 74, 28, 18, 46
LOW_X, HIGH_X = 1.0, 1e4  # FLOP per byte
_ABOVE, _BELOW = -6, 14  # from a roof to the foot of its label
_LABEL_HEIGHT = 12


@dataclass(frozen=True, slots=True)
class PeakLine:
    """A flat roof: the formats that share it, and their peak (FLOP/s)."""

    dtype: str
    peak: float
    sparsity: str


def peak_lines(chip: Chip) -> list[PeakLine]:
    """The peaks that are drawn; formats with the same peak and sparsity share a line and label."""
    dtypes: dict[tuple[float, str], list[str]] = {}
    for peak in peaks(chip):
        dtypes.setdefault((peak.value, peak.claim.sparsity), []).append(peak.claim.dtype)
    return [
        PeakLine(" and ".join(names), peak, sparsity) for (peak, sparsity), names in dtypes.items()
    ]


class Roofline(NamedTuple):
    """The picture of a chip's roofline: its axes and its shapes, coloured by classes."""

    frame: Frame
    parts: tuple[str, ...]


def roofline(chip: Chip) -> Roofline:
    """The roofs of a chip over its memory bandwidth.

    Raises FlopbookError when the chip has no bandwidth or no peak.
    """
    bandwidth = chip.memory_bandwidth()
    lines = peak_lines(chip)
    if not lines:
        raise FlopbookError(f"{chip.id} has no matrix peak to draw")
    lowest_peak, highest_peak = min(line.peak for line in lines), max(line.peak for line in lines)
    # Every ridge is in the picture: a slow format of a chip with much bandwidth lies below 1.
    low = min(LOW_X, 10.0 ** math.floor(math.log10(lowest_peak / bandwidth)))
    frame = roofline_frame((low, HIGH_X), (min(bandwidth * low, lowest_peak) / 2, highest_peak * 2))
    feet = _label_feet(lines, bandwidth, frame)
    roofs = (_roof(line, bandwidth, frame, foot) for line, foot in zip(lines, feet, strict=True))
    slope = _slope(bandwidth, highest_peak, frame)
    return Roofline(frame, (*frame.grid(), *roofs, slope, *frame.titles()))


def _slope(bandwidth: float, highest_peak: float, frame: Frame) -> str:
    """The part of all roofs where memory is the limit, in the colour of bytes."""
    start = frame.at(frame.x.low, bandwidth * frame.x.low)
    end = frame.at(highest_peak / bandwidth, highest_peak)
    return f'<path class="fb-slope" d="M{start[0]} {start[1]}L{end[0]} {end[1]}"/>'


def described(line: PeakLine, bandwidth: float) -> str:
    """A roof in words: its peak, and where it begins."""
    return (
        f"{line.dtype} {line.sparsity} peak {format_quantity(line.peak, 'FLOP/s')}, "
        f"ridge at {ridge_words(line.peak / bandwidth)} FLOP/byte"
    )


def ridge_words(ridge: float) -> str:
    """A ridge (FLOP/byte) as pictures write it: whole, and two digits of one below 1."""
    return f"{ridge:,.0f}" if ridge >= 1 else f"{ridge:.2g}"


def roofline_frame(intensities: tuple[float, float], rates: tuple[float, float]) -> Frame:
    """The axes of a roofline between the ends of its intensities (FLOP/byte) and rates (FLOP/s)."""
    x = Scale(*intensities, LEFT, WIDTH - RIGHT)
    y = Scale(*rates, HEIGHT - BOTTOM, TOP)
    return Frame(
        PlotAxis(x, ticks_of(powers_of_ten(x), plain_power), "arithmetic intensity, FLOP/byte"),
        PlotAxis(y, ticks_of(powers_of_ten(y), bare_rate), "attainable FLOP/s"),
    )


def plain_power(value: float) -> str:
    """A power of ten in plain digits, such as 1,000 or 0.1."""
    return f"{value:,.12g}"


def bare_rate(rate: float) -> str:
    """A rate with its prefix and without FLOP/s, which the title of the axis says: 100 T."""
    return format_quantity(rate, "FLOP/s").replace("FLOP/s", "").strip()


def _label_feet(lines: list[PeakLine], bandwidth: float, frame: Frame) -> list[float]:
    """The height of each label: above its roof, or below it where another label is in the way."""
    feet: dict[int, float] = {}
    for number in sorted(range(len(lines)), key=lambda number: -lines[number].peak):
        peak = lines[number].peak
        y = frame.at(peak / bandwidth, peak)[1]
        is_free = all(abs(y + _ABOVE - taken) >= _LABEL_HEIGHT for taken in feet.values())
        feet[number] = round(y + (_ABOVE if is_free else _BELOW), 1)
    return [feet[number] for number in range(len(lines))]


def _roof(line: PeakLine, bandwidth: float, frame: Frame, foot: float) -> str:
    """One roof, a mark at its ridge, and its label at the end of the line."""
    ridge = line.peak / bandwidth
    x, y = frame.at(ridge, line.peak)
    label = escape(f"{line.dtype} {line.sparsity}, ridge {ridge_words(ridge)}")
    return (
        f'<polyline class="fb-roof" points="{frame.roof(frame.x.low, line.peak, bandwidth)}"/>'
        f'<circle class="fb-ridge" cx="{x}" cy="{y}" r="4">'
        f"<title>{label} FLOP/byte</title></circle>"
        f'<text class="fb-label" x="{frame.x.end - 4}" y="{foot}" text-anchor="end">{label}</text>'
    )
