"""How large a share of published runs a factor around their prediction holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flopbook.prediction.bands import band_of
from flopbook.prediction.fits import COVERAGE
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import Comparison
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.figures.predicted_runs import KIND
from scripts.website.pages.predicted import CHECK, FIT, sound_lines
from scripts.website.pages.prediction_checks import covering_factor

END = 2.0  # the factor that ends the picture


def factors(lines: Sequence[Comparison]) -> list[float]:
    """The factor, up or down, that each run is off by (1), the smallest first."""
    return sorted(math.exp(abs(math.log1p(line.error))) for line in lines)


def held(found: Sequence[float], factor: float) -> float:
    """The share of runs that are off by no more than a factor."""
    return sum(each <= factor for each in found) / len(found)


def figure() -> Figure:
    """One line for fitted runs and one for the others; dashed is the band of 80 %."""
    fitted, unseen = (factors(sound_lines(KIND, use)) for use in (FIT, CHECK))
    band = band_of(fitted_kinds()[KIND], "throughput")
    covering = covering_factor()
    inside = [100 * held(found, band) for found in (fitted, unseen)]
    chart = Chart(
        ChartAxis("factor up or down", 1, END, "", log=False, ticks=(1, 1.2, 1.4, 1.6, 1.8, 2)),
        ChartAxis("percent of the runs within it", 0, 100, "", log=False),
        (64, 14, 560, 290),
    )
    parts = [
        *chart.grid(),
        chart.upright(band, "the band of a run that states everything"),
        *chart.lines([("never fitted", _shares(unseen)), ("fitted", _shares(fitted))]),
    ]
    for share, kind in zip(inside, ("fb-c6", "fb-c0"), strict=True):
        parts.append(chart.dot(band, share, f"{share:.0f} % within {band:.2f}", kind))
        parts.append(chart.words((band, share), f"{share:.0f} %", "start", (8, 14)))
    within = f"{percent(COVERAGE)} within {covering:.2f}"
    parts.append(chart.dot(covering, 100 * COVERAGE, within))
    parts.append(chart.words((covering, 100 * COVERAGE), within, "start", (8, 14)))
    return Figure(
        f"A factor of {band:.2f} holds {inside[0]:.0f} % of the runs that were fitted and "
        f"{inside[1]:.0f} % of those that were not",
        f"Share of runs predicted within a factor: {len(fitted)} that were fitted and "
        f"{len(unseen)} that never were. Of the latter {percent(COVERAGE)} are within "
        f"{covering:.2f}.",
        "Runs that people published, by how far their throughput lies above or below the "
        "prediction. Dashed: the band of a run that states everything. The lower line shows what a "
        f"prediction is worth: for {percent(COVERAGE)} of its runs the factor would have to be "
        f"{covering:.2f}. Beyond {END:g} lie {sum(each > END for each in unseen)} of them.",
        336,
        tuple(parts),
        plots=(chart,),
    )


def _shares(found: Sequence[float]) -> list[Point]:
    """Factors with the percent of runs within them, in steps of one run, up to the last drawn."""
    return [(1.0, 0.0)] + [
        (factor, 100 * number / len(found))
        for number, factor in enumerate(found, start=1)
        if factor <= END
    ]
