"""Pictures whose widths, ends and ticks say what their titles say."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from flopbook.quantities.number_formats import BLOCK
from scripts.website.figures import bucket_sizes, gradient_noise, number_formats


def _widths(picture: str, kind: str) -> list[float]:
    found = re.findall(rf'<rect[^>]*class="[^"]*\bfb-{kind}\b[^"]*"[^>]*>', picture)
    return [float(re.search(r'width="([\d.]+)"', one)[1]) for one in found]  # type: ignore[index]


@pytest.mark.parametrize("narrow", [False, True])
def test_a_block_is_drawn_to_the_scale_of_its_formats(narrow: bool) -> None:
    """A cell of a bit is as wide in the block as in the formats above it, wide and on a phone."""
    drawn = number_formats.figure()
    assert drawn.narrow is not None
    shapes = "".join(drawn.narrow.parts if narrow else drawn.parts)
    [scale] = _widths(shapes, "c3")
    numbers = _widths(shapes, "c7")
    assert scale / BLOCK.scale_bits == pytest.approx(numbers[0] / BLOCK.bits, rel=0.02)


def test_the_best_bucket_lies_inside_its_line() -> None:
    """On 64 chips waits outgrow the spare time at 1,600 buckets, and then show in milliseconds."""
    backward, wire, wait = bucket_sizes.times(64)
    spare = (backward - wire) / wait
    assert 1580 < spare < 1600
    left = [
        bucket_sizes.exposed(count, backward, wire, wait)
        for count in bucket_sizes.COUNTS
        if count > spare
    ]
    assert len(left) > 2 and all(fewer < more for fewer, more in pairwise(left))
    assert left[-1] > 100 * bucket_sizes.exposed(1580, backward, wire, wait)


def test_tokens_of_a_gradient_are_counted_in_words() -> None:
    drawn = "".join(gradient_noise.figure().parts)
    assert "1e6" not in drawn and "1 million" in drawn
