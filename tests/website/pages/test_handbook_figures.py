"""The figures of the handbook: found by name, drawn, told in words, and safe to put into a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from flopbook.errors import FlopbookError, UnknownName
from scripts.website.figures import CODE, figure_markup, figure_names, figure_of, figure_sources
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import arrow, box, labelled, svg, words
from scripts.website.figures.plotted import ChartAxis
from scripts.website.pages.chapter import (
    Chapter,
    chapter_of,
    exercise_heads,
    exercises,
    listing,
    minutes,
)
from tests.support.cases import every
from tests.support.rendering import READS_THE_HANDBOOK, default_figure

pytestmark = READS_THE_HANDBOOK

STYLE = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "flopbook.css"
SVG = re.compile(r"<svg.*?</svg>", re.S)


@every("name", figure_names())
def test_a_figure_is_whole(name: str) -> None:
    """Well formed, on one line, with title, description and caption.

    What it draws lies inside its frame.
    """
    drawn, markup = default_figure(name), figure_markup(name, "handbook/page.md")
    assert "\n" not in markup and "$" not in markup and "`" not in markup
    root = ET.fromstring(SVG.search(markup)[0])  # type: ignore[index]
    title, described = root[0].text or "", root[1].text or ""
    assert title and len(described) > 60 and len(drawn.caption) > 40
    assert root.get("aria-labelledby") == f"{root[0].get('id')} {root[1].get('id')}"
    assert not re.search(r"\b(inf|nan)\b", SVG.search(markup)[0])  # type: ignore[index]
    for item in root.iter():
        for key, limit in (
            ("x", drawn.width),
            ("cx", drawn.width),
            ("y", drawn.height),
            ("cy", drawn.height),
        ):
            if item.get(key) is not None and item.tag != "g":
                assert -1 <= float(item.get(key, "0")) <= limit + 1, (item.tag, item.attrib)


@every("name", figure_names())
def test_colours_and_kinds_are_known_to_the_style_sheet(name: str) -> None:
    """A figure names classes; the style sheet has a colour for each, light and dark."""
    style = STYLE.read_text(encoding="utf-8")
    markup = svg(default_figure(name), "one")
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?!;)", re.sub(r"&#\d+;", "", markup)), (
        "a colour is typed"
    )
    for kinds in re.findall(r'class="([^"]+)"', markup):
        for kind in kinds.split():
            assert f".{kind}" in style, kind


def test_the_code_of_every_figure_is_published() -> None:
    """The caption leads to the code that drew it."""
    sources = figure_sources()
    for name in figure_names():
        markup = figure_markup(name, "handbook/page.md")
        assert f'href="../../{CODE}{name.replace("-", "_")}.py.txt"' in markup
        assert "def figure(" in sources[f"{CODE}{name.replace('-', '_')}.py.txt"]


def test_an_unknown_figure_offers_the_nearest() -> None:
    """And an option that a figure does not take is named."""
    with pytest.raises(UnknownName, match="number-formats"):
        figure_of("number-format")
    with pytest.raises(UnknownName):
        figure_of("drawing")
    with pytest.raises(FlopbookError, match="colour"):
        figure_of("number-formats", colour="red")


def test_pieces_are_escaped() -> None:
    """Names come from data; nothing in them is markup."""
    for piece in (words(1, 1, "<b>&"), box(0, 0, 1, 1, tip='"<'), labelled((0, 0, 9, 9), "a<b\nc")):
        assert (
            "<b" not in piece.replace("<box", "") and ET.fromstring(f"<g>{piece}</g>") is not None
        )


def test_an_arrow_ends_where_it_points() -> None:
    assert arrow((0, 0), (10, 0)).count("10,0") == 2


def test_a_chart_places_values() -> None:
    """Decades stand evenly apart, and the grid names them."""
    chart = Chart(
        ChartAxis("size", 1, 1e4, "byte"),
        ChartAxis("year", 2000, 2020, "", log=False),
        (100, 10, 500, 210),
    )
    assert [chart.x.at(10.0**n) for n in range(5)] == [100, 200, 300, 400, 500]
    grid = "".join(chart.grid())
    assert ">size<" in grid and ">2010<" in grid and "1 kB" in grid
    assert (
        chart.dot(100, 2010, "x").startswith("<circle")
        and chart.line([(1, 2000), (10, 2020)], 1).count(",") == 2
    )


def test_the_name_of_an_axis_keeps_clear_of_its_values() -> None:
    """Long values push it to the left, short ones leave it where it was."""
    for low, high, unit, left in ((1e12, 1e15, "FLOP/s", 104), (1, 100, "1", 84)):
        grid = "".join(
            Chart(
                ChartAxis("x", 1, 10), ChartAxis("speed", low, high, unit), (left, 10, 600, 210)
            ).grid()
        )
        place = float(re.search(r"translate\(([\d.]+) ", grid)[1])  # type: ignore[index]
        longest = max(len(text) for text in re.findall(r'text-anchor="end">([^<]+)<', grid))
        assert 10 < place <= left - 58 and place + 6 < left - 6 - 6 * longest


def test_chapters_are_pages_with_an_order() -> None:
    head = "---\ntitle: A title\ndescription: What it says.\norder: 20\n---\n# A\n"
    assert chapter_of(head, "handbook/a.md") == Chapter(
        "handbook/a.md", "A title", "What it says.", 20
    )
    assert (
        chapter_of(head.replace("order: 20\n", ""), "a.md") is None
        and chapter_of("# A\n", "a.md") is None
    )
    assert (
        listing([Chapter("handbook/a.md", "A_b", "Says.", 1)], [], "handbook/index.md")
        == "1. [A&#95;b](a.md). Says."
    )


def test_exercises_are_read_from_the_source() -> None:
    """Numbers by place; an exercise without an answer is told from one with."""
    text = (
        '## Exercises\n\n{{ exercise("easy") }} One?\n\n??? success "Answer"\n    Yes.\n\n'
        '{{ exercise("hard") }} Two?\n\n## Key points\n\n??? success "Answer"\n    No.\n'
    )
    assert [tuple(one) for one in exercises(text)] == [(1, "easy", True), (2, "hard", False)]
    head = exercise_heads()
    assert "Exercise 1<" in head("easy") and 'id="exercise-2"' in head("hard")
    with pytest.raises(FlopbookError, match="easy, medium or hard"):
        head("simple")


def test_reading_time_counts_words_and_not_pictures() -> None:
    assert minutes("word " * 400) == 2 and minutes("") == 1
    assert minutes("<svg>" + "x " * 4000 + "</svg>" + "word " * 600) == 3


@pytest.mark.parametrize("tag", ["details", "form", "script"])
def test_folded_text_takes_no_time_to_read(tag: str) -> None:
    """An answer, a verdict in the margin and the choices of a form open when somebody asks."""
    folded = f"<{tag} class='a'>" + "x " * 4000 + f"</{tag}>"
    assert minutes("word " * 400 + folded + " word" * 200) == 3
    answer = '??? success "Answer"\n    ' + "x " * 4000 + "\n\n    more\n\n"
    assert minutes("word " * 400 + "\n\n" + answer + "word " * 200) == 3
