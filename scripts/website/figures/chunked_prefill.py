"""A long prompt beside a running batch: read at once, or in chunks within a time per iteration."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, Sheet, box, dot, words
from scripts.website.figures.plotted import FigureValue

MODEL, CHIP, CHIPS, PROMPT, BATCH, CONTEXT = "llama-3-70b", "h100-sxm", 8, 4096, 64, 4352
TARGET = 0.030  # seconds that an iteration may take
_BEFORE, _AFTER = 2, 4  # iterations of the batch alone around the prompt
_BAR, _PANEL = 24.0, 92.0


class Iteration(NamedTuple):
    """One pass over the batch: seconds for its tokens, and for a chunk of the prompt."""

    decode: float
    chunk: float

    @property
    def seconds(self) -> float:
        """How long the users of the batch wait for their next token."""
        return self.decode + self.chunk


def step_seconds() -> float:
    """Seconds of a decoding step of the running batch."""
    return float(
        calculate("serving", model=MODEL, chip=CHIP, tp=CHIPS, seq=CONTEXT, batch=BATCH)["seconds"]
    )


def prompt_seconds() -> float:
    """Seconds that reading the whole prompt takes."""
    return float(calculate("prefill", model=MODEL, chip=CHIP, tp=CHIPS, seq=PROMPT)["seconds"])


def at_once() -> list[Iteration]:
    """The prompt is read in one pass, beside one token for each sequence of the batch."""
    return [Iteration(step_seconds(), prompt_seconds())]


def in_chunks(target: float = TARGET) -> list[Iteration]:
    """The prompt is read in as many passes as keep each within the target."""
    step, left = step_seconds(), prompt_seconds()
    passes = []
    while left > 1e-12:
        chunk = min(left, target - step)
        passes.append(Iteration(step, chunk))
        left -= chunk
    return passes


def figure() -> Figure:
    """Two timelines on one scale: what is computed, and when each user gets a token."""
    whole, cut = at_once(), in_chunks()
    longest = [format_quantity(max(step.seconds for step in way), "s") for way in (whole, cut)]
    shapes, height = _timelines(16.0, 610.0)
    sheet, tall = _timelines(4.0, 336.0)
    last = format_quantity(sum(step.seconds for step in cut), "s")
    first = format_quantity(sum(step.seconds for step in whole), "s")
    return Figure(
        f"In chunks the longest wait for a token falls from {longest[0]} to {longest[1]}",
        f"A prompt of {PROMPT:,} tokens arrives beside a batch of {BATCH}. Read at once it takes "
        f"one pass of {longest[0]}. In chunks it takes {len(cut)} passes of {longest[1]} or less, "
        f"and is read after {last} instead of {first}.",
        "Orange is a token for each running sequence, blue the prompt; a dot is the moment when "
        f"every running user gets a token. In chunks no user waits longer than {longest[1]}, and "
        "the new user waits longer for the first token, because each pass also writes for the "
        "others. Bounds at the peak rates, without overlap of the two.",
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=tuple(
            FigureValue(f"{name}, pass {number}", part, seconds, "s")
            for name, way in (("at once", whole), ("in chunks", cut))
            for number, step in enumerate(way, start=1)
            for part, seconds in (("decoding", step.decode), ("prompt", step.chunk))
        ),
    )


def _timelines(left: float, width: float) -> tuple[tuple[str, ...], float]:
    alone = [Iteration(step_seconds(), 0.0)]
    ways = (("prompt read at once", at_once()), ("prompt read in chunks", in_chunks()))
    longest = max(sum(step.seconds for step in way) for _, way in ways)
    scale = width / (longest + (_BEFORE + _AFTER) * step_seconds())
    shapes: list[str] = []
    top = 8.0
    for name, way in ways:
        wait = format_quantity(max(step.seconds for step in way), "s")
        text = f"{name}: longest wait {wait}"
        shapes.append(words(left, top + 12, text, "start", "fb-strong"))
        at = left
        for step in (*alone * _BEFORE, *way, *alone * _AFTER):
            tip = f"{format_quantity(step.seconds, 's')} for a token"
            shapes.append(box(at, top + 22, scale * step.decode - 1, _BAR, "fb-c1", tip))
            if step.chunk:
                begin = at + scale * step.decode
                wide = scale * step.chunk - 1
                shapes.append(box(begin, top + 22, wide, _BAR, "fb-c0", tip))
                if wide > 44:
                    middle = begin + wide / 2, top + 22 + _BAR / 2 + 4
                    shapes.append(words(*middle, "prompt", kind="fb-small fb-on0"))
            at += scale * step.seconds
            shapes.append(dot(at - 1, top + 22 + _BAR + 10, "fb-c0", tip, 3))
        top += _PANEL
    return tuple(shapes), top - 18
