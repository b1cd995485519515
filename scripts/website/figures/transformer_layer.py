"""One layer of a decoder, with the shape of every weight and what flows between them."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, Sheet, arrow, box, labelled, path, words
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import EDGE, SHEET

_STREAM, _FOOT = 40.0, 262.0  # the stream, and the foot of the blocks below it
_NEXT = 286.0  # from the first block to the second, which a phone shows below it


def figure() -> Figure:
    """The residual stream from left to right, with the two blocks below it."""
    shapes = [
        words(14, _STREAM - 10, "In [B, D]", "start"),
        arrow((14, _STREAM), (626, _STREAM)),
        words(626, _STREAM - 10, "Out [B, D]", "end"),
        *_attention((60, 0)),
        *_feed_forward((352, 0)),
    ]
    return Figure(
        "A layer is seven weight matrices, in two blocks that add to a stream",
        "A stream of B tokens of width D runs from left to right. The attention block reads it, "
        "multiplies by the weights Q, K and V, mixes values by scores, multiplies by O and adds "
        "its result to the stream. The feed-forward block does the same with up, gate and down. "
        "Every blue box is a matrix product with weights.",
        "Blue boxes are weights, and each is one matmul; H heads of width d, G "
        "heads for keys and values. SiLU of gate times up goes into down. What the blocks compute "
        "is added to the stream.",
        270,
        tuple(shapes),
        narrow=Sheet(SHEET, _NEXT + 270, tuple(_phone())),
    )


def _phone() -> Iterator[str]:
    """The feed-forward block below the attention, and the stream led round to it."""
    end, back = SHEET - EDGE, _FOOT + 12
    yield words(EDGE, _STREAM - 10, "In [B, D]", "start")
    turn = [(EDGE, _STREAM), (end, _STREAM), (end, back), (EDGE, back), (EDGE, _NEXT + _STREAM)]
    yield path(turn)
    yield arrow((EDGE, _NEXT + _STREAM), (end, _NEXT + _STREAM))
    yield words(end, _NEXT + _STREAM - 10, "Out [B, D]", "end")
    yield from _attention((40, 0))
    yield from _feed_forward((40, _NEXT))


def _attention(corner: Point) -> Iterator[str]:
    """The block of attention below the stream; `corner` is the left end of its part of it."""
    x, y = corner
    yield box(x, y + 66, 262, 194, "fb-hollow")
    yield words(x + 82, y + 86, "Attention", "start", "fb-strong")
    yield labelled((x + 12, y + 96, 62, 26), "norm", "c5")
    for number, name in enumerate(("Q [D, H·d]", "K [D, G·d]", "V [D, G·d]")):
        yield labelled((x + 12, y + 132 + 34 * number, 86, 26), name, "c0")
        yield arrow((x + 98, y + 145 + 34 * number), (x + 112, y + 145 + 34 * number))
    yield labelled((x + 112, y + 132, 62, 94), "scores,\nsoftmax,\nmix", "c1")
    yield arrow((x + 174, y + 179), (x + 188, y + 179))
    yield labelled((x + 188, y + 166, 64, 26), "O [H·d, D]", "c0")
    yield words(x + 12, y + 250, "no weights where it is orange", "start", "fb-small")
    yield from _joined((x + 43, y), (x + 220, y + 166))


def _feed_forward(corner: Point) -> Iterator[str]:
    """The feed-forward block below the stream."""
    x, y = corner
    yield box(x, y + 66, 244, 194, "fb-hollow")
    yield words(x + 82, y + 86, "Feed-forward", "start", "fb-strong")
    yield labelled((x + 12, y + 96, 62, 26), "norm", "c5")
    yield labelled((x + 12, y + 132, 86, 26), "up [D, F]", "c0")
    yield labelled((x + 12, y + 166, 86, 26), "gate [D, F]", "c0")
    yield labelled((x + 112, y + 141, 40, 42), "SiLU,\n×", "c1")
    yield labelled((x + 164, y + 149, 72, 26), "down [F, D]", "c0")
    yield arrow((x + 98, y + 145), (x + 112, y + 152))
    yield arrow((x + 98, y + 179), (x + 112, y + 172))
    yield arrow((x + 152, y + 162), (x + 164, y + 162))
    yield words(x + 12, y + 250, "D to F and back to D", "start", "fb-small")
    yield from _joined((x + 43, y), (x + 200, y + 149))


def _joined(read: Point, result: Point) -> Iterator[str]:
    """How a block reads the stream, and where its result is added to it."""
    (left, y), (right, top) = read, result
    stream = y + _STREAM
    yield arrow((left, stream), (left, y + 95))
    yield path([(right, top), (right, stream + 9)])
    yield arrow((right, stream + 12), (right, stream + 6))
    yield box(right - 7, stream - 7, 14, 14, "fb-c2")
    yield words(right, stream + 4, "+", kind="fb-on2")
    yield arrow((left, y + 122), (left, y + 132))
