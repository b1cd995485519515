"""Exchanges of experts that were timed, beside the count of their bytes."""

from __future__ import annotations

import pytest

from scripts.website.figures.exchange_degrees import (
    between_nodes,
    exchanges,
    figure,
    time,
)
from tests.support import rendering
from tests.support.rendering import rendered

pytestmark = rendering.READS_THE_HANDBOOK


def test_the_bytes_that_leave_a_node_grow_by_the_share_of_other_nodes() -> None:
    assert time(256, 1) / time(32, 1) == pytest.approx((1 - 8 / 256) / (1 - 8 / 32))
    assert time(64, 2) == pytest.approx(128 * 8 * 7168 * 2 * 7 / 8 / 50e9)


def test_alone_in_its_node_an_exchange_uses_the_fast_links() -> None:
    assert time(8, 1) == pytest.approx(128 * 8 * 7168 * 7 / 8 / 160e9)


def test_measured_exchanges_take_longer_than_their_bytes_and_grow_as_they_do() -> None:
    ratios = [one.ratio for one in between_nodes()]
    assert len(ratios) == 8 and 1.2 < min(ratios) < max(ratios) < 1.42
    for kind in ("dispatch", "combine"):
        near, far = (one for one in exchanges(kind) if one.ranks in (32, 256))
        assert far.measured / near.measured == pytest.approx(1.29, abs=0.05)
    assert "1.2 to 1.4 times" in figure().title


def test_the_chapter_says_what_was_measured_of_latency() -> None:
    """It once said that in decoding messages count and not their bytes."""
    text = " ".join(rendered("handbook/expert-and-context-parallelism.md").split())
    assert "the number of messages counts, not their bytes" not in text
    assert "bytes are still most of an exchange" in text
    assert all(time(ranks, 1) > 0.6 * 173e-6 for ranks in (64, 128, 256))
