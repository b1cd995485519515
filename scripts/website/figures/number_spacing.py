"""Every number that a few narrow formats can write, on a line from zero."""

from __future__ import annotations

from flopbook.drawing.scales import Scale
from flopbook.quantities.number_formats import number_format
from scripts.website.figures.drawing import Figure, dot, path, words
from scripts.website.figures.plotted import FigureValue

_SHOWN = ("fp8 E5M2", "fp8 E4M3", "fp4 E2M1", "int4")
_TO = 8.0


def figure() -> Figure:
    """One line for each format with a point for each value up to eight."""
    x = Scale(0, _TO, 96, 620, log=False)
    shapes = []
    for number, name in enumerate(_SHOWN):
        y = 26 + 40 * number
        values = [value for value in number_format(name).values if 0 <= value <= _TO]
        shapes += [path([(x.start, y), (x.end, y)], "fb-grid"), words(86, y + 4, name, "end")]
        shapes += [dot(x.at(value), y, "fb-c0", f"{value:g}", 3) for value in values]
    bottom = 26 + 40 * len(_SHOWN)
    shapes += [words(x.at(tick), bottom, f"{tick:g}") for tick in range(int(_TO) + 1)]
    counts = "; ".join(
        f"{name}: {sum(0 <= value <= _TO for value in number_format(name).values)} values"
        for name in _SHOWN
    )
    return Figure(
        "Floating-point numbers crowd near zero and thin out; whole numbers stand evenly",
        f"Number lines with a point for each value. {counts}. The points of int4 are evenly apart; "
        "those of the floating-point formats lie close together near zero and twice as far apart "
        "after each power of two.",
        "All that narrow formats can write between 0 and 8. Because the gaps grow with the number, "
        "the error of rounding is a share of it. E5M2 reaches closer to zero than E4M3 and is "
        "coarser elsewhere; int4, whole numbers alone, is there for comparison.",
        bottom + 12,
        tuple(shapes),
        readings=tuple(
            FigureValue(name, "value", value)
            for name in _SHOWN
            for value in number_format(name).values
            if 0 <= value <= _TO
        ),
    )
