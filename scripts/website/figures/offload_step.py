"""Training steps with the optimizer on the host: updated in turn, or a step late."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure, labelled, words
from scripts.website.figures.overlap import GAP, LANE, LEFT, TITLE, TOP, Bar, lane_readings

MODEL, CHIP = "llama-3-8b", "h100-sxm"
LINK = 64e9  # byte/s of PCIe to the host, one way
SEQUENCE, SEQUENCES = 8192, 4  # tokens of one, and how many a step has
LANES = ("GPU", "link, down", "host", "link, up")
PANEL = TITLE + len(LANES) * LANE + GAP
_FORWARD, _BACKWARD, _DOWN, _UP, _HOST = "c0", "c8", "c1", "c6", "c5"


class OffloadTimes(NamedTuple):
    """Seconds of the parts of a step."""

    forward: float  # of a sequence
    backward: float  # of a sequence, with the forward pass that it repeats
    link: float  # all gradients down, or all weights up
    layer: float  # the same for one layer, the part that nothing hides
    update: float  # by the host, of all parameters

    @property
    def arithmetic(self) -> float:
        """Seconds of the GPU in a step."""
        return SEQUENCES * (self.forward + self.backward)


def times() -> OffloadTimes:
    """Of the example of the chapter: two FLOPs for a parameter and token at the printed peak."""
    model = shape(MODEL)
    forward = 2 * model.params * SEQUENCE / find_chip(CHIP).peak("bf16")
    link = 2 * model.params / LINK
    update = calculate("offload", model=MODEL, chip=CHIP, dp=1)["update_seconds"]
    return OffloadTimes(forward, 3 * forward, link, link / model.layers, update)


def schedule(steps: int, is_late: bool) -> list[Bar]:
    """Bars of some steps; a late update runs beside the next step, whose weights are older."""
    parts = times()
    bars: list[Bar] = []
    start = 0.0
    ready = [0.0, 0.0]  # when the weights of the last two updates are back
    for _ in range(steps):
        start = max(start, ready[-2] if is_late else ready[-1])
        bars += _arithmetic(parts, start)
        start += parts.arithmetic
        down = start + parts.layer
        updated = down + parts.update
        up = updated + parts.layer
        bars.append(Bar(1, down - parts.link, down, "D", _DOWN))
        bars.append(Bar(2, down, updated, "update", _HOST))
        bars.append(Bar(3, up - parts.link, up, "U", _UP))
        ready.append(up)
    return bars


def _arithmetic(parts: OffloadTimes, start: float) -> Iterator[Bar]:
    """Forward and backward pass of each sequence, one after the other."""
    for number in range(SEQUENCES):
        begin = start + number * (parts.forward + parts.backward)
        middle = begin + parts.forward
        yield Bar(0, begin, middle, "F", _FORWARD)
        yield Bar(0, middle, middle + parts.backward, "B", _BACKWARD)


def _panel(title: str, bars: list[Bar], top: float, scale: float) -> Iterator[str]:
    yield words(LEFT, top + 12, title, "start", "fb-strong")
    for number, lane in enumerate(LANES):
        yield words(LEFT - 8, top + TITLE + number * LANE + 17, lane, "end")
    for bar in (*bars, *_gaps(bars)):
        width = (bar.end - bar.start) * scale
        place = (LEFT + bar.start * scale, top + TITLE + bar.lane * LANE, width, LANE - 4)
        has_room = width > 7 * len(bar.text) + 3
        yield labelled(place, bar.text if has_room else "", bar.colour)


def _gaps(bars: list[Bar]) -> Iterator[Bar]:
    """Where the GPU waits between two passes for longer than the link takes for a layer."""
    passes = [bar for bar in bars if bar.lane == 0]
    for one, following in pairwise(passes):
        if following.start - one.end > 2 * times().layer:
            yield Bar(0, one.end, following.start, "waits", "hollow")


def figure() -> Figure:
    """Two steps in turn, and as many as start in that time if updates may be a step late."""
    in_turn, late = schedule(2, is_late=False), schedule(4, is_late=True)
    end = max(bar.end for bar in in_turn)
    shown = [bar for bar in late if bar.end <= end + times().arithmetic / SEQUENCES]
    scale = (WIDTH - LEFT - 8) / max(bar.end for bar in in_turn + shown)
    waits = [_waiting(bars) for bars in (in_turn, late)]
    panels = (
        (f"In turn: the GPU waits for {percent(waits[0])} of the time", in_turn),
        (f"A step late: the GPU waits for {percent(waits[1])}", shown),
    )
    shapes: list[str] = []
    for number, (title, bars) in enumerate(panels):
        shapes += _panel(title, bars, TOP + number * PANEL, scale)
    parts = times()
    return Figure(
        f"In turn, the GPU waits for the host {percent(waits[0])} of the time; a step late, the "
        "update hides",
        f"A step of {SEQUENCES} sequences has {format_quantity(parts.arithmetic, 's')} of "
        f"arithmetic, the update takes {format_quantity(parts.update, 's')}, each way over the "
        f"link {format_quantity(parts.link, 's')}. {'. '.join(title for title, _ in panels)}.",
        f"Llama 3 8B on one {find_chip(CHIP).name}, {SEQUENCES} sequences of "
        f"{format_quantity(SEQUENCE, 'token')} in a step, by the times of the example. Dark and "
        "narrow: the forward pass of a sequence; B: its backward pass; D: gradients down; U: "
        "weights up, which follow the update layer by layer and are drawn together at its end. The "
        "link is busy for a moment; the update is what has to hide.",
        TOP + len(panels) * PANEL - GAP + 6,
        tuple(shapes),
        readings=lane_readings(panels, LANES, "s"),
    )


def _waiting(bars: list[Bar]) -> float:
    """Share of the time from the last step but one to the last that the GPU is idle."""
    starts = [bar.start for bar in bars if bar.lane == 0][:: 2 * SEQUENCES]
    idle = starts[-1] - starts[-2] - times().arithmetic
    return max(0.0, idle / (starts[-1] - starts[-2]))
