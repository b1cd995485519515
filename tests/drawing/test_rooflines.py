"""The roofline of a chip: every ridge is in its picture, and said in words that are not 0."""

from __future__ import annotations

import itertools
import re

import pytest

from flopbook.data.library import entry_ids, load_entry
from flopbook.drawing import rooflines
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip


@pytest.mark.parametrize("vendor", ["amd", "google", "nvidia"])
def test_every_ridge_lies_in_the_picture(vendor: str) -> None:
    drawn = 0
    for name in entry_ids():
        if not name.startswith(f"{vendor}/") or not load_entry(name).computes:
            continue
        subject = chip(name)
        try:
            frame = rooflines.roofline(subject).frame
        except FlopbookError:  # no peak or no bandwidth
            continue
        drawn += 1
        bandwidth = subject.memory_bandwidth()
        for line in rooflines.peak_lines(subject):
            assert frame.x.low <= line.peak / bandwidth <= frame.x.high
            assert frame.y.low <= line.peak <= frame.y.high
            assert "ridge at 0 " not in rooflines.described(line, bandwidth)
    assert drawn


def test_the_slope_starts_at_the_left_edge() -> None:
    frame = rooflines.roofline(chip("amd/mi455x")).frame
    assert frame.y.low <= frame.x.low * chip("amd/mi455x").memory_bandwidth()


@pytest.mark.parametrize(("ridge", "words"), [(0.2146, "0.21"), (1, "1"), (295.3, "295")])
def test_a_ridge_is_whole_unless_it_is_below_one(ridge: float, words: str) -> None:
    assert rooflines.ridge_words(ridge) == words


@pytest.mark.parametrize("name", ["google/tpu-v5p", "google/tpu-8i", "nvidia/h100-sxm"])
def test_no_label_of_a_roof_lies_over_another(name: str) -> None:
    """Peaks of two formats may be the same, or nearly so."""
    shapes = "".join(rooflines.roofline(chip(name)).parts)
    feet = sorted(float(y) for y in re.findall(r'"fb-label"[^>]* y="([\d.]+)"', shapes))
    assert len(feet) > 1
    assert all(below - above >= 11 for above, below in itertools.pairwise(feet))
