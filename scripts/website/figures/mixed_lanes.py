"""Blocks of FSDP and TP together on three lanes: arithmetic, weights over X, activations over Y."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure
from scripts.website.figures.overlap import (
    BACKWARD,
    FORWARD,
    GATHERED,
    SUMMED,
    Bar,
    lane_readings,
    panels,
)

CHIP, MODEL, CHIPS, TOKENS = "google/tpu-v5p", "llama-3-70b", 1024, 500_000
SIDES = (8, 8, 16)  # of the slice
DEGREES = (512, 256, 128)  # of FSDP
BLOCKS = 12  # of which some in the middle are drawn, far from either end of the model
# The arithmetic between whose ends is drawn; numbers of one digit, since W10 has no room.
SHOWN = ("F6", "F8"), ("B6", "B4")
LANES = ("arithmetic", "weights, X", "tokens, Y")
_WORK = {"F": 1, "B": 2}  # arithmetic of a pass


def stretch(group: int) -> float:
    """How much longer a gather takes on a part of a side than on a closed ring of the torus.

    At the end of an open line one link, half of the rate of a ring, brings all that a chip lacks.
    """
    return 1 if group in SIDES else 2 * (1 - 1 / group)


def traffic(degree: int) -> tuple[float, float]:
    """Time of weights and of activations of a block's forward pass, over its arithmetic."""
    best = calculate(
        "mixed-limit",
        chip=CHIP,
        model=MODEL,
        ffn_kind="gated",
        axes=3,
        tensor_axes=1,
        chips=CHIPS,
        batch_tokens=TOKENS,
    )
    half, off = 1 / (2 * float(best["slack"])), degree / float(best["x_opt"])
    return half * off, half / off * stretch(CHIPS // degree)


def passes(degree: int, count: int = BLOCKS) -> list[Bar]:
    """Blocks forward and back: weights come a block ahead, tokens when they are due.

    Forward both exchanges of tokens are exposed, backward the first of three.
    """
    weights, tokens = traffic(degree)
    bars: list[Bar] = []
    now, wire = 0.0, 0.0  # when the last block is through, and when X is free
    unsummed = 0  # the block whose gradients wait to be scattered
    order = [("F", block) for block in range(1, count + 1)]
    order += [("B", block) for block in range(count, 0, -1)]
    for kind, block in order:
        bars.append(Bar(1, wire, wire + weights, f"W{block}", GATHERED))
        wire += weights
        bars.append(Bar(2, now, now + tokens / 2, f"G{block}", GATHERED))
        start = max(now + tokens / 2, wire)
        if unsummed:
            wire = _scatter(bars, unsummed, max(wire, now), weights)
        end = start + _WORK[kind]
        bars.append(Bar(0, start, end, f"{kind}{block}", FORWARD if kind == "F" else BACKWARD))
        wire = max(wire, start)  # a buffer for the next block is free once this one computes
        if kind == "F":
            now = end + tokens / 2
            bars.append(Bar(2, end, now, f"R{block}", SUMMED))
            continue
        # The third of four products needs no token from elsewhere, and the last one no sum.
        bars.append(Bar(2, end - 1, end - 1 + tokens / 2, f"G{block}", GATHERED))
        bars.append(Bar(2, end - 0.5, end - 0.5 + tokens / 2, f"R{block}", SUMMED))
        now, unsummed = end, block
    _scatter(bars, unsummed, max(wire, now), weights)
    return bars


def _scatter(bars: list[Bar], block: int, start: float, weights: float) -> float:
    """Add the reduce-scatter of a block's gradients; when the wires of X are free again."""
    bars.append(Bar(1, start, start + weights, f"S{block}", SUMMED))
    return start + weights


def middle(degree: int) -> list[Bar]:
    """Bars of two blocks forward and then of two back; what is left of the others is cut off."""
    bars = passes(degree)
    ends = {bar.text: bar.end for bar in bars if bar.lane == 0}
    drawn, now = [], 0.0
    for before, last in SHOWN:
        first, until = ends[before], ends[last]
        for bar in bars:
            start, end = max(bar.start, first), min(bar.end, until)
            if start < end:
                drawn.append(bar._replace(start=start - first + now, end=end - first + now))
        now += until - first
    return drawn


def length(degree: int) -> float:
    """Time of a block forward and back, far from either end of the model, over its arithmetic."""
    bars = middle(degree)
    return max(bar.end for bar in bars) / sum(bar.end - bar.start for bar in bars if bar.lane == 0)


def figure() -> Figure:
    """A panel for each degree, the one that moves least at the end."""
    drawn = {
        f"FSDP {degree}, TP {CHIPS // degree}: a step takes {length(degree):.2f} times its "
        "arithmetic": middle(degree)
        for degree in DEGREES
    }
    foot, shapes = panels(drawn, LANES)
    few, fast, best = DEGREES
    return Figure(
        f"With its exchanges exposed TP {CHIPS // fast} takes {length(fast):.2f} times the "
        f"arithmetic, TP {CHIPS // best}, which moves least, {length(best):.2f}, and TP "
        f"{CHIPS // few} {length(few):.2f}",
        ". ".join(drawn) + ".",
        f"The run of the worked example, {shape(MODEL).model.name} on {CHIPS:,} "
        f"{find_chip(CHIP).name} with {format_quantity(TOKENS, 'token')}: two blocks of "
        "many forward (F and the number of the block) and, further on, two back (B). W: weights "
        "over X, a block ahead. S: their gradients scattered. Short bars over Y: tokens gathered "
        "(light), results reduce-scattered (dark). Look at the gaps of the arithmetic: at the top "
        "it waits for W, further down for tokens.",
        foot,
        shapes,
        readings=lane_readings(drawn.items(), LANES),
    )
