"""Pictures of schedules: well-formed, readable without sight or colour, and true to the run."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from flopbook.drawing.schedules import NAMES, description, timeline_parts, timeline_svg, title
from flopbook.errors import FlopbookError
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.pipelines import Run, Times, plan, simulate
from flopbook.pipelines.timeline import LEGEND
from flopbook.quantities.units import percent
from scripts.website.pages.answer_pictures import picture_section
from scripts.website.pages.calculators import calculator_markdown

SVG = "{http://www.w3.org/2000/svg}"

every_schedule = pytest.mark.parametrize("schedule", SCHEDULES)


def run(schedule: str, stages: int = 4, microbatches: int = 8) -> Run:
    return simulate(
        plan(schedule, stages, microbatches, 2 if schedule == "interleaved" else 1),
        Times(1.0, 1.0, 1.0),
    )


def drawn(schedule: str, stages: int = 4, microbatches: int = 8) -> ET.Element:
    return ET.fromstring(timeline_svg(run(schedule, stages, microbatches), standalone=True))


def bars(root: ET.Element) -> list[ET.Element]:
    """The passes, without the keys of the legend."""
    return [
        bar
        for bar in root.iter(f"{SVG}rect")
        if bar.get("width") != "14" or bar.get("height") != "14"
    ]


def test_every_schedule_has_a_name() -> None:
    assert tuple(NAMES) == SCHEDULES


@every_schedule
def test_a_file_of_its_own_is_well_formed_and_named(schedule: str) -> None:
    root = drawn(schedule)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    named = [root.find(f"{SVG}title"), root.find(f"{SVG}desc")]
    assert [one.get("id") for one in named if one is not None] == (
        root.get("aria-labelledby") or ""
    ).split()
    assert [one.text for one in named if one is not None] == [
        title(run(schedule)),
        description(run(schedule)),
    ]
    assert (
        root.get("width") and root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    )


@every_schedule
def test_every_pass_is_a_bar_inside_the_picture(schedule: str) -> None:
    root, made = drawn(schedule), run(schedule)
    found = bars(root)
    assert len(found) == sum(len(slot) for slots in made.plan.slots for slot in slots)
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    for bar in found:
        left, top, wide, high = (float(bar.get(key) or -1) for key in ("x", "y", "width", "height"))
        assert (
            left >= 0
            and left + wide <= width + 0.5
            and top >= 0
            and top + high <= height
            and wide > 0
        )


@every_schedule
def test_text_stays_inside_the_picture(schedule: str) -> None:
    root = drawn(schedule)
    for text in root.iter(f"{SVG}text"):
        size = 6.2 * len(text.text or "")
        start = float(text.get("x") or 0) - {"end": size, "middle": size / 2}.get(
            text.get("text-anchor") or "", 0
        )
        assert start >= -1 and start + size * 0.9 <= float(root.get("width") or 0)


def test_colours_are_variables_with_fallbacks_for_light_and_dark() -> None:
    text = timeline_svg(run("zb-h1"), standalone=True)
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert re.findall(r"fill:(?!var\(--[a-z0-9-]+,#[0-9a-f]{6}\))", style) == []
    assert "prefers-color-scheme:dark" in style and "--md-default-fg-color" in style
    for kind in "fbwa":
        assert f".fb-pass-{kind}{{" in style and f".fb-pass-{kind}2{{" in style


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("kind", "fbwa")
def test_numbers_can_be_read_on_their_bars(kind: str) -> None:
    style = timeline_svg(run("zb-h1"), standalone=True)
    ink = re.search(rf"--fb-on-{kind},(#\w+)", style)
    for mark in ("", "2"):
        fill = re.search(rf"--fb-pass-{kind}{mark},(#\w+)", style)
        assert ink and fill
        dark, light = sorted((luminance(ink[1]), luminance(fill[1])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_passes_of_one_schedule_differ_in_lightness() -> None:
    """Forward, backward for the inputs and for the weights, each with its second kind."""
    style = timeline_svg(run("zb-v"), standalone=True)
    fills = [
        luminance(fill)
        for kind in "fbw"
        for fill in re.findall(rf"--fb-pass-{kind}2?,(#\w+)", style)
    ]
    assert len(fills) == 6
    for one, other in itertools.combinations(fills, 2):
        assert abs(one ** (1 / 3) - other ** (1 / 3)) >= 0.05, "6 of 100 steps from black to white"


def test_passes_of_either_end_differ_in_lightness() -> None:
    """All eight kinds: those of one end by their fill, the ends by a line."""
    text = timeline_svg(run("dualpipe"), standalone=True)
    for mark in ("", "2"):
        fills = [re.search(rf"--fb-pass-{kind}{mark},(#\w+)", text) for kind in "fbwa"]
        for one, other in itertools.combinations([fill[1] for fill in fills if fill], 2):
            assert abs(luminance(one) ** (1 / 3) - luminance(other) ** (1 / 3)) >= 0.05
    bars = re.findall(r'<rect class="fb-pass-\w(2?)"[^>]*/>(<path class="fb-foot)?', text)
    assert all(bool(second) == bool(line) for second, line in bars)


@every_schedule
@pytest.mark.parametrize("width", [640, 344])
def test_the_legend_names_each_kind_of_pass_once(schedule: str, width: int) -> None:
    """Both colours of a kind stand side by side, and one line says what the second one is."""
    made = run(schedule)
    _, parts = timeline_parts(made, width)
    shapes = ET.fromstring(f"<svg>{''.join(parts)}</svg>")
    keys = [one for one in shapes.iter("rect") if one.get("width") == one.get("height") == "14"]
    words = [one.text or "" for one in shapes.iter("text") if one.get("class") == "fb-name"]
    legend = [text for text in words if not text.startswith("stage")]
    kinds = {work.kind for slots in made.plan.slots for slot in slots for work in slot}
    named = [text.partition(" ")[2] for kind, text in LEGEND.items() if kind in kinds]
    assert legend[: len(named)] == named
    is_paired = any(str(key.get("class")).endswith("2") for key in keys)
    assert len(legend) == len(named) + is_paired
    assert len({key.get("y") for key in keys}) <= len(named)
    assert len(keys) == len(named) * (1 + is_paired)


def test_words_say_what_the_picture_shows() -> None:
    assert title(run("zb-h2")) == "ZB-H2 on 4 stages with 8 micro-batches"
    text = description(run("1f1b"))
    assert "idle for 27.3 %" in text and "at most 4, 3, 2, 1 micro-batches" in text
    assert "the first stage runs 4 forward passes and the last stage 1" in text


def test_a_wide_schedule_gets_a_wide_file() -> None:
    assert float(drawn("1f1b", 8, 64).get("width") or 0) > 2000
    assert "width=" not in timeline_svg(run("1f1b")).partition(">")[0]


@pytest.mark.parametrize(("stages", "microbatches"), [(65, 4), (16, 200)])
def test_what_nobody_could_see_is_refused(stages: int, microbatches: int) -> None:
    with pytest.raises(
        FlopbookError, match=r"are too many for a picture, at most 6,000 on 64; take fewer stages"
    ):
        timeline_svg(run("1f1b", stages, microbatches))


def test_the_page_shows_each_schedule_once_with_its_figures() -> None:
    page = calculator_markdown("bubble")
    assert page.count("<svg") == page.count("<figcaption>") == len(SCHEDULES)
    ids = re.findall(r' id="(fb-tl-[^"]+)"', page)
    assert len(ids) == len(set(ids)) == 2 * len(SCHEDULES)
    for made in map(run, SCHEDULES):
        assert f"idle {percent(made.fraction, 1)} of the step" in page
    assert "<svg" not in calculator_markdown("training-flops")
    assert all("\n\n" not in part.strip("\n") for part in picture_section("bubble"))


@pytest.mark.parametrize("width", [640, 900, 1200])
def test_a_number_leaves_something_free_beside_it(width: int) -> None:
    _, elements = timeline_parts(run("interleaved", microbatches=16), width)
    bars = r'width="([\d.]+)"[^>]*/><text class="fb-on-\w+"[^>]*>(\d+)<'
    numbered = re.findall(bars, "".join(elements))
    assert numbered
    assert all(float(bar) >= 6.2 * len(number) + 2 for bar, number in numbered)


@every_schedule
def test_in_two_parts_all_passes_are_drawn_and_none_runs_over_the_edge(schedule: str) -> None:
    found = run(schedule)
    (_, whole), (_, elements) = (timeline_parts(found, 344, parts=parts) for parts in (1, 2))
    bars = [
        [float(value) for value in bar]
        for bar in re.findall(
            r'<rect class="[^"]+" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', "".join(elements)
        )
    ]
    assert len(bars) == "".join(whole).count("<rect")
    assert all(left >= 58 - 1e-3 and left + width <= 344 - 6 + 0.1 for left, _, width in bars[:-8])
    assert "".join(elements).count(">stage 1<") == 2 and ">and then<" in "".join(elements)
