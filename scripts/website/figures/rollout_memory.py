"""What a GPU holds while a step of reinforcement learning writes, and while it trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure, box, key, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.rollout_step import LONGEST, MEAN, PROMPT, SPREAD
from scripts.website.figures.rollout_tail import alive

CHIP, CHIPS, ANSWERS, TOKENS = "nvidia/h100-sxm", 64, 2048, PROMPT + MEAN
STATE_BYTES, WEIGHT_BYTES = 16.0, 2.0  # of a parameter: trained, and as the engines read it
ENGINES = (("llama-3-8b", 1), ("llama-3-70b", 4))  # models and their TP degrees
PLACES = ("writing", "writing with states on the host", "training")
PARTS = (
    ("states", "c5"),
    ("reference", "c3"),
    ("engine's weights", "c0"),
    ("caches", "c1"),
    ("activations", "c4"),
)
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 176.0, 76.0, 62.0, 36.0, 22.0


class RolloutPhase(NamedTuple):
    """A phase of a step: its name, and bytes of a GPU in the order of PARTS."""

    name: str
    sizes: tuple[float, ...]

    @property
    def total(self) -> float:
        """Bytes of a GPU."""
        return sum(self.sizes)


def fullest() -> float:
    """Most of the caches at one time, over those of all answers complete at once.

    An answer that has ended frees its cache, and lengths are those of the chapter's step.
    """
    lengths = range(int(LONGEST * MEAN))
    return max(alive(length / MEAN, SPREAD) * (PROMPT + length) / TOKENS for length in lengths)


def phases(model: str, tp: int) -> tuple[RolloutPhase, ...]:
    """Writing with the states on the GPU, writing with them on the host, training."""
    params, name = shape(model).params, shape(model).model.name
    states = STATE_BYTES * params / CHIPS
    reference = WEIGHT_BYTES * params / CHIPS
    engine = WEIGHT_BYTES * params / tp
    cache = float(calculate("kv-cache", model=model, seq=TOKENS)["bytes"])
    caches = fullest() * ANSWERS * cache / CHIPS
    step = {"recompute": "full", "attention": "flash", "dropout": "no"}
    memory = calculate("memory", model=model, dp=CHIPS, zero=3, seq=TOKENS, **step)
    live = float(memory["activations"]) + float(memory["logits"])
    return (
        RolloutPhase(f"{name}, writing", (states, reference, engine, caches, 0)),
        RolloutPhase("  states on the host", (0, 0, engine, caches, 0)),
        RolloutPhase("  training", (states, reference, 0, 0, live)),
    )


def figure() -> Figure:
    """A bar for each phase of two models, and the memory of a GPU."""
    rows = [phase for model, tp in ENGINES for phase in phases(model, tp)]
    room = find_chip(CHIP).memory()
    scale = (WIDTH - _LEFT - _RIGHT) / max(phase.total for phase in rows)
    shapes = list(_legend())
    for number, phase in enumerate(rows):
        shapes += _bar(_TOP + number * _ROW + (10 if number > 2 else 0), phase, scale)
    foot = _TOP + len(rows) * _ROW + 10
    limit = _LEFT + room * scale
    shapes.append(path([(limit, _TOP - 8), (limit, foot - 8)], "fb-dashed"))
    label = f"memory of a GPU, {format_quantity(room, 'byte')}"
    shapes.append(words(limit, _TOP - 14, label, kind="fb-small"))
    small, large = rows[0], rows[3]
    facts = [f"{phase.name.strip()}: {format_quantity(phase.total, 'byte')}" for phase in rows]
    return Figure(
        f"Writing takes {small.total / 1e9:.0f} GB of a GPU with 8B parameters and "
        f"{large.total / 1e9:.0f} GB with 70B",
        f"Bytes of each of {CHIPS} GPUs by what they hold. {'; '.join(facts)}.",
        f"{ANSWERS:,} answers of {TOKENS:,} tokens on average with their prompts on {CHIPS} GPUs; "
        "engines at TP 1 and TP 4, training with everything sharded and recomputed. An answer that "
        f"has ended frees its cache, so caches hold {percent(fullest())} of what all would hold "
        "together even when they hold most. The 70B model fills the GPU unless its states wait on "
        "the host.",
        foot + 2,
        tuple(shapes),
        readings=tuple(
            FigureValue(f"{model}, {place}", part, size, "byte")
            for model, tp in ENGINES
            for place, phase in zip(PLACES, phases(model, tp), strict=True)
            for (part, _), size in zip(PARTS, phase.sizes, strict=True)
        ),
    )


def _legend() -> Iterator[str]:
    x = 10.0
    for name, colour in PARTS:
        yield from key(x, 8, name, f"fb-{colour}")
        x += 34 + 7 * len(name)


def _bar(y: float, phase: RolloutPhase, scale: float) -> Iterator[str]:
    """The name of a phase, its parts one after the other, and their sum."""
    yield words(_LEFT - 10, y + 15, phase.name.strip(), "end", "fb-small")
    x = _LEFT
    for size, (name, colour) in zip(phase.sizes, PARTS, strict=True):
        if size:
            tip = f"{phase.name.strip()}, {name}: {format_quantity(size, 'byte')}"
            yield box(x, y, size * scale, _BAR, f"fb-{colour}", tip)
        x += size * scale
    yield words(x + 6, y + 15, format_quantity(phase.total, "byte"), "start")
