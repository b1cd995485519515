"""A layer under TP on two lanes: exchanges in turn with matmuls, and both cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, words
from scripts.website.figures.overlap import (
    FORWARD,
    GATHERED,
    LANE,
    LEFT,
    PANEL,
    SUMMED,
    TITLE,
    TOP,
    Bar,
    lane_readings,
    panels,
)

MODEL, CHIP, DEGREE, TOKENS = "llama-3-70b", "h100-sxm", 8, 4096
LANES = ("matmuls", "NVLink")
PIECES = 8


class LayerMatmul(NamedTuple):
    """A matmul of a layer: it waits for a gather of its input, or a scatter for its result."""

    name: str
    seconds: float
    gathers: bool


def matmuls() -> list[LayerMatmul]:
    """The four of a layer's forward pass; attention scores are left out."""
    sizes, peak = shape(MODEL), float(find_chip(CHIP).peak("bf16"))
    width, keys = sizes.d_model, sizes.kv_heads * sizes.head_dim
    of_a_column = 2 * TOKENS * width / DEGREE / peak
    return [
        LayerMatmul("QKV", (width + 2 * keys) * of_a_column, gathers=True),
        LayerMatmul("O", width * of_a_column, gathers=False),
        LayerMatmul("up, gate", 2 * sizes.d_ff * of_a_column, gathers=True),
        LayerMatmul("down", sizes.d_ff * of_a_column, gathers=False),
    ]


def exchange() -> float:
    """Seconds of a gather or a reduce-scatter of the tokens."""
    array = 2 * TOKENS * shape(MODEL).d_model
    return array * (1 - 1 / DEGREE) / float(find_chip(CHIP).scaleup_bandwidth())


def layer(pieces: int) -> list[Bar]:
    """Matmuls and exchanges of a layer: a piece of the one beside the next piece of the other.

    A matmul waits for each piece of its gather, a scatter for each piece of its matmul.
    """
    bars, now, moved = list[Bar](), 0.0, exchange()
    for matmul in matmuls():
        first = Bar(1, 0, moved, "G", GATHERED)
        second = Bar(0, 0, matmul.seconds, matmul.name, FORWARD)
        if not matmul.gathers:
            first, second = second, Bar(1, 0, moved, "R", SUMMED)
        drawn = _staggered(first, second, now, pieces)
        now = drawn[-1].end
        bars += drawn
    return bars


def _staggered(first: Bar, second: Bar, start: float, pieces: int) -> list[Bar]:
    """Both bars in pieces, each piece of the second once that of the first is there."""
    bars, follows = list[Bar](), start
    for piece in range(pieces):
        begun = start + piece * first.end / pieces
        there = begun + first.end / pieces
        bars.append(first._replace(start=begun, end=there, text=first.text if not piece else ""))
        begun = max(there, follows)
        follows = begun + second.end / pieces
        bars.append(second._replace(start=begun, end=follows, text=second.text))
    return bars


def seconds(pieces: int) -> float:
    """How long the layer takes."""
    return max(bar.end for bar in layer(pieces))


def _unnamed(bar: Bar) -> Bar:
    """A bar without the name of its matmul, which stands below all pieces of it."""
    return bar if bar.lane else bar._replace(text="")


def _names(drawn: list[list[Bar]]) -> Iterator[str]:
    """The name of each matmul below its pieces, in every panel."""
    scale = (WIDTH - LEFT - 8) / max(bar.end for bars in drawn for bar in bars)
    for number, bars in enumerate(drawn):
        y = TOP + number * PANEL + TITLE + len(LANES) * LANE + 10
        for matmul in matmuls():
            start = min(bar.start for bar in bars if bar.text == matmul.name)
            # Two that follow each other are named from their outer ends, else narrow names touch;
            # the second of them waits for nothing between its pieces.
            time, anchor = (start, "start") if matmul.gathers else (start + matmul.seconds, "end")
            x = LEFT + time * scale
            yield words(x, y, matmul.name, anchor, "fb-small")


def figure() -> Figure:
    """One panel with whole exchanges, one with pieces."""
    names = {"One after the other": 1, f"Each cut into {PIECES} pieces": PIECES}
    drawn = {
        f"{name}: the layer takes {format_quantity(seconds(pieces), 's')}": layer(pieces)
        for name, pieces in names.items()
    }
    unnamed = {title: [_unnamed(bar) for bar in bars] for title, bars in drawn.items()}
    foot, shapes = panels(unnamed, LANES)
    work = sum(matmul.seconds for matmul in matmuls())
    return Figure(
        f"Cut into {PIECES} pieces a layer at TP {DEGREE} takes {seconds(PIECES) / work:.2f} "
        f"times its matmuls instead of {seconds(1) / work:.2f}",
        ". ".join(drawn) + ".",
        f"Forward pass of a layer of {shape(MODEL).model.name} with {TOKENS:,} tokens on {DEGREE} "
        f"{find_chip(CHIP).name} at printed rates, attention scores left out. G: tokens are "
        "gathered, R: results are reduce-scattered. Behind the two wide matmuls the exchanges "
        "hide; those of attention take longer than its projections.",
        foot + 14,
        (*shapes, *_names(list(drawn.values()))),
        readings=lane_readings(drawn.items(), LANES, "s"),
    )
