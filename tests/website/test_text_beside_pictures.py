"""What a chapter says of a picture or a command is what they show, wide and on a phone."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.prediction.asking import predict
from scripts.website.figures import domain_copies
from scripts.website.figures.capacity_bandwidth import figure as capacity
from scripts.website.figures.drawing import Figure
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.overlap_measured import pairs
from scripts.website.figures.peak_bandwidth import figure as peaks
from scripts.website.figures.power_peak import figure as powers
from scripts.website.figures.step_budget import KINDS
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK


def _words(chapter: str) -> str:
    """A chapter on one line, without tags."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def test_the_gain_of_halves_is_that_of_its_bar() -> None:
    """SGLang's developers state 25.5 percent (sglang2025deploying); the bar has 1.26."""
    bars = {pair.name: pair.printed for pair in pairs()}
    found = re.search(r"sequences, which gained ([\d.]+) percent", _words("overlap-and-offloading"))
    assert found
    assert f"{1 + float(found[1]) / 100:.2f}" == bars["decode in halves, 256 a GPU"] == "1.26"


@pytest.mark.parametrize("drawn", [peaks(), capacity(), powers()], ids=lambda one: one.title[:20])
def test_dashed_lines_of_a_caption_are_in_both_drawings(drawn: Figure) -> None:
    """The narrow one names all that it has in one entry of its legend."""
    narrow = narrow_sheet(drawn)
    assert narrow and "Along a dashed line" in drawn.caption and "Lines lead" not in drawn.caption
    lines = sum("fb-dashed" in part for part in drawn.parts)
    slim = sum("fb-dashed" in part for part in narrow.parts) - 1
    assert lines >= 3 and slim in (lines, 2)
    (name,) = {series.name for series in drawn.plots[0].series if series.kind == "line"}
    shown = name if slim == lines else name.replace("1, 10, ", "")
    assert sum(f">{shown}<" in part for part in narrow.parts) == 1


def test_nothing_stands_on_the_left_of_panels_that_lie_below_each_other() -> None:
    """On a phone the two panels of nodes and of a domain do."""
    drawn = domain_copies.figure()
    narrow = narrow_sheet(drawn)
    assert narrow and narrow.height > 1.5 * drawn.height
    words = _words("racks")
    assert " left panel" not in words and "On the left" not in drawn.caption


def test_what_is_slow_now_and_then_points_on_to_the_loader_of_data() -> None:
    """The broken node is found right after the restart; the section on data comes behind that."""
    words = _words("reliability-and-energy")
    slow = words.index("It is slow now and then.")
    assert slow < words.index("[data loader](#data-loading)") < words.index("## Data loading")


def test_the_kinds_of_a_step_are_those_of_the_table_below() -> None:
    """Launches leave nothing in the compute stream, so they are waiting in both."""
    text = rendered("handbook/profiling.md")
    lines = text[text.index("| Kind |") :].split("\n\n")[0].split("\n")
    rows = [line.removeprefix("| ").split(" | ") for line in lines[2:]]
    table = {kind.removesuffix(" work"): what for kind, what, *_ in rows}
    assert list(table) == list(KINDS)
    assert "launches" in table["waiting"] and "launches" in KINDS["waiting"]


def test_the_example_of_offloading_has_the_update_of_the_command() -> None:
    """The same two seconds; the passes take longer than at the peak, as they do in runs."""
    shape = {"model": "llama-3-8b", "chip": "h100-sxm"}
    ran = predict(
        {**shape, "chips": "1", "seq": "8192", "batch_tokens": "32768", "micro_batch": "1"}
        | {"recompute": "full", "offload": "gradients"}
    )
    update = calculate("offload", **shape, dp=1)["update_seconds"]
    assert ran.parts["offload"] == pytest.approx(update, rel=0.01)
    found = re.search(r"--offload gradients` expects ([\d.]+) s", _words("overlap-and-offloading"))
    assert found and float(found[1]) == pytest.approx(ran.seconds, abs=0.05)
