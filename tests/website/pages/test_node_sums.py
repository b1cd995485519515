"""The picture of an all-reduce over nodes: three stages, after which every rank has every term."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from scripts.website.figures import figure_of
from scripts.website.figures.node_sums import stages

SIZES = pytest.mark.parametrize(("nodes", "gpus"), [(2, 4), (3, 4), (4, 8)])


@SIZES
def test_every_rank_ends_with_every_term(nodes: int, gpus: int) -> None:
    first, *_, last = stages(nodes, gpus)
    ranks = set(first.held)
    assert len(ranks) == nodes * gpus
    assert all(share == {rank} for rank, held in first.held.items() for share in held)
    assert all(share == ranks for held in last.held.values() for share in held)


@SIZES
def test_a_stage_inside_brings_no_term_of_another_node(nodes: int, gpus: int) -> None:
    """After the reduce-scatter a rank has one share, summed over its own node."""
    _, inside, across, _ = stages(nodes, gpus)
    for (node, gpu), held in inside.held.items():
        kept = [number for number, share in enumerate(held) if share]
        assert kept == [gpu]
        assert {rank[0] for rank in held[gpu]} == {node}
    for (_, gpu), held in across.held.items():
        assert [len(share) for share in held] == [
            nodes * gpus * (number == gpu) for number in range(gpus)
        ]


@pytest.mark.parametrize("nodes", [2, 8])
def test_a_card_carries_an_eighth_in_a_node_of_eight(nodes: int) -> None:
    """The calculator's time across nodes is an all-reduce of an eighth through one card."""
    size, card = 8e9, 50e9
    answer = calculate(
        "collective",
        chip="nvidia/h100-sxm",
        topology="two-level",
        chips=8 * nodes,
        chips_per_node=8,
        scaleout_bandwidth=card,
        bytes=size,
        op="all-reduce",
        startup=0,
        ramp=0,
        efficiency=1,
    )
    exchanged = 2 * (1 - 1 / nodes) * size / 8 / card
    inside = 2 * 7 / 8 * size / 450e9
    assert answer["seconds"] == pytest.approx(max(exchanged, inside), rel=0.01)


def test_what_a_stage_leaves_as_it_was_keeps_its_colour() -> None:
    """In the last stage each rank had its own share already: one of four in each of two nodes."""
    drawn = figure_of("node-sums")
    boxes = [
        len(re.findall(f'<rect class="fb-{kind}"', "".join(drawn.parts))) for kind in ("c0", "c1")
    ]
    assert boxes == [2 * 16 + 2 * 4, 2 * 2 * 4 + 2 * 12]
