"""Rings over nodes: what was measured, the most that cards allow, and what chapters make of it."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from scripts.website.figures import compute_against_algorithms
from scripts.website.pages.living import _fsdp


def test_a_layer_of_the_drawn_step_has_no_share_of_the_tables() -> None:
    """Seven matrices and two norms of Llama 3 8B; 451 us for 1,024 tokens on H100."""
    width, hidden, narrow = 4096, 14336, 1024
    layer = 2 * width**2 + 2 * width * narrow + 3 * width * hidden + 2 * width
    assert _fsdp().given["params"] == pytest.approx(layer)
    assert calculate("params", model="llama-3-8b")["total"] / 32 > 1.1 * layer
    seconds = 2 * layer * 1024 / chip("nvidia/h100-sxm").peak("bf16")
    assert seconds == pytest.approx(451e-6, rel=0.002)


def test_the_title_on_algorithms_has_the_best_guess_and_no_superseded_edge() -> None:
    months = ledger_row("ho-halving").stated.value
    assert months is not None
    best = f"{float(f'{2 ** (108 / months):.2g}'):,.0f}"
    drawn = compute_against_algorithms.figure()
    assert re.findall(r"[\d,]+", drawn.title)[-1] == best
    assert f"{float(f'{2 ** (108 / 22):.2g}'):,.0f}" in drawn.caption
