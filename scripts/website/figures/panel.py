"""The frame that every figure of the site stands in, and the files that go with it.

Above is what the figure says, below what it shows and where its values are from; a menu has its
files, its address and its code. `docs/assets/flopbook/chart.js` adds what needs a script: values
under the pointer and by keyboard, PNG, and the code that embeds it. Where a figure is narrow the
sheet for narrow screens takes its place, so that nothing is cropped and nothing scrolls.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from flopbook.data.sheets import csv_safe
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, svg
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.plotted import ChartAxis, FigureValue, Plotted
from scripts.website.figures.standalone import standalone
from scripts.website.markup import Html, attribute, link, trusted
from scripts.website.pages.sources import html_link

FILES = "assets/charts/"
_RECORD = re.compile(r'<figure class="fb-figure fb-chart[^"]*" id="([^"]+)" data-figure="([^"]+)"')
_KEYS = "Arrow keys read the values."
_MOST_PLAIN = 1e4  # years and what is like them have no comma
_LEAST_POINTS = 3  # of a line that `chart.js` reads


class FigurePlace(NamedTuple):
    """Where a figure stands: its page, its id there, the name of its code, and its call."""

    page: str
    anchor: str
    code: str
    call: str
    record: str


def panel(drawn: Figure, place: FigurePlace, source: Html) -> Html:
    """A figure with all that belongs to it, as a block of a page."""
    sheet = narrow_sheet(drawn)
    narrow = Html()
    if sheet is not None:
        picture = (
            f'<svg viewBox="0 0 {sheet.width:g} {sheet.height:g}" role="{drawn.role}" '
            f'class="fb-svg fb-drawn" aria-labelledby="{place.anchor}-t {place.anchor}-d">'
            f"{''.join(sheet.parts)}</svg>"
        )
        narrow = Html('<div class="fb-slim">{}</div>').format(trusted(picture))
    return Html(
        '<figure class="fb-figure fb-chart{has}" id="{id}" data-figure="{record}">'
        '<div class="fb-chart-head"><p class="fb-says">{title}</p>{menu}</div>'
        "{plotted}{wide}</div>{narrow}</div>"
        '<figcaption>{caption} <span class="fb-from">{source}</span></figcaption></figure>'
    ).format(
        has=" fb-has-slim" if sheet is not None else "",
        id=attribute(place.anchor),
        record=attribute(place.record),
        title=drawn.title,
        menu=_menu(drawn, place),
        plotted=_plotted(drawn),
        wide=trusted(svg(drawn, place.anchor)),
        narrow=narrow,
        caption=drawn.caption,
        source=source,
    )


def _plotted(drawn: Figure) -> Html:
    """The begin of what holds the pictures: one stop of the keyboard.

    It reads the values where there are some, and else moves a picture that is wider than the page.
    """
    if not has_marks(drawn):
        return Html('<div class="fb-plotted"><div class="fb-wide" tabindex="0">')
    label = f"{drawn.title}. {_KEYS}"
    return Html(
        '<div class="fb-plotted" tabindex="0" role="group" aria-label="{}"><div class="fb-wide">'
    ).format(label)


def has_marks(drawn: Figure) -> bool:
    """Whether a pointer or a key can read something: shapes with words, or lines of a chart."""
    lines = (one for chart in drawn.plots for one in chart.series if one.kind == "line")
    return any("<title>" in part for part in drawn.parts) or any(
        len(one.points) >= _LEAST_POINTS for one in lines
    )


def _menu(drawn: Figure, place: FigurePlace) -> Html:
    """Links to the files of a figure, to itself and to its code, with the call that draws it."""
    files = html_link(place.page, f"{FILES}{place.anchor}")
    values = Html()
    if drawn.plots or drawn.readings:
        values = Html('<li><a href="{}.csv" download>Values as CSV</a></li>').format(files)
    code = link("Code of this figure", html_link(place.page, f"assets/figures/{place.code}.py.txt"))
    return Html(
        '<details class="fb-menu"><summary aria-label="Files and link of this figure">'
        '</summary><ul><li><a href="{files}.svg" download>Picture as SVG</a></li>{values}'
        '<li><a href="#{id}">Link to this figure</a></li><li>{code}</li>'
        "<li><code>{call}</code></li></ul></details>"
    ).format(files=files, values=values, id=attribute(place.anchor), code=code, call=place.call)


# Files.


def files_of(
    pages: Iterable[str], draw: Callable[[str], Figure], source: Callable[[str], str]
) -> dict[str, str]:
    """Content path -> text: picture and values of every figure on these pages.

    `draw` and `source` give the picture of a record and what its values are from.
    """
    file_of: dict[str, str] = {}
    for text in pages:
        for anchor, escaped in _RECORD.findall(text):
            if f"{FILES}{anchor}.svg" not in file_of:
                record = html.unescape(escaped)
                drawn = draw(record)
                file_of[f"{FILES}{anchor}.svg"] = standalone(drawn, source(record))
                if drawn.plots or drawn.readings:
                    file_of[f"{FILES}{anchor}.csv"] = values(drawn)
    return file_of


def values(drawn: Figure) -> str:
    """What a figure plots, as CSV: a row for each point or bar, in SI units and as words."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not drawn.plots:
        writer.writerow(("group", "name", "value", "shown", "unit", "starts_at"))
        writer.writerows(map(_reading_row, drawn.readings))
        return text.getvalue()
    writer.writerow(("series", "x", "y", "shown", "x_is", "y_is"))
    for chart in drawn.plots:
        writer.writerows(_rows(chart))
    return text.getvalue()


def _rows(chart: Plotted) -> Iterator[tuple[str, ...]]:
    across, up = (csv_safe(_labelled(axis)) for axis in (chart.across, chart.up))
    for series in chart.series:
        tips = series.tips or [
            f"{_shown(chart.up, y)} at {_shown(chart.across, x)}" for x, y in series.points
        ]
        for (x, y), tip in zip(series.points, tips, strict=True):
            yield csv_safe(series.name), f"{x:.6g}", f"{y:.6g}", csv_safe(tip), across, up


def _reading_row(one: FigureValue) -> tuple[str, ...]:
    size = 100 * one.value if one.unit == "percent" else one.value
    start = "" if one.start is None else f"{one.start:.6g}"
    unit = "" if one.unit == "1" else one.unit
    return csv_safe(one.group), csv_safe(one.name), f"{size:.6g}", one.shown, unit, start


def _labelled(axis: ChartAxis) -> str:
    return f"{axis.label} ({axis.unit})" if axis.unit not in ("", "1") else axis.label


def _shown(axis: ChartAxis, number: float) -> str:
    """A value of an axis in words; years and shares as plain numbers."""
    share = " %" if "percent" in axis.label else ""
    if not axis.unit and not axis.log and abs(number) < _MOST_PLAIN:
        return f"{number:.4g}{share}"
    return f"{format_quantity(number, axis.unit or '1')}{share}"
