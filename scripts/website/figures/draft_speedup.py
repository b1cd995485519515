"""What speculative decoding gains, by the length of the draft and the share accepted."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_ACCEPTED, _LONGEST = (0.5, 0.7, 0.8, 0.9), 16


def figure(draft_time: float = 0.05) -> Figure:
    """One line for each acceptance; `draft_time` is in passes of the large model for each token."""
    chart = Chart(
        ChartAxis("tokens drafted for each pass", 1, _LONGEST, "", log=False),
        ChartAxis("times as many tokens a second", 1, 5, log=False),
        (64, 14, 560, 290),
    )
    shapes, facts = chart.grid(), []
    for number, accepted in enumerate(_ACCEPTED):
        points = [(float(n), _speedup(accepted, n, draft_time)) for n in range(1, _LONGEST + 1)]
        best = max(points, key=lambda point: point[1])
        shapes.append(chart.line(points, number))
        shapes.append(
            chart.dot(
                *best,
                f"{percent(accepted)} accepted: {best[1]:.2f} times with {best[0]:.0f} drafted",
            )
        )
        shapes.append(chart.words(points[-1], percent(accepted)))
        facts.append(
            f"{percent(accepted)} accepted: at best {best[1]:.2f} times with {best[0]:.0f} drafted"
        )
    return Figure(
        "A good draft model matters more than a long draft",
        f"A drafted token takes {percent(draft_time)} of the time of a pass. {'; '.join(facts)}.",
        "Each line is a share of drafted tokens that the large model accepts, with a draft that "
        f"takes {percent(draft_time)} of a pass for each token; the point is the best length. Past "
        "it, tokens are drafted that will be thrown away.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _speedup(accepted: float, drafted: int, draft_time: float) -> float:
    options = {"acceptance": accepted, "draft_tokens": drafted, "draft_time": draft_time}
    return float(calculate("speculative-decoding", **options)["speedup"])
