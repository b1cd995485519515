"""Predicted over measured throughput, small enough to stand in a chapter: no links, no tips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flopbook.prediction.bands import band_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import Comparison, summary_of
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, Sheet, words
from scripts.website.figures.plotted import ChartAxis, FigureValue, Point
from scripts.website.figures.predicted_runs import KIND
from scripts.website.figures.shapes import SHEET
from scripts.website.pages.predicted import CHECK, FIT, sound_lines

_RATIO = "predicted over measured"
_LOW, _HIGH = 0.25, 4.0
_LOOKS = ((FIT, "fitted", "fb-c5"), (CHECK, "never fitted", "fb-c0"))
_SIDE = 4  # pixels of a mark
_WIDE, _NARROW = (64.0, 14.0, 616.0, 250.0), (34.0, 24.0, SHEET - 10.0, 230.0)


def figure() -> Figure:
    """A small square for each run, one path for each kind; dashed is the band of 80 %."""
    named = {use: sound_lines(KIND, use) for use, _, _ in _LOOKS}
    band = band_of(fitted_kinds()[KIND], "throughput")
    unseen, seen = summary_of(named[CHECK]), summary_of(named[FIT])
    ratios = [1 + line.error for line in named[CHECK]]
    above, below = (
        sum(ratio > band for ratio in ratios),
        sum(ratio < 1 / band for ratio in ratios),
    )
    return Figure(
        "Half of the runs that no fit has seen are predicted within "
        f"{percent(unseen['median'])}, half of those fitted within {percent(seen['median'])}",
        f"Predicted over measured tokens per second against measured, logarithmic axes. Dashed: "
        f"a factor of {band:.2f} either way, the band of a run that states everything. Of "
        f"{len(ratios)} runs that were never fitted {above} are above it and {below} below. "
        f"{len(named[FIT])} runs were fitted.",
        "Each mark is a published training run. Above one it ran slower than predicted, below one "
        "faster. The blue marks show what a prediction is worth: "
        f"{percent(1 - (above + below) / len(ratios))} of them lie between the dashed lines.",
        306,
        tuple(_parts(named, band, _WIDE)),
        narrow=Sheet(SHEET, 286, tuple(_parts(named, band, _NARROW))),
        readings=tuple(
            FigureValue(f"{said}, predicted over measured", line.case.row.id, 1 + line.error)
            for use, said, _ in _LOOKS
            for line in named[use]
        ),
    )


def _parts(
    named: Mapping[str, Sequence[Comparison]], band: float, area: tuple[float, float, float, float]
) -> list[str]:
    """The chart in an area of the picture, with its legend below.

    On a phone the title of the upright axis stands above it.
    """
    is_narrow = area == _NARROW
    rates = [line.case.measured for lines in named.values() for line in lines]
    chart = Chart(
        ChartAxis("measured, tokens/s and chip", min(rates) / 1.3, max(rates) * 1.3, ""),
        ChartAxis("" if is_narrow else _RATIO, _LOW, _HIGH, unit=""),
        area,
    )
    grid = chart.grid()
    if is_narrow:
        grid[-1] = words(0, 10, _RATIO, "start", "fb-small")
    parts = [
        *grid,
        chart.level(1, "fb-stroke"),
        chart.level(band),
        chart.level(1 / band),
    ]
    for place, (use, words_of, look) in enumerate(_LOOKS):
        places = [
            chart.place((line.case.measured, min(max(1 + line.error, _LOW), _HIGH)))
            for line in named[use]
        ]
        parts.append(_squares(places, look))
        left, foot = area[0] + 110 * place, area[3] + 50
        parts += [_squares([(left, foot)], look), words(left + 8, foot + 4, words_of, "start")]
    return parts


def _squares(places: Sequence[Point], look: str) -> str:
    """One path with a square at each place."""
    half = _SIDE / 2
    drawn = (f"M{x - half:.0f} {y - half:.0f}h{_SIDE}v{_SIDE}h-{_SIDE}z" for x, y in places)
    return f'<path class="{look}" d="{"".join(drawn)}"/>'
