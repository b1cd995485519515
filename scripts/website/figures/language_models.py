"""Test perplexity of language models by the month of the paper, and how large they were."""

from __future__ import annotations

import re
from typing import NamedTuple

from flopbook.ledger.rows import ledger_rows
from flopbook.quantities.units import format_quantity, parse_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

_PAPER = re.compile(r"(\d\d)(\d\d)\.\d{5}")
_LABELS = {
    "lstm": ("LSTM", (9, 4), "start"),
    "gated-cnn": ("gated CNN", (9, 4), "start"),
    "hebbian-lstm": ("LSTM with memory", (9, 4), "start"),
    "adaptive-inputs": ("adaptive inputs", (10, -2), "start"),
    "transformer-xl": ("Transformer-XL", (-10, 12), "end"),
    "routing": ("Routing Transformer", (9, 4), "start"),
    "megatron": ("Megatron-LM", (-14, 6), "end"),
    "gopher": ("Gopher", (-20, 8), "end"),
    "chinchilla": ("Chinchilla", (16, 14), "start"),
}


class ModelPoint(NamedTuple):
    """A model: name, date of its paper, test perplexity, and parameters (0 where not stated)."""

    key: str
    year: float
    perplexity: float
    params: float


def points() -> list[ModelPoint]:
    """The rows of the ledger on this test, oldest first; the paper's number has the month."""
    dated = []
    for row in ledger_rows():
        month = _PAPER.search(row.place or "")
        if not row.id.startswith("wikitext-") or month is None:
            continue
        size = row.stated.text.partition(" with ")[2]
        year = 2000 + int(month[1]) + (int(month[2]) - 0.5) / 12
        params = parse_quantity(size, "param") if size else 0.0
        dated.append(
            ModelPoint(row.id.removeprefix("wikitext-"), year, float(row.stated.value or 0), params)
        )
    return sorted(dated, key=lambda point: point.year)


def radius(params: float) -> float:
    """Of a point, in pixels: a decade of parameters is three pixels more."""
    from math import log10

    return 3.5 if not params else 3 + 3 * max(log10(params / 1e8), 0.2)


def figure() -> Figure:
    """Perplexity on a logarithmic axis against time; the larger a point, the larger the model."""
    shown = points()
    chart = Chart(
        ChartAxis("month of the paper", 2016.5, 2023, "", log=False),
        ChartAxis("test perplexity", 5, 60, ""),
    )
    shapes = chart.grid()
    for point in sorted(shown, key=lambda point: -point.params):
        name, shift, anchor = _LABELS.get(point.key, (point.key, (9, 4), "start"))
        size = format_quantity(point.params, "param") if point.params else "size not in the source"
        tip, kind = f"{name}: {point.perplexity:g}, {size}", "fb-c0" if point.params else "fb-c5"
        shapes.append(
            chart.dot(point.year, point.perplexity, tip, kind, float(f"{radius(point.params):.2g}"))
        )
        shapes.append(chart.words((point.year, point.perplexity), name, anchor, shift))
    values = [point.perplexity for point in shown]
    best = min(shown, key=lambda point: point.perplexity)
    years = best.year - max(shown, key=lambda point: point.perplexity).year
    facts = "; ".join(f"{_LABELS.get(p.key, (p.key,))[0]} {p.perplexity:g}" for p in shown)
    return Figure(
        f"Perplexity on one test fell from {max(values):.1f} to {min(values):.1f} in about "
        f"{years:.0f} years",
        f"Test perplexity on WikiText-103, on a logarithmic axis from 2016 to 2022: {facts}. Lower "
        "is better. The models grow from a few hundred million parameters to hundreds of billions.",
        "Perplexity is the number of words among which a model in effect still hesitates. The area "
        "of a point grows with the parameters; grey where the source gives none. Later models have "
        "read far more text, so the test is not the same for all.",
        334,
        tuple(shapes),
        plots=(chart,),
    )
