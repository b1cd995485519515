"""Number formats of models bit by bit, and a block of small numbers that share a scale."""

from __future__ import annotations

from flopbook.quantities.number_formats import BLOCK, FORMATS, Format
from scripts.website.figures.drawing import Figure, box, words

_CELL, _ROW, _LEFT = 8.2, 24, 104
_PARTS = (
    ("sign", "fb-c1"),
    ("exponent", "fb-c0"),
    ("fraction", "fb-c2"),
    ("whole number", "fb-c4"),
)


def figure() -> Figure:
    """One row for each format, one cell for each bit."""
    shapes = [
        piece
        for number, number_format in enumerate(FORMATS)
        for piece in _row(number_format, 30 + number * _ROW)
    ]
    bottom = 30 + len(FORMATS) * _ROW
    left = float(_LEFT)
    for name, kind in _PARTS:
        shapes += [box(left, 6, 12, 12, kind), words(left + 17, 16, name, "start")]
        left += 40 + 6.4 * len(name)
    shapes += _block(bottom + 18)
    facts = "; ".join(f"{number_format.name}: {_split(number_format)}" for number_format in FORMATS)
    return Figure(
        "Number formats, bit by bit",
        f"One row for each format, one cell for each bit. {facts}. In a block format {BLOCK.size} "
        f"small numbers follow one scale of {BLOCK.scale_bits} bits.",
        "Bits for the exponent buy range, bits for the fraction buy precision. bf16 keeps the "
        "range of fp32 and gives up precision; fp16 does the opposite. At the foot, a block of "
        "small numbers that share one scale.",
        bottom + 70,
        tuple(shapes),
    )


def _row(number_format: Format, top: float) -> list[str]:
    pieces = [words(_LEFT - 8, top + 13, number_format.name, "end")]
    x = float(_LEFT)
    for kind, bits in (
        ("fb-c1", number_format.sign),
        ("fb-c0", number_format.exponent),
        ("fb-c2", number_format.fraction),
        ("fb-c4", number_format.whole),
    ):
        for _ in range(bits):
            pieces.append(box(x, top, _CELL, 17, kind))
            x += _CELL
    return pieces


def _split(number_format: Format) -> str:
    if number_format.whole:
        return f"{number_format.sign} sign and {number_format.whole} bits of a whole number"
    return (
        f"{number_format.sign} sign, {number_format.exponent} exponent, {number_format.fraction} "
        "fraction"
    )


def _block(top: float) -> list[str]:
    """The scale of a block and the numbers that share it."""
    wide = 13.6
    pieces = [
        words(_LEFT - 8, top + 14, "mxfp4 block", "end"),
        box(_LEFT, top, BLOCK.scale_bits * 5, 20, "fb-c3"),
    ]
    start = _LEFT + BLOCK.scale_bits * 5 + 6
    pieces += [box(start + n * wide, top, wide, 20, "fb-c2") for n in range(BLOCK.size)]
    pieces.append(words(_LEFT, top + 36, f"scale, {BLOCK.scale_bits} bits", "start", "fb-small"))
    return [
        *pieces,
        words(
            start + 60, top + 36, f"{BLOCK.size} numbers of {BLOCK.bits} bits", "start", "fb-small"
        ),
    ]
