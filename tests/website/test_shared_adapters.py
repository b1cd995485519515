"""What adapters cost in a decoding step, computed anew beside what the chapter says."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from tests.support import rendering
from tests.support.rendering import rendered

pytestmark = rendering.READS_THE_HANDBOOK


def test_an_adapter_of_rank_16_is_a_third_of_a_percent_of_the_model() -> None:
    wide, kv, inner = 8192, 1024, 28672
    weights = 16 * 80 * (2 * (wide + wide) + 2 * (wide + kv) + 3 * (wide + inner))
    assert weights == pytest.approx(207e6, rel=0.01)
    assert weights / 70.55e9 == pytest.approx(0.003, abs=0.0002)
    step = calculate("serving", model="llama-3-70b", chip="h100-sxm", tp=8, seq=4352, batch=64)
    more = 64 * 2 * weights / (8 * chip("h100-sxm").memory_bandwidth())
    share = round(100 * more / step["seconds"])
    text = re.sub(r"<[^>]+>|\]\([^)]*\)", "", rendered("handbook/serving.md"))
    assert share == 12 and f", {share} percent; with eight adapters in the batch" in text
