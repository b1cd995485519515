"""The constructed trace of a TPU: operations follow each other, and its title counts them."""

from __future__ import annotations

import itertools
import re

import pytest

from flopbook.quantities.units import percent
from scripts.website.figures.tpu_lanes import LAYERS, TRACKS, events, exposed, figure, idle


def test_operations_follow_each_other_without_a_gap() -> None:
    ops = sorted(event[1:3] for event in events() if TRACKS[event.track] == "XLA Ops")
    assert all(one[1] == pytest.approx(other[0]) for one, other in itertools.pairwise(ops))


def test_every_gather_has_a_start_and_a_done() -> None:
    texts = [event.text for event in events()]
    assert texts.count("s") == texts.count("d") == LAYERS
    assert texts.index("s") < texts.index("d")


def test_every_letter_of_the_caption_stands_in_both_pictures() -> None:
    """On a phone four of the five had no room, though the caption explains them."""
    drawn = figure()
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        for letter in ("n", "s", "d", "c", "R"):
            assert sum(f">{letter}<" in part for part in parts) == LAYERS


def test_the_title_says_what_is_exposed_and_what_is_idle() -> None:
    found = events()
    assert 0 < idle(found) < exposed(found) < 0.5
    assert f"{percent(exposed(found))} of this step" in figure().title
    assert f"{percent(idle(found))} waits" in figure().title


def test_the_last_name_of_the_narrow_picture_is_not_cut_off() -> None:
    """On a phone "next batch" has no room in its block and stood half below the edge."""
    narrow = figure().narrow
    assert narrow
    lowest = max(
        float(y) for part in narrow.parts for y in re.findall(r'<text[^>]* y="([\d.]+)"', part)
    )
    assert lowest + 4 <= narrow.height
