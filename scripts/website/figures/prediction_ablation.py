"""Error of the predicted training step as pieces are added to the bare roofline, and left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flopbook.drawing.scales import Scale
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, dot, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.measured.ablation import AblationLine, ablation

_ROW, _TOP = 22.0, 44.0
_LOW = 5.0
# The highest error of a column and its ticks; without one piece no error is as large as bare.
_ADDED, _LEFT_OUT = 600.0, 60.0
_TICKS = {_ADDED: (5, 10, 20, 50, 100, 200, 500), _LEFT_OUT: (5, 10, 20, 50)}
_FEW_TICKS = {_ADDED: (5, 20, 100, 500), _LEFT_OUT: (5, 10, 20, 50)}


class AblationColumn(NamedTuple):
    """A column of the picture: its title, its lines by name of a piece, its scale and ticks."""

    title: str
    lines: dict[str, AblationLine]
    scale: Scale
    ticks: Sequence[int]

    @property
    def middle(self) -> float:
        """Where its title stands."""
        return (self.scale.start + self.scale.end) / 2


def figure() -> Figure:
    """A row for each piece: left with it and all above, right without it alone."""
    rows = ablation()
    added, left_out = ({line.name: line for line in lines} for lines in rows[2:])
    sides = _sides((added, left_out), (222, 416), (446, 628), _TICKS)
    bare, share = rows.added[:2]
    worst = max(rows.left_out, key=lambda line: line.p90)
    shapes, height = _rows(sides, rows.added, 212, 100 * rows.whole.median)
    return Figure(
        f"From the bare roofline to the whole the median error falls from {_said(bare.median)} to "
        f"{_said(rows.whole.median)}",
        f"Errors of {rows.rows} training runs, each predicted by fits that left its cluster out, "
        "on a logarithmic axis of per cent: median and 90th percentile. Added from the top: "
        + "; ".join(f"{line.label} {_pair(line)}" for line in rows.added)
        + ". Left out alone: "
        + "; ".join(f"{line.label} {_pair(line)}" for line in rows.left_out)
        + ".",
        f"Error of {rows.rows} published training runs that the fit has not seen. Left ends: "
        "median; right ends: nine of ten runs are closer. Dashed: the median of the whole. Every "
        "line is a fit of its own, so what remains makes up for what is missing. One constant "
        f"share of the peak is off by {_said(share.median)} in the middle; leaving out "
        f"{worst.label} costs most in the tail.",
        height,
        shapes,
        narrow=_narrow(rows.added, added, left_out, 100 * rows.whole.median),
        readings=tuple(
            FigureValue(f"{side.title}: {line.label}", name, error, "percent")
            for side in sides
            for line in side.lines.values()
            for name, error in (("median", line.median), ("mean", line.mean), ("p90", line.p90))
        ),
    )


def _sides(
    lines: tuple[dict[str, AblationLine], dict[str, AblationLine]],
    first: tuple[float, float],
    second: tuple[float, float],
    ticks: Mapping[float, Sequence[int]],
) -> tuple[AblationColumn, AblationColumn]:
    """The two columns, each with a scale of its own."""
    added, left_out = lines
    return (
        AblationColumn("with it and all above", added, Scale(_LOW, _ADDED, *first), ticks[_ADDED]),
        AblationColumn(
            "all but this one", left_out, Scale(_LOW, _LEFT_OUT, *second), ticks[_LEFT_OUT]
        ),
    )


def _narrow(
    rows: Sequence[AblationLine],
    added: dict[str, AblationLine],
    left_out: dict[str, AblationLine],
    whole: float,
) -> Sheet:
    """The two columns side by side under their labels, on a sheet for phones."""
    sides = _sides((added, left_out), (8, 160), (192, 334), _FEW_TICKS)
    row, shapes = 2 * _ROW - 6, []
    bottom = _TOP + row * len(rows)
    for side in sides:
        shapes += _frame(side, bottom, grid=False)
    for number, line in enumerate(rows):
        middle = _TOP + row * (number + 0.7)
        shapes.append(words(4, middle - 10, line.label, "start", "fb-small"))
        for side in sides:
            shapes += [*_level(side, middle - 2, middle + 10, whole)]
            shapes += _marks(side, line.name, middle + 4)
    return Sheet(344, bottom + 40, tuple(shapes))


def _rows(
    sides: Sequence[AblationColumn], rows: Sequence[AblationLine], labels: float, whole: float
) -> tuple[tuple[str, ...], float]:
    bottom = _TOP + _ROW * len(rows)
    shapes: list[str] = []
    for side in sides:
        shapes += [*_frame(side, bottom), *_level(side, _TOP - 8, bottom, whole)]
    for number, line in enumerate(rows):
        middle = _TOP + _ROW * (number + 0.5)
        shapes.append(words(labels, middle + 4, line.label, "end"))
        for side in sides:
            shapes += _marks(side, line.name, middle)
    shapes += _ends(sides[0], rows[0].name, _TOP + _ROW * 0.5 - 10)
    return tuple(shapes), bottom + 44


def _ends(side: AblationColumn, name: str, baseline: float) -> list[str]:
    """What the two ends of a line are, above those of one row."""
    line = side.lines[name]
    ends = ((line.median, "median"), (line.p90, "nine of ten"))
    return [
        words(side.scale.at(100 * size), baseline, said, kind="fb-small") for size, said in ends
    ]


def _frame(side: AblationColumn, bottom: float, *, grid: bool = True) -> list[str]:
    """Grid, ticks and title of a column."""
    shapes = [words(side.middle, 20, side.title, kind="fb-strong")]
    for tick in side.ticks:
        x = side.scale.at(tick)
        if grid:
            shapes.append(path([(x, _TOP - 8), (x, bottom)], "fb-grid"))
        shapes.append(words(x, bottom + 16, f"{tick}"))
    return [*shapes, words(side.middle, bottom + 34, "error, per cent")]


def _level(side: AblationColumn, top: float, bottom: float, error: float) -> list[str]:
    """A dashed line at the error of the whole."""
    x = side.scale.at(error)
    return [path([(x, top), (x, bottom)], "fb-dashed")]


def _marks(side: AblationColumn, name: str, middle: float) -> list[str]:
    """The median, and the error that nine of ten runs stay below."""
    line = side.lines.get(name)
    if line is None:
        return []
    median, high = (side.scale.at(100 * size) for size in (line.median, line.p90))
    tip = f"{line.label}: {_pair(line)}, mean {_said(line.mean)}"
    return [
        path([(median, middle), (high, middle)], "fb-stroke"),
        dot(median, middle, "fb-c0", tip, radius=5),
        dot(high, middle, "fb-c1", tip, radius=4),
    ]


def _said(size: float) -> str:
    return percent(size)


def _pair(line: AblationLine) -> str:
    return f"{_said(line.median)}, nine of ten below {_said(line.p90)}"
