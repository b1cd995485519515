"""Where the parameters of some models are: embeddings, attention, feed-forward blocks."""

from __future__ import annotations

from flopbook.data.library import load_model
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import Figure, box, key, words
from scripts.website.figures.plotted import FigureValue

_MODELS = (
    "gpt-2-small",
    "gpt-3-175b",
    "llama-3-8b",
    "llama-3-70b",
    "llama-3-405b",
    "mixtral-8x7b",
    "deepseek-v3",
)
_PARTS = (
    ("embedding", "embeddings and output", "c4"),
    ("attention", "attention", "c1"),
    ("ffn", "feed-forward and experts", "c0"),
)
_LEAST = 0.1  # a smaller share has no room for its number
_LEFT, _WIDE, _ROW = 130, 364, 30


def figure() -> Figure:
    """A bar for each model, all of the same length."""
    shapes: list[str] = []
    left, facts, held = float(_LEFT), [], list[float]()
    readings: list[FigureValue] = []
    for _, name, kind in _PARTS:
        shapes += key(left, 6, name, f"fb-{kind}")
        left += 44 + 6.2 * len(name)
    for number, name in enumerate(_MODELS):
        counts, top, at = calculate("params", model=name), 30 + number * _ROW, float(_LEFT)
        total, model = float(counts["total"]), load_model(name).name
        shapes.append(words(_LEFT - 8, top + 15, model, "end"))
        for part, _, kind in _PARTS:
            share = float(counts[part]) / total
            width = share * _WIDE
            readings.append(FigureValue(model, part, share, "percent"))
            tip = f"{model}, {part}: {percent(share, 1)}"
            shapes.append(box(at, top, width, 22, f"fb-{kind}", tip))
            if share > _LEAST:
                ink = f"fb-on{kind[1]}"
                shapes.append(words(at + width / 2, top + 15, percent(share), kind=ink))
            at += share * _WIDE
        shapes.append(words(_LEFT + _WIDE + 8, top + 15, format_quantity(total, "param"), "start"))
        held.append(float(counts["ffn"]) / total)
        facts.append(f"{model}: {percent(held[-1])}")
    return Figure(
        f"Feed-forward blocks hold {percent(held[0])} of a small model and {percent(held[-1])} of "
        "a mixture",
        f"A bar for each model. The share of the feed-forward blocks is {', '.join(facts)}. "
        "Attention has most of the rest, except in small models, where the embeddings are large.",
        "Shares of all parameters, counted from the published shapes. In large models most "
        "parameters are in the feed-forward blocks; the number at the right is the total.",
        36 + len(_MODELS) * _ROW,
        tuple(shapes),
        readings=tuple(readings),
    )
