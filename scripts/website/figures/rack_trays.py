"""A rack as one domain: trays of GPUs around trays of switches, and the way out of it."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, arrow, box, words
from scripts.website.figures.plotted import FigureValue

CHIP = "nvidia/gb200-gpu"
TRAYS, GPUS, SWITCH_TRAYS = 18, 4, 9  # of a GB200 NVL72: mlcommons2026gb200, its brief
_ROW, _TOP, _NARROW = 22.0, 34.0, 344.0
_FROM = 4  # the row whose links are drawn


def figure(card: float = 50e9) -> Figure:
    """Compute trays on both sides of the switch trays, with the two ways of one GPU."""
    port = chip(CHIP).scaleup_bandwidth()
    fast, slow = format_quantity(port, "byte/s"), format_quantity(card, "byte/s")
    height = _TOP + _ROW * SWITCH_TRAYS + 40
    return Figure(
        f"A GPU reaches the other {TRAYS * GPUS - 1} of its rack at {fast}, all else at {slow}",
        f"{TRAYS} compute trays with {GPUS} GPUs each stand on both sides of {SWITCH_TRAYS} trays "
        f"of switches. One arrow leads from a tray to the switches, {fast} for each GPU; another "
        f"leads out of the rack, {slow} for each.",
        "A GB200 NVL72, drawn by what is joined and not by place. Each blue square is a GPU; the "
        "four of a tray belong to one host. Every pair of GPUs is one switch apart, in whichever "
        "trays. Rates are one way; the card is the one of this chapter's nodes.",
        height,
        tuple(_shapes(WIDTH, fast, slow)),
        narrow=Sheet(_NARROW, height, tuple(_shapes(_NARROW, fast, slow))),
        readings=(
            FigureValue("a rack", "GPUs", TRAYS * GPUS),
            FigureValue("rates", "to the switches", port, "byte/s"),
            FigureValue("rates", "out of the rack", card, "byte/s"),
        ),
    )


def _shapes(width: float, fast: str, slow: str) -> Iterator[str]:
    side, middle, edge = 0.26 * width, 0.18 * width, 0.1 * width
    lefts = (edge, width - edge - side)
    centre = (width - middle) / 2
    for left in lefts:
        yield words(left + side / 2, _TOP - 10, f"{TRAYS // 2} compute trays", kind="fb-strong")
        for row in range(TRAYS // 2):
            yield from _tray(left, _TOP + _ROW * row, side)
    yield words(width / 2, _TOP - 10, f"{SWITCH_TRAYS} switch trays", kind="fb-strong")
    frame = _ROW * SWITCH_TRAYS + 4
    yield box(centre - 5, _TOP - 5, middle + 10, frame, "fb-hollow")
    for row in range(SWITCH_TRAYS):
        yield box(centre, _TOP + _ROW * row, middle, _ROW - 6, "fb-c4", f"switch tray {row + 1}")
    y = _TOP + _ROW * _FROM + (_ROW - 6) / 2
    for left in lefts:
        is_first = left == lefts[0]
        inner = left + side if is_first else left
        yield arrow((inner, y), (centre - 5 if is_first else centre + middle + 5, y), "fb-line1")
    yield arrow((lefts[0], y), (4, y), "fb-line1")
    foot = _TOP + _ROW * SWITCH_TRAYS + 12
    yield words(width / 2, foot, f"to the switches: {fast} for each GPU")
    yield words(width / 2, foot + 18, f"out of the rack: a card of {slow} for each GPU")


def _tray(left: float, top: float, width: float) -> Iterator[str]:
    """A frame with its GPUs."""
    yield box(left, top, width, _ROW - 6, "fb-hollow")
    step = width / GPUS
    for gpu in range(GPUS):
        yield box(left + step * gpu + step / 2 - 6, top + 2, 12, _ROW - 10, "fb-c0", "a GPU")
