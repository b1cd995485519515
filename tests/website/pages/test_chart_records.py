"""What a chart keeps of itself: names of lines, marks by kind, and the sheet made of them."""

from __future__ import annotations

import csv
import html
import io
import itertools
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.drawing.scales import LETTER
from flopbook.quantities.units import format_quantity
from scripts.website.figures import called, origins
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, Sheet, words
from scripts.website.figures.narrow import WIDTH, narrow_sheet, shaped
from scripts.website.figures.origins import newest_reading, source_line
from scripts.website.figures.panel import FigurePlace, files_of, panel, values
from scripts.website.figures.plotted import ChartAxis, FigureValue, PlotSeries
from scripts.website.figures.standalone import standalone, style
from scripts.website.markup import Html

PLACE = FigurePlace("handbook/page.md", "fig-x", "x", 'figure("x")', '["x",{}]')
NUMBERS = st.floats(min_value=1.0, max_value=1e9)


def chart(low: float = 1.0, high: float = 1e4, unit: str = "", log: bool = True) -> Chart:
    """A chart with equal axes."""
    return Chart(ChartAxis("across", low, high, unit, log), ChartAxis("up", low, high, unit, log))


def figure(*plots: Chart, title: str = "It grows") -> Figure:
    """A figure of charts, drawn as one line of text."""
    return Figure(title, "Words.", "What is shown.", 100, (words(5, 50, "a"),), plots=plots)


def test_words_at_an_end_of_a_line_are_its_name_and_elsewhere_a_label() -> None:
    """The last and the first point; a line that has a name keeps it."""
    plot = chart()
    plot.line([(1, 1), (10, 10)])
    plot.line([(2, 1), (20, 10)], 1, "given")
    plot.words((10, 10), "at its end")
    plot.words((2, 1), "no name")
    plot.words((5, 5), "in the plot")
    assert [series.name for series in plot.series] == ["at its end", "given"]
    assert plot.labels == [((2, 1), "no name"), ((5, 5), "in the plot")]


def test_lines_and_names_beside_them_are_kept_as_one() -> None:
    plot = chart()
    named = [("one", [(1.0, 1.0), (9.0, 9.0)]), ("two", [(1.0, 2.0), (9.0, 8.0)])]
    plot.lines(named)
    assert [(one.name, one.style) for one in plot.series] == [
        ("one", "fb-line0"),
        ("two", "fb-line1"),
    ]
    assert [one.points for one in plot.series] == [points for _, points in named]
    other = chart()
    for number, (_, points) in enumerate(named):
        other.line(points, number)
    other.names(named)
    assert [one.name for one in other.series] == ["one", "two"]


def test_marks_of_one_kind_are_one_series_with_a_tip_each() -> None:
    plot = chart()
    for place, kind in ((1, "fb-c0"), (2, "fb-c1"), (3, "fb-c0")):
        plot.dot(place, place, f"tip {place}", kind)
    plot.mark((4, 4), "tip 4", "fb-c0", "named apart")
    kept = [(one.style, one.name, one.points, one.tips) for one in plot.series]
    assert kept == [
        ("fb-c0", "", [(1, 1), (3, 3)], ["tip 1", "tip 3"]),
        ("fb-c1", "", [(2, 2)], ["tip 2"]),
        ("fb-c0", "named apart", [(4, 4)], ["tip 4"]),
    ]


def test_lines_across_and_up_the_plot_are_kept_with_their_value() -> None:
    plot = chart()
    level, upright = plot.level(100, name="limit"), plot.upright(10, "edge")
    assert [(one.kind, one.name, one.points) for one in plot.series] == [
        ("level", "limit", [(1.0, 100)]),
        ("upright", "edge", [(10, 1.0)]),
    ]
    assert len(set(re.findall(r",([\d.]+)", level))) == 1, "one height"
    assert len(set(re.findall(r"([\d.]+),", upright))) == 1, "one place"


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=30),
    unit=st.sampled_from(["", "s", "byte", "FLOP/s"]),
    log=st.booleans(),
    name=st.text(alphabet="abc \"',;<&", min_size=1, max_size=20),
)
def test_any_values_stay_on_their_sheet_and_in_their_file(
    points: list[tuple[float, float]], unit: str, log: bool, name: str
) -> None:
    """Whatever the values, units and names are: inside the sheet, well-formed, and as given."""
    plot = chart(1.0, 1e9, unit, log)
    plot.line(points, 0, name)
    plot.dot(*points[0], "the first")
    drawn = figure(plot)
    sheet = narrow_sheet(drawn)
    assert sheet is not None and sheet.width == WIDTH
    root = ET.fromstring(f"<svg>{''.join(sheet.parts)}</svg>")
    for line in root.iter("polyline"):
        for pair in (line.get("points") or "").split():
            x, y = map(float, pair.split(","))
            assert -0.1 <= x <= WIDTH + 0.1 and -0.1 <= y <= sheet.height + 0.1
    rows = list(csv.DictReader(io.StringIO(values(drawn))))
    assert [row["series"] for row in rows] == [name] * len(points) + [""]
    for row, (x, y) in zip(rows, points, strict=False):
        assert float(row["x"]) == pytest.approx(x, rel=1e-5)
        assert float(row["y"]) == pytest.approx(y, rel=1e-5)
    assert rows[-1]["shown"] == "the first"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_names_stay_texts_in_a_spreadsheet(name: str) -> None:
    """A product may have any name; programs that open the file run what begins like a formula."""
    plot = chart(1.0, 1e9, "s", False)
    plot.line([(-2.0, -1.0), (2.0, 3.0)], 0, name)
    plot.dot(1.0, 1.0, name)
    rows = list(csv.DictReader(io.StringIO(values(figure(plot)))))
    kept = name.replace("\t=", "\t =")  # a tab may part cells
    assert {rows[0]["series"], rows[-1]["shown"]} == {f"'{kept}"}
    assert rows[0]["x"] == "-2"  # a number stays one


def test_readings_of_a_diagram_are_told_in_si_units() -> None:
    """A share in percent as it is shown, a bar of a timeline with its start."""
    readings = (
        FigureValue("=a", "-b", 1.5e9, "byte"),
        FigureValue("a", "share", 0.25, "percent"),
        FigureValue("lane", "bar", -2.0, start=3.0),
    )
    drawn = Figure("T", "D.", "C.", 10, (), readings=readings)
    first, share, bar = csv.DictReader(io.StringIO(values(drawn)))
    assert (first["group"], first["name"], first["value"]) == ("'=a", "'-b", "1.5e+09")
    assert first["shown"] == format_quantity(1.5e9, "byte") and first["unit"] == "byte"
    assert (share["value"], share["shown"], share["starts_at"]) == ("25", "25.0 %", "")
    assert (bar["value"], bar["shown"], bar["starts_at"]) == ("-2", "-2", "3")
    assert ".csv" in panel(drawn, PLACE, Html())


def test_values_are_told_in_the_unit_of_their_axis() -> None:
    plot = Chart(ChartAxis("size", 1, 1e12, "byte"), ChartAxis("share", 0, 1, "", log=False))
    plot.line([(1e9, 0.5), (2e9, 0.25)], 0, "a")
    first, second = csv.DictReader(io.StringIO(values(figure(plot))))
    assert first["shown"] == f"0.5 at {format_quantity(1e9, 'byte')}"
    assert second["shown"] == "0.25 at 2 GB"
    assert (first["x_is"], first["y_is"]) == ("size (byte)", "share")


def test_a_sheet_of_several_charts_has_them_below_each_other() -> None:
    """With the title of each, and one legend for all of them below."""
    charts = [chart(), chart()]
    for number, plot in enumerate(charts):
        plot.title = f"chart {number}"
        plot.line([(1, 1), (10, 100)], 0, "both")
    sheet, alone = narrow_sheet(figure(*charts)), narrow_sheet(figure(charts[0]))
    assert sheet is not None and alone is not None
    text = "".join(sheet.parts)
    assert text.index("chart 0") < text.index("chart 1") < text.index(">both<")
    assert text.count(">both<") == 1
    assert 1.8 * alone.height < sheet.height + 40 < 2.2 * alone.height


def test_a_label_stands_where_there_is_room_and_nowhere_else() -> None:
    crowded = chart()
    for place in range(2, 60):
        crowded.dot(place, place, "tip")
    crowded.words((1.2, 5000), "in the open")
    for _ in range(9):
        crowded.words((20, 20), "in the crowd")
    sheet = narrow_sheet(figure(crowded))
    assert sheet is not None
    text = "".join(sheet.parts)
    assert "in the open" in text and text.count("in the crowd") < 9


def test_ticks_of_a_sheet_do_not_touch() -> None:
    """However long their words are."""
    plot = Chart(ChartAxis("time", 1e-6, 1e9, "s"), ChartAxis("rate", 1, 1e18, "FLOP/s"))
    sheet = narrow_sheet(figure(plot))
    assert sheet is not None
    root = ET.fromstring(f"<svg>{''.join(sheet.parts)}</svg>")
    ticks = [one for one in root.iter("text") if one.get("text-anchor") == "middle"]
    row = [one for one in ticks if "fb-small" not in (one.get("class") or "")]
    places = [(float(one.get("x", 0)), LETTER * len(one.text or "") / 2) for one in row]
    assert len(places) >= 3
    for (left, half), (right, other) in itertools.pairwise(places):
        assert left + half <= right - other


def test_a_figure_without_charts_has_its_own_sheet_or_none() -> None:
    plain = Figure("T", "D.", "C.", 10, ())
    assert narrow_sheet(plain) is None
    own = Sheet(WIDTH, 20, (words(1, 2, "a"),))
    assert narrow_sheet(plain._replace(narrow=own)) == own


@pytest.mark.parametrize(
    ("kind", "tag"),
    [("fb-c0", "circle"), ("fb-mark fb-c3", "path"), ("fb-mark fb-c1 fb-open", "path")],
)
def test_a_mark_has_its_shape_and_its_words(kind: str, tag: str) -> None:
    shape = ET.fromstring(shaped(kind, (3, 4), "a < b"))
    assert shape.tag == tag and shape.get("class") == kind
    assert [title.text for title in shape] == ["a < b"]


# The frame.


def test_texts_of_a_figure_are_escaped_in_its_frame() -> None:
    drawn = figure(chart(), title="a < b & c")
    markup = panel(drawn, PLACE._replace(call='figure("<x>")'), Html("Source: us."))
    assert "a &lt; b &amp; c" in markup and "<x>" not in markup
    assert "fb-has-slim" in markup and 'id="fig-x"' in markup


def test_a_figure_without_charts_offers_no_values() -> None:
    plain = Figure("T", "D.", "C.", 10, ())
    markup = panel(plain, PLACE, Html("Source: us."))
    assert ".csv" not in markup and "fb-slim" not in markup and "fb-has-slim" not in markup
    files = files_of([str(markup)], lambda _: plain, lambda _: "Source: us.")
    assert list(files) == ["assets/charts/fig-x.svg"]


def test_a_figure_on_two_pages_is_drawn_once() -> None:
    asked: list[str] = []

    def draw(record: str) -> Figure:
        asked.append(record)
        return figure(chart())

    page = str(panel(figure(chart()), PLACE, Html()))
    assert len(files_of([page, page, "no figure"], draw, str)) == 2
    assert asked == ['["x",{}]']


# A file of its own.


def test_a_long_title_of_a_file_is_broken_at_words() -> None:
    long = figure(title=" ".join(["word"] * 40))
    root = ET.fromstring(standalone(long))
    lines = [
        one.text or ""
        for one in root.iter("{http://www.w3.org/2000/svg}text")
        if one.get("class") == "fb-head"
    ]
    assert len(lines) >= 2 and " ".join(lines) == long.title
    assert all(len(line) * 7.2 <= long.width for line in lines)
    short = ET.fromstring(standalone(figure(title="word")))
    assert float(root.get("height", 0)) > float(short.get("height", 0))


def test_the_style_of_a_file_is_what_its_shapes_name() -> None:
    one, other = style('<rect class="fb-c0"/>'), style('<rect class="fb-c1"/>')
    assert ".fb-c0" in one and ".fb-c1{" not in one.replace(" ", "")
    assert ".fb-c1" in other and "--fb-c1:" in other
    assert "prefers-color-scheme:dark" in one and "url(" not in one


# Where values are from.


def test_a_source_names_what_the_code_reads(tmp_path: Path) -> None:
    """Chips with the day of the newest reading; calculators by name; drawings as such."""
    code = tmp_path / "x.py"
    code.write_text('from flopbook.hardware.chip import chip\nx = calculate("memory")\n')
    words_of = source_line(code).text
    assert "chips" in words_of and "calculator memory" in words_of
    assert newest_reading() in words_of and re.fullmatch(r"\d{4}-\d\d-\d\d", newest_reading())
    drawn = tmp_path / "y.py"
    drawn.write_text("import math\n")
    assert source_line(drawn).text == "Source: drawn from its definition."
    formula = tmp_path / "z.py"
    formula.write_text("from flopbook.formulas import attention_traffic\n")
    said = source_line(formula).text
    assert "calculator attention-traffic" in said and newest_reading() not in said


FIGURES = Path(origins.__file__).parent


@pytest.mark.parametrize(
    ("name", "words"),
    [("bandwidth_share", "measured runs"), ("step_budget", "prediction of a step")],
)
def test_what_is_measured_or_predicted_is_not_called_a_drawing(name: str, words: str) -> None:
    said = source_line(FIGURES / f"{name}.py").text
    assert words in said and "definition" not in said


def test_a_page_and_a_file_say_the_same_source() -> None:
    """Both are made of the same words, so no one reads them out of a finished page."""
    line = source_line(FIGURES / "exchange_degrees.py", "deepseek2024v3")
    markup = line.markup("handbook/page.md")
    assert html.unescape(re.sub("<[^>]+>", "", markup)) == line.text
    assert 'class="fb-cite"' in markup and 'href="../../accelerators/"' in markup


def test_a_call_writes_numbers_as_prose_does() -> None:
    """The menu of a figure said memory=8e+10."""
    assert called("x", memory=8e10, near=1.25e-7) == 'figure("x", memory=80e9, near=125e-9)'
    assert called("x", share=0.5, count=3.0) == 'figure("x", share=0.5, count=3)'


def test_a_series_begins_empty() -> None:
    """Two of them share nothing."""
    one, other = PlotSeries("mark", "fb-c0"), PlotSeries("mark", "fb-c0")
    one.points.append((1, 2))
    assert other.points == [] and other.name == ""
