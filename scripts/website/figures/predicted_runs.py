"""Predicted over measured throughput of training runs, each point linked to its source."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.data.library import reference
from flopbook.data.measured_runs import run_files
from flopbook.prediction.bands import band_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import Comparison, summary_of
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, linked, tooltip, words
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.pages.predicted import CHECK, FIT, sound_lines
from scripts.website.pages.trends import SHAPES

KIND = "training_throughput"
_LOW, _HIGH = 0.25, 4.0
_MARKS = {FIT: 1, CHECK: 0}  # numbers of shape and colour
_NAMES = {CHECK: "never fitted", FIT: "fitted"}


def points() -> list[Comparison]:
    """Complete runs without a flag, those that were fitted first, so that others lie on top."""
    return [*sound_lines(KIND, FIT), *sound_lines(KIND, CHECK)]


def figure() -> Figure:
    """A point for each run; the shaded height is the 80 % band."""
    lines = points()
    rates = [_throughput(line) for line in lines]
    chart = Chart(
        ChartAxis("measured, tokens per second and chip", min(rates) / 1.3, max(rates) * 1.3, ""),
        ChartAxis("predicted over measured", _LOW, _HIGH, unit=""),
        (64, 14, 616, 330),
    )
    band = band_of(fitted_kinds()[KIND], "throughput")
    shapes = [*chart.grid(), chart.level(1, "fb-stroke", "as predicted")]
    shapes += [chart.level(band, name="80 % of all runs lie between"), chart.level(1 / band)]
    links = {
        name: source.source
        for file in run_files().values()
        for name, source in file.sources.items()
    }
    for line, rate in zip(lines, rates, strict=True):
        point = rate, _within(1 + line.error)
        style = f"fb-mark fb-c{_MARKS[line.case.row.use]}"
        chart.mark(point, _tip(line), style, _NAMES[line.case.row.use])
        shapes.append(_mark(line, chart.place(point), links))
    shapes += _legend(384)
    fitted, never_fitted = (_described(sound_lines(KIND, use)) for use in (FIT, CHECK))
    return Figure(
        f"Half of the training runs that no fit has seen are predicted within {never_fitted[0]}",
        f"Predicted over measured tokens per second of {len(lines)} training runs on logarithmic "
        f"axes. Runs that were fitted: median error {fitted[0]}, bias {fitted[1]}. Runs that were "
        f"never fitted: median error {never_fitted[0]}, bias {never_fitted[1]}.",
        f"{len(lines)} training runs, each point linked to its source; the dashed lines are the "
        "80 % band. Runs above one are slower than predicted.",
        398,
        tuple(shapes),
        plots=(chart,),
        role="group",
    )


def _throughput(line: Comparison) -> float:
    """Measured tokens per second and chip, whatever the row prints."""
    return line.case.measured


def _within(ratio: float) -> float:
    return min(max(ratio, _LOW), _HIGH)


def _described(lines: Sequence[Comparison]) -> tuple[str, str]:
    summary = summary_of(lines)
    return percent(summary["median"]), percent(summary["bias"], signed=True)


def _mark(line: Comparison, place: Point, links: dict[str, str]) -> str:
    row = line.case.row
    number = _MARKS[row.use]
    x, y = (round(coordinate, 1) for coordinate in place)
    shape = (
        f'<path class="fb-mark fb-c{number}" transform="translate({x:g} {y:g}) scale(.7)" '
        f'd="{SHAPES[number]}">{tooltip(_tip(line))}</path>'
    )
    return linked(shape, reference(links[row.publication]).link)


def _tip(line: Comparison) -> str:
    row = line.case.row
    return (
        f"{row.model.get('name', row.id)}, {row.hardware.get('n_chips', 1):,} x "
        f"{row.hardware['chip']}: {percent(line.error, signed=True)} ({row.id})"
    )


def _legend(top: float) -> list[str]:
    shapes = []
    for place, (use, name) in enumerate(_NAMES.items()):
        x, number = 72 + 140 * place, _MARKS[use]
        at = f"translate({round(x, 1):g} {round(top, 1):g})"
        shapes.append(f'<path class="fb-mark fb-c{number}" transform="{at}" d="{SHAPES[number]}"/>')
        shapes.append(words(x + 9, top + 4, name, "start"))
    return shapes
