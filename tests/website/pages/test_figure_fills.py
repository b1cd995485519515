"""Fills of figures without their hue: lightness alone tells those of one legend apart."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest

from scripts.website.figures import drawn_of, figure_names
from tests.support.rendering import READS_THE_HANDBOOK
from tests.website.test_look import SCHEMES, contrast, luminance

pytestmark = READS_THE_HANDBOOK

APART = 6.0  # of the 100 steps from black to white
# Pairs that are equally light, and the figures in which words or places tell such shapes apart.
ALIKE = {
    ("c2", "c5"): {
        "capacity-bandwidth",  # each family of chips has a mark of its own
        "cluster-plan",
        "matmul-share",
        "mfu-chips",
        "peak-bandwidth",
        "power-peak",
        "scaleup-domains",
        "tpu-core",
        "transformer-layer",
        "von-neumann",
    },
    ("c4", "c8"): {"fsdp-streams"},
}
_FILL = re.compile(r'<(?:rect|path|polygon|circle) class="(?:fb-\w+ )*fb-(c\d)\b')
_PASS = re.compile(r'<rect class="fb-(c\d)" [^>]*/>(<path class="fb-foot)?')
_LIGHTEST = 116 * 0.008856 ** (1 / 3) - 16


def lightness(colour: str) -> float:
    """L* of CIELAB, from 0 of black to 100 of white; for colours that are not nearly black."""
    light: float = 116 * luminance(colour) ** (1 / 3) - 16
    assert light > _LIGHTEST
    return light


def test_lightness_is_that_of_the_definition() -> None:
    assert lightness("#ffffff") == pytest.approx(100)
    assert lightness("#777777") == pytest.approx(50.0, abs=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fills_of_a_figure_differ_in_lightness(scheme: str) -> None:
    """In the eyes of who sees no hue, on paper without colours, and on a poor screen."""
    fills = {f"c{number}": lightness(SCHEMES[scheme][f"c{number}"]) for number in range(9)}
    schedules = ("1f1b", "zb-h1", "zb-v")
    records = {name: [name, {}] for name in figure_names()}
    records |= {name: ["pipeline-schedule", {"schedule": name}] for name in schedules}
    for name, record in records.items():
        drawn = drawn_of(json.dumps(record, separators=(",", ":")))
        used = sorted(set(_FILL.findall("".join(drawn.parts))))
        for pair in combinations(used, 2):
            one, other = (fills[fill] for fill in pair)
            assert abs(one - other) >= APART or name in ALIKE.get(pair, ()), (name, pair)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_eight_kinds_of_passes_differ_in_lightness_or_in_a_line(scheme: str) -> None:
    """Four of either direction; a line at its foot marks a pass from the other end."""
    drawn = drawn_of('["pipeline-schedule",{"schedule":"dualpipe"}]')
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        found = set(_PASS.findall("".join(parts)))
        for is_other in (False, True):
            fills = [fill for fill, mark in found if bool(mark) == is_other]
            lights = [lightness(SCHEMES[scheme][fill]) for fill in fills]
            assert len(set(fills)) == 4
            assert all(abs(one - other) >= APART for one, other in combinations(lights, 2))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_kinds_of_points_differ_in_shape_or_much_in_lightness(scheme: str) -> None:
    """A small point shows less of its colour than a bar; one on a line has the dashes of that."""
    for name in figure_names():
        for plot in drawn_of(f'["{name}",{{}}]').plots:
            lines = [series for series in plot.series if series.kind == "line"]
            marks = [series for series in plot.series if series.kind == "mark" and series.name]
            dots = {series.style for series in marks if not series.style.startswith("fb-mark")}
            if len(dots) <= len(lines):
                continue
            fills = [lightness(SCHEMES[scheme][style[3:5]]) for style in dots]
            for one, other in combinations(fills, 2):
                assert abs(one - other) >= 2 * APART, name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ink_can_be_read_on_every_fill(scheme: str) -> None:
    ink = SCHEMES["light"]["ink"]
    for number in range(1, 9):
        assert contrast(SCHEMES[scheme][f"c{number}"], ink) >= 4.5, number
