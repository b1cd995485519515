"""What FSDP2 of PyTorch has in flight and in memory, layer by layer, in one step.

The order is that of the groups of parameters in its source (`pytorch2026paramgroup`): a gather may
begin once the layer two before it is out of the buffer, the next gather of a backward pass is
issued before the gradients of the present layer, and what is on its way out is kept until the
next layer's gradients follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scripts.website.figures.drawing import WIDTH, Figure, labelled, path, words
from scripts.website.figures.overlap import BACKWARD as BACKWARD_FILL
from scripts.website.figures.overlap import FORWARD as FORWARD_FILL
from scripts.website.figures.overlap import GATHERED, SUMMED
from scripts.website.figures.plotted import FigureValue

LAYERS = 4
# Times in units of the forward pass of a layer.
GATHER, COPY, FORWARD, BACKWARD = 0.7, 0.08, 1.0, 2.0
QUEUES = ("network", "arithmetic")
BUFFERS = (
    "gather buffer 1",
    "gather buffer 2",
    "weights in use",
    "gradients",
    "gradients leaving",
)
_LEFT, _TOP, _LANE, _GAP = 128.0, 30.0, 24.0, 34.0


class LayerSpan(NamedTuple):
    """Something of one layer on a row, from one time to another."""

    row: str
    layer: int
    start: float
    end: float
    kind: str


class StepState(NamedTuple):
    """When network and arithmetic are free, and when each layer was out of its buffer."""

    wire: float
    core: float
    copied: tuple[float, ...]


def forward() -> tuple[list[LayerSpan], StepState]:
    """Gathers up to two layers ahead, each copied out before its layer computes."""
    spans: list[LayerSpan] = []
    wire = core = 0.0
    copied = [0.0, 0.0]  # of the two layers before the first
    for layer in range(1, LAYERS + 1):
        begin = max(wire, copied[-2])
        wire = begin + GATHER
        out = max(core, wire) + COPY
        core = out + FORWARD
        copied.append(out)
        spans += [
            LayerSpan("network", layer, begin, wire, GATHERED),
            LayerSpan(BUFFERS[(layer - 1) % 2], layer, begin, out, GATHERED),
            LayerSpan("weights in use", layer, out - COPY, core, "c2"),
            LayerSpan("arithmetic", layer, out, core, FORWARD_FILL),
        ]
    return spans, StepState(wire, core, tuple(copied))


def backward(before: StepState) -> list[LayerSpan]:
    """The next gather goes out before the gradients of the present layer, and they after it."""
    spans: list[LayerSpan] = []
    wire, core, free = before.wire, before.core, before.copied[-1]
    for layer in range(LAYERS, 0, -1):
        begin = max(wire, free)
        arrived = begin + GATHER
        spans.append(LayerSpan("network", layer, begin, arrived, GATHERED))
        wire = arrived
        if layer < LAYERS:  # the gradients of the layer above follow the gather
            above = spans_of(spans, "gradients", layer + 1)[0]
            leave = max(wire, above.end)
            wire = leave + GATHER
            spans.append(LayerSpan("network", layer + 1, leave, wire, SUMMED))
        free = max(core, arrived) + COPY
        core = free + BACKWARD
        if layer < LAYERS:  # kept until the gradients of this layer follow
            spans.append(LayerSpan("gradients leaving", layer + 1, above.end, core, SUMMED))
        spans += [
            LayerSpan(BUFFERS[(layer - 1) % 2], layer, begin, free, GATHERED),
            LayerSpan("weights in use", layer, free - COPY, core, "c2"),
            LayerSpan("arithmetic", layer, free, core, BACKWARD_FILL),
            LayerSpan("gradients", layer, free, core, "c4"),
        ]
    leave = max(wire, core)
    spans.append(LayerSpan("network", 1, leave, leave + GATHER, SUMMED))
    spans.append(LayerSpan("gradients leaving", 1, core, leave + GATHER, SUMMED))
    return spans


def spans_of(spans: Sequence[LayerSpan], row: str, layer: int) -> list[LayerSpan]:
    """The spans of one layer on one row."""
    return [span for span in spans if span.row == row and span.layer == layer]


def whole_at_once(spans: Sequence[LayerSpan]) -> int:
    """The most layers that are whole in memory at one moment, copies of one layer counted each."""
    held = [span for span in spans if span.row in BUFFERS]
    moments = [(one.start + one.end) / 2 for one in held] + [one.start + 1e-6 for one in held]
    return max(sum(one.start < moment < one.end for one in held) for moment in moments)


def figure() -> Figure:
    """Two rows of what happens, and below them a row for each place where a layer can be whole."""
    ahead, state = forward()
    back = backward(state)
    spans = ahead + back
    end = max(span.end for span in spans)
    scale = (WIDTH - _LEFT - 8) / end
    tops = {row: _TOP + _LANE * number for number, row in enumerate(QUEUES)}
    below = _TOP + _LANE * len(QUEUES) + _GAP
    tops |= {row: below + _LANE * number for number, row in enumerate(BUFFERS)}
    bottom = below + _LANE * len(BUFFERS)
    turn = _LEFT + state.core * scale
    shapes = [
        words((_LEFT + turn) / 2, 14, "forward", kind="fb-strong"),
        words((turn + WIDTH - 8) / 2, 14, "backward", kind="fb-strong"),
        words(_LEFT, below - 8, "whole in memory", "start", "fb-strong"),
        path([(turn, 20), (turn, bottom)], "fb-dashed"),
    ]
    shapes += [words(_LEFT - 8, top + 15, row, "end") for row, top in tops.items()]
    for span in spans:
        width = (span.end - span.start) * scale
        place = (_LEFT + span.start * scale, tops[span.row], width, _LANE - 4)
        shapes.append(labelled(place, f"{span.layer}" if width > 9 else "", span.kind))
    most = whole_at_once(ahead), whole_at_once(back)
    return Figure(
        f"Up to {most[0]} layers are whole at once going forward, {most[1]} going back",
        f"One step of FSDP2 with {LAYERS} layers: network and arithmetic, and for each buffer "
        f"which layer it holds. Going forward at most {most[0]} layers are whole at once, going "
        f"back {most[1]}. In the backward pass the gather of the next layer goes out before the "
        "gradients of the layer above it.",
        "Numbers are layers. Blue is arithmetic; the two shades of orange are weights and "
        "gradients on their way. Gathers go ahead of the layer that computes, and in the "
        "backward pass each goes out before the gradients of the layer above. Below: every "
        "buffer that holds a whole layer, and when.",
        bottom + 6,
        tuple(shapes),
        readings=tuple(
            FigureValue(span.row, f"layer {span.layer}", span.end - span.start, start=span.start)
            for span in spans
        ),
    )
