"""An all-reduce over two networks on two lanes: its stages in turn, and cut into chunks."""

from __future__ import annotations

from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure
from scripts.website.figures.overlap import GATHERED, SUMMED, Bar, lane_readings, panels

CHIP, NODE, NODES, ARRAY = "h100-sxm", 8, 64, 1e9
CARD = 50e9  # a network card for each GPU, byte/s one way
CHUNKS = 8
LANES = ("NVLink", "cards")


def inside() -> float:
    """Seconds of a reduce-scatter or a gather in the node."""
    return ARRAY * (1 - 1 / NODE) / float(find_chip(CHIP).scaleup_bandwidth())


def across() -> float:
    """Seconds in which a GPU all-reduces its share with its counterparts, over its card."""
    return 2 * (ARRAY / NODE) * (1 - 1 / NODES) / CARD


def ring() -> float:
    """Seconds of one ring through all GPUs, as fast as the card at which it leaves a node."""
    ranks = NODE * NODES
    return 2 * ARRAY * (1 - 1 / ranks) / CARD


def stages(chunks: int) -> list[Bar]:
    """Each chunk is scattered over NVLink, summed over the cards and gathered over NVLink.

    NVLink gathers a chunk that is summed before it scatters the next one.
    """
    bars, summed = list[Bar](), list[float]()
    nvlink, cards, scattered, gathered = 0.0, 0.0, 0, 0
    while gathered < chunks:
        is_summed = gathered < len(summed) and summed[gathered] <= nvlink
        if is_summed or scattered == chunks:
            start = max(nvlink, summed[gathered])
            nvlink = start + inside() / chunks
            bars.append(Bar(0, start, nvlink, "G", GATHERED))
            gathered += 1
            continue
        start, nvlink = nvlink, nvlink + inside() / chunks
        bars.append(Bar(0, start, nvlink, "R", SUMMED))
        scattered += 1
        start = max(nvlink, cards)
        cards = start + across() / chunks
        bars.append(Bar(1, start, cards, "all-reduce", SUMMED))
        summed.append(cards)
    return bars


def seconds(chunks: int) -> float:
    """How long the all-reduce takes."""
    return max(bar.end for bar in stages(chunks))


def figure() -> Figure:
    """One panel with whole stages, one with chunks."""
    drawn = {
        f"One stage after the other: {format_quantity(seconds(1), 's')}": stages(1),
        f"In {CHUNKS} chunks: {format_quantity(seconds(CHUNKS), 's')}": stages(CHUNKS),
    }
    foot, shapes = panels(drawn, LANES)
    return Figure(
        f"1 GB is summed over {NODE * NODES} GPUs in {1e3 * ring():.0f} ms on one ring, in "
        f"{1e3 * seconds(1):.1f} over two networks, in {1e3 * seconds(CHUNKS):.1f} cut into chunks",
        "Two lanes, NVLink and cards. Whole stages follow each other: scatter, sum, gather. In "
        "chunks the cards hardly rest, and NVLink works beside them. " + ". ".join(drawn) + ".",
        f"{NODES} nodes of {NODE} {find_chip(CHIP).name} with a card of 50 GB/s for each GPU, at "
        "printed rates. R: reduce-scatter in the node, G: gather in the node. NVLink works on one "
        "chunk while the cards sum another, so the slower network sets the time.",
        foot,
        shapes,
        readings=lane_readings(drawn.items(), LANES, "s"),
    )
