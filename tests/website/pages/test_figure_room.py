"""Words of the figures have room: inside the picture, and not upon each other."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import NamedTuple

import pytest

from scripts.website.figures import figure_of
from scripts.website.figures.drawing import Figure, svg, words
from tests.support.cases import every

# Pixels of a letter of the usual and of the small size, on average, and of a line.
LETTER, SMALL, LINE = 5.9, 5.2, 9.0
FIGURES = (
    ("batch-steps", {}),
    ("batch-time", {}),
    ("block-product", {}),
    ("block-product", {"rows": 4, "inner": 2, "columns": 3}),
    ("bubble-stages", {}),
    ("bucket-sizes", {}),
    ("cluster-plan", {}),
    ("device-blocks", {}),
    ("device-blocks", {"layouts": "A[I_X, J_Y]", "across": 1}),
    (
        "device-blocks",
        {"array": "bf16[8,8]", "mesh": "X=4,Y=2", "layouts": "A[I_X, J]; A[I_X, J_Y]", "across": 2},
    ),
    ("dot-assembly", {}),
    ("double-trees", {}),
    ("gpu-node", {}),
    ("language-models", {}),
    ("latent-matrices", {}),
    ("latent-ranks", {}),
    ("layer-roofline", {}),
    ("layout-map", {}),
    ("memory-parts", {}),
    ("memory-parts", {"model": "llama-3-70b", "seq": 8192}),
    ("memory-wall", {}),
    ("mfu-kinds", {}),
    ("micro-batches", {}),
    ("micro-batches", {"stages": 6, "counts": (2, 12)}),
    ("moores-law", {}),
    ("network-planes", {}),
    ("pipeline-stages", {}),
    ("pipeline-stages", {"layers": 7, "stages": 5}),
    ("power-laws", {}),
    ("rails", {}),
    ("ring-collective", {"op": "all-reduce"}),
    ("ring-collective", {"op": "all-reduce", "devices": 3}),
    ("scheme-arrays", {"scheme": "dp"}),
    ("energy-parts", {}),
    ("fat-tree", {}),
    ("fsdp-measured", {}),
    ("mixed-lanes", {}),
    ("context-ways", {}),
    ("causal-split", {}),
    ("narrow-sums", {}),
    ("recompute-memory", {}),
    ("scheme-arrays", {"scheme": "fsdp"}),
    ("scheme-arrays", {"scheme": "tp"}),
    ("scheme-arrays", {"scheme": "mixed"}),
    ("size-intensity", {}),
    ("sm-core", {}),
    ("strong-scaling", {}),
    ("systolic-array", {"moving": True}),
    ("torus-slice", {}),
    ("torus-slice", {"shapes": "4x4x12; 8x8"}),
    ("tpu-core", {}),
    ("training-state", {}),
    ("training-state", {"model": "llama-3-70b", "chips": 2}),
    ("two-times", {}),
    ("two-times", {"compute": 6.0, "memory": 2.0}),
    ("what-moves", {}),
)
each = every("name, options", FIGURES)


class Box(NamedTuple):
    """A line of text and the place that it takes."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def boxes(drawn: Figure) -> list[Box]:
    """The places of all words that stand upright, from the length of each.

    Those on a moving cell are left out.
    """
    found = []
    still = re.sub(
        r'<g class="fb-visit".*?</g>|<g transform.*?</g>', "", svg(drawn, "one"), flags=re.S
    )
    for item in ET.fromstring(still).iter("text"):
        text = item.text or ""
        width = len(text) * (SMALL if "fb-small" in item.get("class", "") else LETTER)
        x, y, anchor = float(item.get("x", 0)), float(item.get("y", 0)), item.get("text-anchor")
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor or "start"]
        found.append(Box(text, left, y - LINE, left + width, y))
    return found


def touch(one: Box, other: Box) -> bool:
    return (
        one.left < other.right - 1
        and other.left < one.right - 1
        and one.top < other.bottom - 1
        and other.top < one.bottom - 1
    )


@each
def test_words_stay_inside(name: str, options: dict[str, object]) -> None:
    """A little is allowed on each side, for the length is an estimate."""
    drawn = figure_of(name, **options)
    for box in boxes(drawn):
        assert box.left >= -4 and box.right <= drawn.width + 6, box
        assert box.top >= -4 and box.bottom <= drawn.height + 1, box


@each
def test_words_do_not_lie_on_each_other(name: str, options: dict[str, object]) -> None:
    upon = [(a, b) for a, b in combinations(boxes(figure_of(name, **options)), 2) if touch(a, b)]
    assert upon == []


@pytest.mark.parametrize("name", ["mfu-years", "moores-law", "training-compute"])
def test_words_among_many_points_keep_off_them(name: str) -> None:
    """A number or a name on a point hides it, and cannot be read itself."""
    drawn = figure_of(name)
    text = "".join(drawn.parts)
    marks = re.findall(r'translate\(([\d.]+) ([\d.]+)\) scale|cx="([\d.]+)" cy="([\d.]+)"', text)
    places = [(float(x or cx), float(y or cy)) for x, y, cx, cy in marks]
    assert len(places) >= sum(
        len(one.points) for chart in drawn.plots for one in chart.series if one.kind == "mark"
    )
    for box in boxes(drawn):
        on = [place for place in places if _is_in(place, box)]
        assert not on, box


def _is_in(place: tuple[float, float], box: Box) -> bool:
    """Whether the middle of a mark is under some words."""
    x, y = place
    return box.left < x < box.right and box.top < y < box.bottom


@each
def test_a_figure_is_told_in_words(name: str, options: dict[str, object]) -> None:
    """The text alternative has numbers, ends in a full stop and is not the caption again."""
    drawn = figure_of(name, **options)
    assert drawn.description != drawn.caption and drawn.title not in ("", drawn.description)
    assert drawn.description.endswith(".") and drawn.caption.endswith(".")
    assert len(drawn.description) > 60
    assert re.search(r"\d", drawn.description) or name == "block-product"
    assert (
        "  " not in drawn.description + drawn.caption
        and " ." not in drawn.description + drawn.caption
    )


@each
def test_a_figure_is_light(name: str, options: dict[str, object]) -> None:
    """At most 3.5 kB each when packed, so that a page with several keeps its weight."""
    import gzip

    assert len(gzip.compress(svg(figure_of(name, **options), "one").encode())) < 3500


def test_the_estimate_finds_what_touches() -> None:
    """Two lines at one place touch; below each other, or side by side, they do not."""

    def place(*pieces: str) -> list[Box]:
        return boxes(Figure("t", "d", "c", 100, pieces))

    assert touch(*place(words(50, 50, "one"), words(52, 52, "two")))
    assert not touch(*place(words(50, 50, "one"), words(50, 62, "two")))
    assert not touch(*place(words(50, 50, "one", "end"), words(56, 50, "two", "start")))
    assert place(words(50, 50, "four", "end"))[0].right == 50
    assert place(words(50, 50, "four", "start"))[0].left == 50
    small, usual = place(words(50, 50, "four", kind="fb-small"), words(50, 50, "four"))
    assert small.right - small.left < usual.right - usual.left


@pytest.mark.parametrize(
    "name", ["draft-speedup", "experts-read", "configuration-map", "batch-frontier"]
)
def test_the_words_beside_the_axis_are_not_cut(name: str) -> None:
    """They are turned round their base line, which needs a line of text to its left."""
    turned = re.findall(
        r"translate\(([-\d.]+) [-\d.]+\) rotate\(-90\)", svg(figure_of(name), "one")
    )
    assert turned and all(float(x) >= LINE for x in turned)
