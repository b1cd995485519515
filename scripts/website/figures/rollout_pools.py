"""Three training steps of reinforcement learning: jobs in turn, two pools, and nobody waiting."""

from __future__ import annotations

import math
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.overlap import Bar, idle_share, lane_readings

# Times where one pool does all jobs in turn: decoding for the weights, for the sequences, the tail
# of the longest answers, and training with its scoring.
WEIGHTS, SEQUENCES, TAIL, TRAINING = 2.0, 2.0, 2.0, 4.0
STEPS = 3
_LANES = ("engines", "trainer")
_LANE, _BAR, _PANEL = 24.0, 20.0, 88.0


class Way(NamedTuple):
    """A way to place both jobs: the time of a step, and the bars of some steps."""

    name: str
    step: float
    bars: list[Bar]


def in_turn() -> float:
    """Time of a step if all chips generate and then all train."""
    return WEIGHTS + SEQUENCES + TAIL + TRAINING


def generating_share(tail: float = TAIL) -> float:
    """The share of chips that generate, for which neither of two pools waits for the other.

    Solves fixed + SEQUENCES / x = TRAINING / (1 - x), where `tail` is what is left of the tail.
    """
    fixed = WEIGHTS + tail
    half = (TRAINING + SEQUENCES - fixed) / 2
    return (math.sqrt(half**2 + fixed * SEQUENCES) - half) / fixed


def apart(tail: float = TAIL) -> float:
    """Time of a step of two pools that never wait for each other."""
    return TRAINING / (1 - generating_share(tail))


def ways() -> tuple[Way, ...]:
    """The three ways, each for as many training steps."""
    return (
        Way("one pool, in turn", in_turn(), _turns()),
        Way("two pools, one step off", apart(), _pools(TAIL)),
        Way("two pools, partial rollouts", apart(0), _pools(0)),
    )


def figure() -> Figure:
    """A panel for each way on one scale of time."""
    shapes, height = _panels(76.0, 556.0)
    sheet, tall = _panels(56.0, 284.0)
    facts = [
        f"{way.name}: a step takes {way.step:.3g}, the trainer waits for "
        f"{percent(idle_share(way.bars, 1))} of the time"
        for way in ways()
    ]
    return Figure(
        f"{STEPS} training steps take {STEPS * in_turn():.3g} in turn and "
        f"{STEPS * apart(0):.3g} where nobody waits",
        ". ".join(facts) + ".",
        "Numbers are batches of answers; the empty end of a bar is the tail, when few answers "
        f"still decode. In turn, generation takes {in_turn() - TRAINING:g} and training "
        f"{TRAINING:g}. With two pools the trainer learns from the batch before. Carry unfinished "
        "answers over and the tail is gone from the step, at the price of older answers.",
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=lane_readings(((way.name, way.bars) for way in ways()), _LANES),
    )


def _turns() -> list[Bar]:
    bars, now = [], 0.0
    for batch in range(1, STEPS + 1):
        written = now + WEIGHTS + SEQUENCES
        bars += [
            Bar(0, now, written, f"{batch}", "c1"),
            Bar(0, written, written + TAIL, "", "hollow"),
            Bar(1, written + TAIL, written + TAIL + TRAINING, f"{batch}", "c0"),
        ]
        now = written + TAIL + TRAINING
    return bars


def _pools(tail: float) -> list[Bar]:
    step = apart(tail)
    bars = []
    for batch in range(1, STEPS + 1):
        start = (batch - 1) * step
        bars.append(Bar(0, start, start + step - tail, f"{batch + 1}", "c1"))
        if tail:
            bars.append(Bar(0, start + step - tail, start + step, "", "hollow"))
        bars.append(Bar(1, start, start + step, f"{batch}", "c0"))
    return bars


def _panels(left: float, width: float) -> tuple[tuple[str, ...], float]:
    scale = width / (STEPS * in_turn())
    shapes: list[str] = []
    top = 8.0
    for way in ways():
        shapes.append(
            words(left, top + 12, f"{way.name}: {way.step:.3g} a step", "start", "fb-strong")
        )
        for number, lane in enumerate(_LANES):
            shapes.append(words(left - 8, top + 34 + number * _LANE, lane, "end", "fb-small"))
        for bar in way.bars:
            place = left + scale * bar.start, top + 20 + bar.lane * _LANE
            size = scale * (bar.end - bar.start) - 1.5, _BAR
            tip = f"batch {bar.text}" if bar.text else "tail"
            shapes.append(box(*place, *size, f"fb-{bar.colour}", tip))
            middle = place[0] + size[0] / 2, place[1] + 14
            if bar.text:
                shapes.append(words(*middle, bar.text, kind=f"fb-on{bar.colour[1:]} fb-small"))
        top += _PANEL
    return tuple(shapes), top - 12
