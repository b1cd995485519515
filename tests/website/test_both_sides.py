"""Matrices cut along both sides, computed anew beside the chapter on inference."""

from __future__ import annotations

import pytest

WIDE, INNER = 8192, 28672


def sent(chips: float, parts: float, hidden: float = 2 * INNER, wide: float = WIDE) -> float:
    """What a block sends for a token, over 4 bytes: outputs over X and hidden values over Y."""
    return wide / parts + hidden / (chips / parts)


def test_the_least_is_at_the_root_and_pays_from_28_chips_on() -> None:
    chips = 64.0
    best = (chips * WIDE / (2 * INNER)) ** 0.5
    least = sent(chips, best)
    assert least == pytest.approx(2 * (2 * INNER * WIDE / chips) ** 0.5)
    assert all(sent(chips, best * factor) > least for factor in (0.5, 0.9, 1.1, 2))
    edge = 8 * INNER / WIDE
    assert edge == 28
    assert sent(edge, (edge * WIDE / (2 * INNER)) ** 0.5) == pytest.approx(WIDE)


def test_sixty_four_chips_send_half_without_a_gate() -> None:
    assert sent(64, 4, hidden=4 * WIDE) == WIDE / 2
