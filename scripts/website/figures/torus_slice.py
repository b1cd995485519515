"""Slices of a TPU pod drawn from their shape: which axes close into rings; hops and links."""

from __future__ import annotations

from math import prod

from flopbook.errors import FlopbookError
from scripts.website.figures.drawing import WIDTH, Figure, dot, path, words

CUBE = 4  # chips along a side of a cube of v4 and v5p
FULL = 16  # chips along an axis of a pod of v5e and v6e that closes
SHAPES = "2x2x1; 4x4x4; 4x4x8; 8x16; 16x16"
_MOST, _TOP, _SIDE = 6, 44.0, 104.0


def read_shape(text: str) -> tuple[int, ...]:
    """The sides of a slice written as 4x4x8.

    Raises FlopbookError for anything else than two or three sides.
    """
    sides = text.strip().split("x")
    if len(sides) not in (2, 3) or not all(
        side.isdigit() and 1 <= int(side) <= 64 for side in sides
    ):
        raise FlopbookError(
            f"a slice is written as 4x4x8 or 16x16 with sides up to 64, found '{text.strip()}'"
        )
    return tuple(map(int, sides))


def closed(shape: tuple[int, ...]) -> tuple[bool, ...]:
    """Which axes wrap around: of three, all for whole cubes; of two, those as long as the pod."""
    if len(shape) == 3:
        return (all(side % CUBE == 0 for side in shape),) * 3
    return tuple(side == FULL for side in shape)


def hops(shape: tuple[int, ...]) -> int:
    """Hops between the two chips that are furthest apart."""
    return sum(
        side // 2 if wrap else side - 1 for side, wrap in zip(shape, closed(shape), strict=True)
    )


def across(shape: tuple[int, ...]) -> int:
    """Links through a cut across the longest side."""
    longest = max(range(len(shape)), key=lambda n: shape[n])
    return prod(shape) // shape[longest] * (2 if closed(shape)[longest] else 1)


def figure(shapes: str = SHAPES) -> Figure:
    """The slices side by side.

    Raises FlopbookError for shapes that cannot be read, or too many of them.
    """
    slices = [read_shape(text) for text in shapes.split(";")]
    if len(slices) > _MOST:
        raise FlopbookError(f"{len(slices)} slices are too many for one picture, at most {_MOST}")
    step = WIDTH / len(slices)
    parts, told = [], []
    for number, shape in enumerate(slices):
        left, name = number * step, " × ".join(map(str, shape))
        wraps = sum(side > 1 and wrap for side, wrap in zip(shape, closed(shape), strict=True))
        kind = "torus" if wraps == len(shape) else "mesh" if not wraps else "closed on one axis"
        facts = (
            f"{prod(shape)} chips, {kind}",
            f"{hops(shape)} hops at most",
            f"{across(shape)} links across",
        )
        middle = left + step / 2
        parts += [words(middle, 18, name, kind="fb-strong"), *_drawn(shape, middle - _SIDE / 2)]
        parts += [
            words(middle, _TOP + _SIDE + 30 + 15 * n, text, kind="fb-small")
            for n, text in enumerate(facts)
        ]
        told.append(f"{name}: {', '.join(facts)}")
    return Figure(
        "Slices of a TPU pod",
        f"{'; '.join(told)}. Three sides: cubes of {CUBE} by {CUBE} by {CUBE} that optical "
        f"switches close. Two sides: an axis closes where it has {FULL} chips.",
        "Every dot is a chip; a long side is drawn with fewer. Dashed ends are links that go round "
        f"to the other side. With three sides a slice of whole cubes ({CUBE} × {CUBE} × {CUBE}) "
        f"closes on every axis; with two sides only an axis of {FULL} does.",
        _TOP + _SIDE + 70,
        tuple(parts),
    )


def _drawn(shape: tuple[int, ...], left: float) -> list[str]:
    """The front face of the slice, layers behind it shifted, and stubs where an axis closes."""
    layers = min(shape[2], 3) if len(shape) == 3 else 1
    across_, down = (min(side, 8) for side in shape[:2])
    gap = (_SIDE - 12 * (layers - 1) - 16) / max(across_ - 1, down - 1, 1)
    gap, wrap = min(gap, 34.0), closed(shape)
    parts = []
    for layer in reversed(range(layers)):
        x0, y0 = left + 8 + 12 * layer, _TOP + 8 + 12 * (layers - 1 - layer)
        xs, ys = [x0 + gap * n for n in range(across_)], [y0 + gap * n for n in range(down)]
        if layer:
            parts += [dot(x, y, "fb-c5", "", 3.5) for x in xs for y in ys]
            continue
        # To and fro in two lines: from the end of a row to the next one there is a link, too.
        wide, high = (xs[0], xs[-1]), (ys[0], ys[-1])
        rows = [(x, y) for n, y in enumerate(ys) for x in (wide if n % 2 == 0 else wide[::-1])]
        columns = [(x, y) for n, x in enumerate(xs) for y in (high if n % 2 == 0 else high[::-1])]
        parts += [path(rows), path(columns)]
        if wrap[0]:
            parts += [
                path([(x, y), (x + d, y)], "fb-dashed")
                for y in ys
                for x, d in ((xs[0], -9), (xs[-1], 9))
            ]
        if wrap[1]:
            parts += [
                path([(x, y), (x, y + d)], "fb-dashed")
                for x in xs
                for y, d in ((ys[0], -9), (ys[-1], 9))
            ]
        parts += [dot(x, y, "fb-c0", "", 3.5 if across_ > 4 else 5) for x in xs for y in ys]
    if len(shape) == 3 and shape[2] > layers:
        parts.append(
            words(left + _SIDE / 2, _TOP + _SIDE + 14, f"{shape[2]} layers", kind="fb-small")
        )
    return parts
