"""How the seconds of a predicted step come together, from matmuls at the peak to the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.asking import predict
from flopbook.quantities.units import format_quantity, two_digits
from scripts.website.figures.drawing import WIDTH, Figure, box, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.step_budget import LAYOUTS, RUN

TOKENS, CHIPS = 4 * 1024**2, 512
# What the picture calls the parts of a prediction, and how each is filled: blue is arithmetic,
# orange is bytes, grey is waiting.
PARTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "attention": (("attention",), "fb-c8"),
    "head, on the last stage": (("head",), "fb-c0"),
    "TP sums": (("tensor_parallel",), "fb-c1"),
    "sends between stages": (("pipeline_sends",), "fb-c1"),
    "bubble": (("bubble",), "fb-c5"),
    "norms and activations": (("elementwise",), "fb-c6"),
    "all else": (("straggling", "gradients", "launches", "optimizer"), "fb-c5"),
}
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 190.0, 70.0, 10.0, 29.0, 20.0


class Cause(NamedTuple):
    """Why a step takes some of its seconds, and how the picture fills them."""

    name: str
    seconds: float
    fill: str


def causes() -> list[Cause]:
    """The seconds of the planned step by their cause, matmuls at the peak first."""
    step = predict({**RUN, **LAYOUTS["as planned"]})
    counted = calculate("params", model=RUN["model"])
    weights = counted["attention"] + counted["ffn"]
    at_peak = 6 * weights * TOKENS / (CHIPS * chip(RUN["chip"]).peak("bf16"))
    found = [
        Cause("matmuls at the peak", at_peak, "fb-c0"),
        Cause("the peak not reached", step.parts["products"] - at_peak, "fb-hollow"),
    ]
    for name, (parts, fill) in PARTS.items():
        found.append(Cause(name, sum(step.parts.get(part, 0.0) for part in parts), fill))
    return found


def figure() -> Figure:
    """A stair of bars: each begins where the one above it ends."""
    found = causes()
    whole = sum(cause.seconds for cause in found)
    scale = (WIDTH - _LEFT - _RIGHT) / whole
    bottom = _TOP + len(found) * _ROW
    end = _LEFT + whole * scale
    shapes = [
        *_stair(found, scale),
        path([(end, _TOP), (end, bottom + 8)], "fb-dashed"),
        words(end, bottom + 22, format_quantity(float(f"{whole:.3g}"), "s"), kind="fb-strong"),
    ]
    first, lost, *others = (cause.seconds for cause in found)
    facts = "; ".join(f"{one.name} {format_quantity(one.seconds, 's')}" for one in found)
    return Figure(
        f"Of {whole:.1f} s matmuls at the peak take {first:.1f}, the peak that they do not reach "
        f"{lost:.1f}, and all other work {sum(others):.1f}",
        f"Seconds of the step by cause: {facts}.",
        "The step of the command above, from the matmuls of all layers at the printed peak to "
        "what is expected. Each bar begins where the one above it ends. Blue is arithmetic, "
        "orange what moves bytes, grey waiting; hollow is what matmuls lose to the clock and to "
        "their shapes.",
        bottom + 30,
        tuple(shapes),
        readings=tuple(FigureValue("step", cause.name, cause.seconds, "s") for cause in found),
    )


def _stair(found: list[Cause], scale: float) -> Iterator[str]:
    x = _LEFT
    for number, cause in enumerate(found):
        top, width = _TOP + number * _ROW, cause.seconds * scale
        text = two_digits(cause.seconds, "s")
        yield words(_LEFT - 8, top + 15, cause.name, "end")
        yield box(x, top, width, _BAR, cause.fill, f"{cause.name}: {text}")
        if width > 60:
            ink = "" if cause.fill == "fb-hollow" else f"fb-on{cause.fill[-1]}"
            yield words(x + width / 2, top + 14.5, text, kind=ink)
        else:
            yield words(x - 6, top + 14.5, text, "end", "fb-small")
        x += width
