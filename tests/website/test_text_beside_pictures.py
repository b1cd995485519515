"""What a chapter says of a picture is what the picture shows, wide and on a phone."""

from __future__ import annotations

import re

from scripts.website.figures.overlap_measured import pairs
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
