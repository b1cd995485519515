"""The frame of a figure: what it says, its files, and the sheet for narrow screens."""

from __future__ import annotations

import csv
import gzip
import html
import io
import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from flopbook.drawing.schedules import NAMES, OWN, Dress, timeline_parts
from flopbook.pipelines import Times, plan, simulate
from scripts.website.build.plain_markdown import as_markdown
from scripts.website.build.policy import page_problems
from scripts.website.figures import drawn_of, figure_files, figure_markup, figure_names
from scripts.website.figures.drawing import Figure
from scripts.website.figures.narrow import WIDTH, _Panel, narrow_sheet
from scripts.website.figures.panel import FILES, values
from scripts.website.figures.pipeline_schedule import DRESS
from scripts.website.figures.plotted import Point
from scripts.website.figures.standalone import standalone
from tests.support.rendering import READS_THE_HANDBOOK

pytestmark = READS_THE_HANDBOOK

ROOT = Path(__file__).resolve().parents[3]
PAGE = "handbook/page.md"
SVG = "{http://www.w3.org/2000/svg}"


def every_figure() -> dict[str, Figure]:
    """Each figure with its defaults; drawn once, the frame remembers them."""
    return {name: drawn_of(f'["{name}",{{}}]') for name in figure_names()}


def test_every_figure_stands_in_the_frame() -> None:
    """What it says is a line above it; source, files and code are there; nothing is said twice."""
    for name, drawn in every_figure().items():
        markup = figure_markup(name, PAGE)
        assert html.unescape(_inside(markup, "fb-says")) == drawn.title, name
        assert "Source: " in _inside(markup, "fb-from"), name
        menu = markup.partition("<details")[2].partition("</details>")[0]
        assert f"{FILES}fig-{name}.svg" in menu and "Code of this figure" in menu, name
        assert (".csv" in menu) == bool(drawn.plots or drawn.readings), name
        assert not drawn.caption.startswith(drawn.title), name


def test_arrow_keys_are_promised_where_they_read_something() -> None:
    """One stop of the keyboard for each figure; a diagram leaves the keys to the page."""
    silent = set()
    for name, drawn in every_figure().items():
        markup = figure_markup(name, PAGE).partition("fb-plotted")[2]
        reads = "<title>" in "".join(drawn.parts) or any(
            series.kind == "line" and len(series.points) > 2
            for plot in drawn.plots
            for series in plot.series
        )
        assert ("Arrow keys read the values." in markup) == reads, name
        assert markup.partition("<figcaption>")[0].count('tabindex="0"') == 1, name
        if not reads:
            silent.add(name)
    assert {"pipeline-schedule", "step-memory", "ring-collective"} <= silent


def _inside(markup: str, kind: str) -> str:
    match = re.search(rf'class="{kind}">(.*?)</(?:p|span)>', markup)
    assert match, kind
    return match[1]


def test_a_title_is_short_enough_to_be_read_at_once() -> None:
    for name, drawn in every_figure().items():
        assert len(drawn.title) <= 110 and not drawn.title.endswith("."), name


def test_the_files_of_a_page_are_those_that_its_menus_name() -> None:
    pages = [figure_markup("bubble-share", PAGE, stages=8), figure_markup("rails", PAGE)]
    files = figure_files(pages)
    linked = {name for page in pages for name in re.findall(rf'href="[./]*({FILES}[^"]+)"', page)}
    assert set(files) == linked
    assert len(linked) == 3, "two pictures, and values where there are some"


def test_a_file_says_where_its_values_are_from() -> None:
    """As the page does, in as many lines as it takes beside the name of the project."""
    for name, work in (("decode-layer", ""), ("exchange-degrees", "DeepSeek-AI 2026")):
        (text,) = (
            text
            for file, text in figure_files([figure_markup(name, PAGE)]).items()
            if file.endswith(".svg")
        )
        shown = [words.text or "" for words in ET.fromstring(text).iter(f"{SVG}text")]
        start = next(number for number, line in enumerate(shown) if line.startswith("flopbook"))
        told = " ".join(reversed(shown[start + 1 :]))
        assert told.startswith("Source: ") and work in told, told
        assert re.search(r"as read by 20\d\d-\d\d-\d\d\.$", told), told
        assert max(map(len, shown[start + 1 :])) <= 96


def test_a_figure_with_a_work_of_its_own_names_it() -> None:
    """Ten figures knew their work, and no reader saw it."""
    told = {
        name: _inside(figure_markup(name, PAGE), "fb-from")
        for name, drawn in every_figure().items()
        if drawn.source
    }
    assert len(told) >= 10 and all("fb-cite" in words for words in told.values())
    measured = _inside(figure_markup("bandwidth-share", PAGE), "fb-from")
    assert "measured runs" in measured
    assert "the planner" in _inside(figure_markup("step-budget", PAGE), "fb-from")


def test_a_file_is_a_whole_picture_with_its_colours(tmp_path: Path) -> None:
    """Well-formed, no script, no other file, each colour that is named defined for both schemes."""
    for name, drawn in every_figure().items():
        text = standalone(drawn)
        root = ET.fromstring(text)
        assert root.tag == f"{SVG}svg" and root.get("width"), name
        assert list(page_problems(text, name, tmp_path)) == [], name
        light, _, dark = text.partition("prefers-color-scheme:dark")
        for variable in set(re.findall(r"var\((--[\w-]+)", text)):
            assert f"{variable}:" in light and f"{variable}:" in dark, (name, variable)
        shown = "".join(root.itertext())
        assert all(word in shown for word in drawn.title.split()), name


def test_values_are_those_that_are_drawn() -> None:
    """A row for each point, with finite numbers, and words that a pointer shows."""
    for name, drawn in every_figure().items():
        if not drawn.plots:
            continue
        rows = list(csv.DictReader(io.StringIO(values(drawn))))
        assert len(rows) == sum(len(one.points) for plot in drawn.plots for one in plot.series)
        for row in rows:
            assert abs(float(row["x"])) < 1e30 and abs(float(row["y"])) < 1e30, name
        assert rows[0]["x_is"] or name == "step-memory", name


_SIZED = re.compile(r"<title>[^<]*: [\d.,]+( [^<:]+)?</title>")


def test_a_figure_whose_shapes_name_sizes_has_a_file_of_them() -> None:
    """Bars without axes were pictures only; each group of a file adds up as its bars do."""
    for name, drawn in every_figure().items():
        if _SIZED.search("".join(drawn.parts)):
            assert drawn.plots or drawn.readings, name
    shares: dict[str, float] = {}
    for row in csv.DictReader(io.StringIO(values(drawn_of('["parameter-shares",{}]')))):
        shares[row["group"]] = shares.get(row["group"], 0) + float(row["value"])
    assert shares and all(99 < share < 100.01 for share in shares.values())
    step = csv.DictReader(io.StringIO(values(drawn_of('["step-causes",{}]'))))
    assert (
        f"Of {sum(float(row['value']) for row in step):.1f} s"
        in every_figure()["step-causes"].title
    )


_MEASURED = re.compile(r"[\d.,]+ (?:%|[kMGT]i?B(?:/s)?|[GTP]FLOP/s|M\b|cycles|strips|waves)")


def test_a_figure_that_prints_sizes_has_a_file_of_them() -> None:
    """Timelines, sized boxes and tables were pictures only."""
    lacking = []
    for name, drawn in every_figure().items():
        shown = [drawn.title, *re.findall(r"<text[^>]*>([^<]*)<", "".join(drawn.parts))]
        if any(map(_MEASURED.search, shown)) and not (drawn.plots or drawn.readings):
            lacking.append(name)
    assert lacking == []
    sums = csv.DictReader(io.StringIO(values(drawn_of('["sum-chains",{}]'))))
    assert [row["starts_at"] for row in sums][:3] == ["0", "2", "4"]


def test_what_a_pointer_shows_is_written_as_elsewhere() -> None:
    """10,000 and 1e18; a year without a comma."""
    for name, drawn in every_figure().items():
        rows = csv.DictReader(io.StringIO(values(drawn)))
        shown = [row["shown"] for row in rows] if drawn.plots else []
        shown += re.findall("<title>(.*?)</title>", "".join(drawn.parts))
        assert not any("e+" in words for words in shown), name
    law = csv.DictReader(io.StringIO(values(every_figure()["moores-law"])))
    assert any(row["shown"].endswith(" at 2016") for row in law)
    lost = csv.DictReader(io.StringIO(values(every_figure()["checkpoint-interval"])))
    shares = [row["shown"] for row in lost if " at " in row["shown"]]
    assert shares and all(re.match(r"[\d.]+ % at [\d,.]+ \w+$", words) for words in shares)


def test_a_line_of_a_chart_has_a_name() -> None:
    """In the legend of the narrow sheet and in the file; fits that run through points are one."""
    for name, drawn in every_figure().items():
        if name in ("roofline", "power-laws", "tile-traffic"):  # named by their panels or labels
            continue
        for chart in drawn.plots:
            lines = [series for series in chart.series if series.kind == "line"]
            assert all(series.name for series in lines), name


def test_every_chart_is_drawn_anew_for_a_phone() -> None:
    """Inside its sheet, letters as large as ever, words on nothing else, and light."""
    for name, drawn in every_figure().items():
        sheet = narrow_sheet(drawn)
        assert (sheet is not None) or not drawn.plots, name
        if sheet is None:
            continue
        assert sheet.width <= WIDTH
        boxes = list(_words(sheet.parts))
        for text, left, top, right, bottom in boxes:
            assert left >= -4 and right <= WIDTH + 8 and top >= -4, (name, text)
            assert bottom <= sheet.height + 4, (name, text)
        for one, other in combinations(boxes, 2):
            assert not _touch(one, other), (name, one, other)
        # The largest has a mark for each of some 700 runs.
        assert len(gzip.compress("".join(sheet.parts).encode())) < 12_000, name


def test_an_axis_on_a_phone_has_ticks_and_those_that_were_chosen() -> None:
    """Two tell how long a step is. Where a figure chose its ticks, the points stand at them."""
    for name, drawn in every_figure().items():
        for chart in drawn.plots:
            frame = _Panel(chart, 0.0).frame
            for axis, ticks in ((chart.across, frame.across.ticks), (chart.up, frame.up.ticks)):
                assert len(ticks) >= 2, (name, axis.label)
                values = {value for value, _ in ticks}
                assert not axis.ticks or values <= set(axis.ticks), (name, axis.label)


# Charts so narrow for their labels that one of them has to lie on a line.
_ON_A_LINE = {
    "capacity-bandwidth",
    "fsdp-tensor-split",
    "peak-bandwidth",
    "tile-traffic",
}


def test_a_label_on_a_phone_says_what_no_legend_does_and_keeps_off_the_lines() -> None:
    """Its letters would be struck through, which they are where there is no other place."""
    struck = set()
    for name, drawn in every_figure().items():
        sheet = narrow_sheet(drawn)
        if sheet is None or not drawn.plots:
            continue
        shapes = ET.fromstring(f"<svg>{''.join(sheet.parts)}</svg>")
        labels = [one for one in shapes.iter("text") if one.get("class") == "fb-halo"]
        names = {series.name for chart in drawn.plots for series in chart.series}
        assert not names & {one.text for one in labels}, name
        lines = [
            [(float(x), float(y)) for x, y in (pair.split(",") for pair in places.split())]
            for one in shapes.iter("polyline")
            if one.get("class") != "fb-grid" and (places := one.get("points"))
        ]
        boxes = _words(tuple(ET.tostring(one, encoding="unicode") for one in labels))
        struck |= {name for box in boxes for line in lines if _strikes(line, box)}
    assert struck <= _ON_A_LINE


def test_what_a_hollow_mark_means_is_said_once_wide_and_narrow() -> None:
    """On a phone the legend had "GPUs, hollow" and nowhere what that is."""
    found = []
    for name, drawn in every_figure().items():
        sheet = narrow_sheet(drawn)
        for chart in drawn.plots:
            is_hollow = any("fb-open" in series.style for series in chart.series)
            assert is_hollow == bool(chart.hollow), name
            if sheet is None or not is_hollow:
                continue
            found.append(name)
            narrow = " ".join(re.findall("<text[^>]*>([^<]+)<", "".join(sheet.parts)))
            assert narrow.count("hollow: ") == 1 and f"hollow: {chart.hollow}" in narrow, name
            assert ", hollow" not in narrow, name
            assert "".join(drawn.parts).count(f">hollow: {chart.hollow}<") == 1, name
    assert found == ["mfu-years", "peak-bandwidth", "power-peak"]


def test_many_marks_on_a_phone_are_small() -> None:
    """At the size of the legend hundreds of them are one blot; few have a name and are larger."""
    for name in ("mfu-years", "predicted-runs", "capacity-bandwidth"):
        sheet = narrow_sheet(every_figure()[name])
        assert sheet
        marks = [part for part in sheet.parts if "<title>" in part]
        large = sum("scale(0.6)" not in mark for mark in marks)
        names = sum('class="fb-halo"' in part for part in sheet.parts)
        assert len(marks) > 100 and large == names <= 13, name


Box = tuple[str, float, float, float, float]


def _strikes(line: list[Point], box: Box) -> bool:
    """Whether a line goes through the letters of a label."""
    _, left, top, right, bottom = box
    for (x0, y0), (x1, y1) in pairwise(line):
        for share in (n / 60 for n in range(61)):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            if left + 2 < x < right - 2 and top + 1 < y < bottom - 1:
                return True
    return False


def _words(parts: tuple[str, ...]) -> list[Box]:
    found = []
    for item in ET.fromstring(f"<svg>{''.join(parts)}</svg>").iter("text"):
        text, kind = item.text or "", item.get("class", "")
        width = len(text) * (5.0 if "fb-small" in kind else 5.6)
        x, y = float(item.get("x", 0)), float(item.get("y", 0))
        left = (
            x
            - {"start": 0.0, "middle": width / 2, "end": width}[item.get("text-anchor") or "start"]
        )
        found.append((text, left, y - 9, left + width, y))
    return found


def _touch(one: Box, other: Box) -> bool:
    beside = one[3] <= other[1] + 1 or other[3] <= one[1] + 1
    return not (beside or one[4] <= other[2] + 1 or other[4] <= one[2] + 1)


@pytest.mark.parametrize("dress", [OWN, DRESS], ids=["package", "handbook"])
def test_every_colour_of_a_schedule_is_in_its_legend(dress: Dress) -> None:
    """Also those of later chunks and of micro-batches from the other end, each a colour alone."""
    for schedule in NAMES:
        chunks = 2 if schedule == "interleaved" else 1
        run = simulate(plan(schedule, 4, 8, chunks), Times(1.0, 1.0, 1.0))
        for width in (640, 344):
            height, parts = timeline_parts(run, width, dress)
            shapes = ET.fromstring(f"<svg>{''.join(parts)}</svg>")
            rects = list(shapes.iter("rect"))
            keys = [one for one in rects if (one.get("width"), one.get("height")) == ("14", "14")]
            named = [one.get("class") for one in keys]
            used = {one.get("class") for one in rects if one not in keys}
            assert set(named) == used and len(named) == len(used), (schedule, width)
            assert all(float(one.get("y") or 0) + 14 <= height for one in keys)


def test_the_plain_page_has_no_menu_and_keeps_title_and_source() -> None:
    text = as_markdown(figure_markup("bubble-share", PAGE), PAGE, [PAGE])
    assert "Idle share" in text and "Source:" in text and "CSV" not in text


# Colours for readers who see fewer of them (Machado, Oliveira, Fernandes 2009, severity 1).
_SEEN = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
}


def test_arithmetic_and_bytes_differ_for_every_reader() -> None:
    """Blue and orange as lines and fills, light and dark; all other lines differ by their dashes.

    Told apart is a distance of 0.15 and more in linear RGB, whose whole diagonal is 1.7.
    """
    sheet = (ROOT / "docs/assets/flopbook/flopbook.css").read_text(encoding="utf-8")
    for pair in (("l0", "l1"), ("c0", "c1"), ("c2", "c3")):
        schemes = zip(*(re.findall(rf"--fb-{one}: (#\w+)", sheet) for one in pair), strict=True)
        for first, second in schemes:
            for matrix in _SEEN.values():
                seen = [_seen(colour, matrix) for colour in (first, second)]
                apart = sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5
                assert apart >= 0.15, (pair, first, second, apart)
    dashes = re.findall(
        r"\.fb-drawn \.fb-line\d \{ stroke: [^;]+;(?: stroke-dasharray: ([^;]+);)?", sheet
    )
    assert len(dashes) == 4 and len(set(dashes)) == 4


def _seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return [sum(a * b for a, b in zip(row, linear, strict=True)) for row in matrix]
