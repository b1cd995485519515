"""Training compute of the models in our data, by the month of the paper."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from flopbook.data.library import load_model, model_ids, references
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_MONTH = re.compile(r"(\d\d)(\d\d)\.\d{4,5}")
_NAMED = {
    "gpt-3-175b": (8, 14, "start"),
    "palm-540b": (-8, -8, "end"),
    "chinchilla-70b": (-8, 2, "end"),
    "llama-3-405b": (-8, -6, "end"),
    "deepseek-v3": (8, 8, "start"),
    "llama-1-65b": (8, 14, "start"),
    "gpt-3-125m": (8, 4, "start"),
    "llama-1-7b": (8, 14, "start"),
}


class TrainingRun(NamedTuple):
    """A training run: model, when its paper appeared (year with a fraction), arithmetic in FLOP."""

    id: str
    name: str
    year: float
    flop: float


def runs() -> list[TrainingRun]:
    """Models whose tokens come from a paper with a month; 6 FLOP per active parameter and token."""
    works, dated = references(), []
    for name in model_ids():
        model = load_model(name)
        tokens = next((c for c in model.claims if c.field == "tokens" and not c.absent), None)
        month = (
            _MONTH.match(works[tokens.source].eprint) if tokens and tokens.source in works else None
        )
        if month is None:
            continue
        try:
            flop = float(calculate("training-flops", model=name)["flop"])
        except FlopbookError:  # its parameters are not published
            continue
        dated.append(
            TrainingRun(name, model.name, 2000 + int(month[1]) + (int(month[2]) - 0.5) / 12, flop)
        )
    return sorted(dated, key=lambda run: run.year)


def figure() -> Figure:
    """One point for each model; the largest and the smallest are named."""
    shown = runs()
    chart = Chart(
        ChartAxis("month of the paper", 2020, math.ceil(shown[-1].year), "", log=False),
        ChartAxis("training compute, FLOP", 1e20, 1e26, ""),
    )
    shapes = chart.grid()
    for run in sorted(shown, key=lambda run: run.id in _NAMED):  # the named ones on top
        tip = f"{run.name}: {format_quantity(run.flop, 'FLOP')}"
        shapes.append(chart.dot(run.year, run.flop, tip, "fb-c0" if run.id in _NAMED else "fb-c5"))
    by_id = {run.id: run for run in shown}
    for name, (dx, dy, anchor) in _NAMED.items():
        run = by_id[name]
        shapes.append(chart.words((run.year, run.flop), run.name, anchor, (dx, dy)))
    least, most = min(shown, key=lambda r: r.flop), max(shown, key=lambda r: r.flop)
    early = max((r for r in shown if r.year < most.year - 3.5), key=lambda r: r.flop)
    return Figure(
        f"Of runs with printed tokens the largest grew {most.flop / early.flop:,.0f} times from "
        f"{early.name} to {most.name}",
        f"{len(shown)} models from 2020 to 2024 on a logarithmic axis, from {least.name} with "
        f"{format_quantity(least.flop, 'FLOP')} to {most.name} with "
        f"{format_quantity(most.flop, 'FLOP')}. The upper edge rises by about a factor of a "
        "hundred.",
        f"Training compute of {len(shown)} models, six operations for each active parameter and "
        "token, those in blue by name. Only models whose tokens are stated in a paper with a date "
        "are drawn.",
        334,
        tuple(shapes),
        plots=(chart,),
    )
