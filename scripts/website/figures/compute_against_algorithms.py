"""How much more a training run got since 2014 from more compute and from better algorithms."""

from __future__ import annotations

from math import log2

from flopbook.ledger.rows import ledger_row
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, path
from scripts.website.figures.plotted import ChartAxis

_YEARS = (2014, 2023)
_MOST = 1e7  # of the axis


def figure() -> Figure:
    """Two growth curves, one of them with its band."""
    chart = Chart(
        ChartAxis("year", _YEARS[0], _YEARS[1], "", log=False),
        ChartAxis("times as much as in 2014", 1, _MOST, ""),
        (84, 14, 500, 290),
    )
    compute = _months("sevilla-doubling-deep")
    better = _months("ho-halving")
    low = _months("ho-halving-slowest-published")
    high = _months("ho-halving-fastest-published")
    span = 12.0 * (_YEARS[1] - _YEARS[0])
    slowest = _grown(span, low)
    leaves = _grown(log2(_MOST) * high, high)  # where the upper edge leaves the picture
    band = [_grown(0, high), slowest, (_YEARS[1], _MOST), leaves]
    points = " ".join(f"{chart.x.at(x)},{chart.y.at(y)}" for x, y in band)
    shapes = [
        f'<polygon class="fb-c2" opacity="0.5" points="{points}"/>',
        *chart.grid(),
        chart.line([_grown(0, compute), _grown(span, compute)], 0, "training compute"),
        chart.line([_grown(0, better), _grown(span, better)], 1, "algorithms, best guess"),
    ]
    for months, name in ((compute, "training compute"), (better, "algorithms, best guess")):
        x, y = _grown(span, months)
        shapes.append(chart.words((x, y), name, shift=(6, 4)))
    for edge, name, shift in ((slowest, "least", (6, 4)), (leaves, "most", (12, 16))):
        shapes.append(chart.line([_grown(0, high), edge], 2, f"algorithms, at {name}"))
        shapes.append(chart.words(edge, f"at {name}", shift=shift))
    shapes.append(path([(84, 290), (500, 290)], "fb-stroke"))
    return Figure(
        f"Compute grew {_two_digits(_grown(span, compute)[1])} times in nine years; algorithms "
        f"gave {_two_digits(_grown(span, better)[1])} times by the best guess",
        f"Two straight lines on a logarithmic axis. Training compute doubles every {compute:g} "
        f"months and has grown {_grown(span, compute)[1]:,.0f} times by {_YEARS[1]}. Algorithms "
        f"halve the compute needed every {better:g} months, a factor of "
        f"{_grown(span, better)[1]:,.0f}; the band goes from one halving in {low:g} months to one "
        f"in {high:g}.",
        "Two reasons why models got better. The dotted lines bound the estimate for algorithms "
        f"in its published version: {_two_digits(slowest[1])} times at least; at most a halving in "
        f"{high:g} months, which leaves the picture after {log2(_MOST) * high / 12:.1f} years.",
        334,
        tuple(shapes),
        plots=(chart,),
    )


def _grown(months: float, doubling: float) -> tuple[float, float]:
    """Year and factor after so many months."""
    return _YEARS[0] + months / 12, 2.0 ** (months / doubling)


def _two_digits(factor: float) -> str:
    """A factor of two digits, as it is said in a title."""
    return f"{float(f'{factor:.2g}'):,.0f}"


def _months(row: str) -> float:
    value = ledger_row(row).stated.value
    assert value is not None, row
    return value
