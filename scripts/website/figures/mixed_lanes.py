"""Blocks of FSDP and TP together on three lanes: arithmetic, weights over X, activations over Y."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure
from scripts.website.figures.overlap import (
    FORWARD,
    GAP,
    GATHERED,
    LANE,
    LEFT,
    SUMMED,
    TITLE,
    TOP,
    Bar,
    panel,
)

CHIP, MODEL, CHIPS, TOKENS = "google/tpu-v5p", "llama-3-70b", 1024, 500_000
DEGREES = (512, 128, 32)  # of FSDP
BLOCKS = 3
LANES = ("arithmetic", "weights, X", "tokens, Y")
PANEL = TITLE + len(LANES) * LANE + GAP


def traffic(degree: float) -> tuple[float, float]:
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
    return half * off, half / off


def blocks(degree: float) -> list[Bar]:
    """Forward passes: weights come a block ahead, tokens when they are due, both halves exposed."""
    weights, tokens = traffic(degree)
    bars: list[Bar] = []
    now, wire = 0.0, 0.0  # when the last block is through, and when X is free
    for block in range(1, BLOCKS + 1):
        bars.append(Bar(1, wire, wire + weights, f"W{block}", GATHERED))
        wire += weights
        bars.append(Bar(2, now, now + tokens / 2, f"G{block}", GATHERED))
        start = max(now + tokens / 2, wire)
        bars.append(Bar(0, start, start + 1, f"F{block}", FORWARD))
        wire = max(wire, start)  # a buffer for the next block is free once this one computes
        now = start + 1 + tokens / 2
        bars.append(Bar(2, start + 1, now, f"R{block}", SUMMED))
    return bars


def length(degree: float) -> float:
    """Time of a block once the first is through, over its arithmetic."""
    ends = [bar.end for bar in blocks(degree) if bar.text.startswith("R")]
    return ends[-1] - ends[-2]


def figure() -> Figure:
    """A panel for each degree, the best one in the middle."""
    drawn = [blocks(degree) for degree in DEGREES]
    scale = (WIDTH - LEFT - 8) / max(bar.end for bars in drawn for bar in bars)
    shapes: list[str] = []
    facts, top = [], TOP
    for degree, bars in zip(DEGREES, drawn, strict=True):
        fact = (
            f"FSDP {degree}, TP {CHIPS // degree}: a block takes {length(degree):.2f} times its "
            "arithmetic"
        )
        shapes += panel(fact, LANES, bars, top, scale)
        facts.append(fact)
        top += PANEL
    few, best = DEGREES[:2]
    return Figure(
        f"With its exchanges exposed TP {CHIPS // few} takes {length(few):.2f} times the "
        f"arithmetic, and TP {CHIPS // best}, which moves least, {length(best):.2f}",
        ". ".join(facts) + ".",
        f"The run of the worked example, {shape(MODEL).model.name} on {CHIPS:,} "
        f"{find_chip(CHIP).name} with {format_quantity(TOKENS, 'token')}: {BLOCKS} forward passes "
        "F of a block. W: its weights over X, a block ahead. G and R: its tokens gathered and its "
        "result reduce-scattered over Y, with nothing beside them. The first W has nothing to hide "
        "behind.",
        top - GAP + 6,
        tuple(shapes),
    )
