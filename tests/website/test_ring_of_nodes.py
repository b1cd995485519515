"""Rings over nodes: what was measured, the most that cards allow, and what chapters make of it."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas.network_omissions import CARD_SHARE
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from scripts.website.figures import compute_against_algorithms
from scripts.website.pages.living import _fsdp
from tests.support.rendering import READS_THE_HANDBOOK, rendered

RATES = re.compile(r"([\d.,]+)\s*(GB/s|TB/s)")


def rates(line: str) -> list[float]:
    """What a line of a table has in bytes a second, in GB/s."""
    text = re.sub(r"<[^>]+>", "", line).replace("\u00a0", " ")
    return [float(value) * {"GB/s": 1, "TB/s": 1000}[unit] for value, unit in RATES.findall(text)]


@READS_THE_HANDBOOK
@pytest.mark.parametrize(("label", "card"), [("| H100 |", 50), ("| A100 |", 25)])
def test_a_ring_over_nodes_stays_below_what_the_cards_of_a_node_carry(
    label: str, card: float
) -> None:
    """Each of eight rings leaves a node by another card, with 2 (1 - 1/32) of an eighth."""
    lines = rendered("handbook/networks.md").splitlines()
    line = next(found for found in lines if found.startswith(label))
    _, measured, most, each = rates(line)
    assert each == card
    assert most == 8 * card
    assert 0.9 * most < measured <= most


def test_the_share_of_a_card_is_the_least_that_rings_over_four_servers_reached() -> None:
    assert pytest.approx(min(370 / (8 * 50), 192 / (8 * 25))) == float(CARD_SHARE)


@pytest.mark.parametrize("ranks", [8, 64, 512])
def test_a_gather_and_a_scatter_at_once_take_half_in_the_switch(ranks: int) -> None:
    """A port sends V/X and V (1 - 1/X) for the two, against twice V (1 - 1/X) on rings."""
    gather, scatter = (1 / ranks, 1 - 1 / ranks), (1 - 1 / ranks, 1 / ranks)
    ring = 2 * (1 - 1 / ranks)
    switch = max(gather[way] + scatter[way] for way in (0, 1))
    assert switch / ring == pytest.approx(0.5, rel=1.2 / (ranks - 1))


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
