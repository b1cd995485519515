"""The squared length of a gradient by its tokens: signal and noise, read off two measurements."""

from __future__ import annotations

from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

# The run of the chapter's exercise: tokens of a rank and of the batch, squared lengths at both.
RANK, BATCH = 2.0**14, 2.0**20
AT_RANK, AT_BATCH = 2.5, 0.1
_TOKENS = tuple(2.0 ** (power / 2) for power in range(24, 47))


def parts() -> tuple[float, float]:
    """Variance that one token adds, and the squared length of the gradient over all text."""
    variance = (AT_RANK - AT_BATCH) / (1 / RANK - 1 / BATCH)
    signal = (BATCH * AT_BATCH - RANK * AT_RANK) / (BATCH - RANK)
    return variance, signal


def squared(tokens: float) -> float:
    """Squared length of a gradient over so many tokens, on average."""
    variance, signal = parts()
    return signal + variance / tokens


def figure() -> Figure:
    """A falling line that ends on a level one, and two measured points."""
    variance, signal = parts()
    scale = variance / signal
    chart = Chart(
        ChartAxis("tokens that a gradient averages", _TOKENS[0], _TOKENS[-1], "token"),
        ChartAxis("squared length", 0.004, 20, "1"),
        (84, 14, 520, 270),
    )
    shapes = chart.grid()
    shapes += chart.lines(
        [
            ("measured", [(tokens, squared(tokens)) for tokens in _TOKENS]),
            ("noise", [(tokens, variance / tokens) for tokens in _TOKENS]),
        ]
    )
    shapes.append(chart.level(signal, name="signal"))
    shapes.append(chart.words((_TOKENS[1], signal), "signal", shift=(0, 16)))
    for tokens, length, name in ((RANK, AT_RANK, "one rank"), (BATCH, AT_BATCH, "all ranks")):
        shapes.append(chart.dot(tokens, length, f"{name}: {length:g}"))
        shapes.append(chart.words((tokens, length), name, shift=(8, -8)))
    shapes.append(chart.dot(scale, signal, f"noise scale: {scale:,.0f} tokens", "fb-c1"))
    shapes.append(chart.words((scale, signal), "noise scale", "end", shift=(-8, 16)))
    return Figure(
        f"Two lengths of gradients give a noise scale of {scale / 1000:.0f} thousand tokens",
        f"Both axes logarithmic. One rank of {RANK:,.0f} tokens: {AT_RANK:g}; all "
        f"{BATCH:,.0f} tokens: {AT_BATCH:g}; level of the signal: {signal:.3f}.",
        "The run of an exercise below. Noise falls in proportion to the tokens, the signal is the "
        "dashed level, and where the two meet is the noise scale. To the left more tokens shorten "
        "the gradient, to the right they hardly change it.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
