"""A training step on two lanes, arithmetic and network: what hides behind what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure, box, labelled, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import has_room

LEFT, TOP, LANE, GAP, TITLE = 84.0, 8.0, 26.0, 30.0, 20.0
PANEL = TITLE + 2 * LANE + GAP  # height of two lanes with their title
KINDS = {"dp": "Data parallelism", "fsdp": "FSDP"}
LANES = ("arithmetic", "network")
LAYERS = 4
# Blue is arithmetic, orange is bytes; the second of each is what comes back.
FORWARD, BACKWARD, GATHERED, SUMMED = "c0", "c8", "c1", "c6"
LIMITS = {"dp": "dp-limit", "fsdp": "fsdp-limit"}


class Bar(NamedTuple):
    """Something that takes time on a lane: 0 is arithmetic, 1 the network."""

    lane: int
    start: float
    end: float
    text: str
    colour: str


def figure(
    kind: str = "dp", chip: str = "h100-sxm", shares: tuple[float, ...] = (0.5, 1.5)
) -> Figure:
    """A step of four layers at these multiples of the smallest batch per chip.

    Raises UnknownName for another kind.
    """
    if kind not in KINDS:
        raise UnknownName("kind of step", kind, tuple(KINDS))
    least = calculate(LIMITS[kind], chip=chip)["tokens_per_chip"]
    steps = [step(kind, share) for share in shares]
    drawn = {
        f"{format_quantity(share * least, 'token')} per chip: the arithmetic waits for "
        f"{percent(idle_share(bars))} of the step": bars
        for share, bars in zip(shares, steps, strict=True)
    }
    foot, shapes = panels(drawn, LANES)
    return Figure(
        f"{KINDS[kind]} waits for {percent(idle_share(steps[0]))} of a step at {shares[0]:g} times "
        f"the smallest batch, for {percent(idle_share(steps[-1]))} at {shares[-1]:g} times",
        ". ".join(drawn),
        f"{LAYERS} layers on {find_chip(chip).name}. F: forward, B: backward, numbers: layers. On "
        f"the network, {CAPTIONS[kind]}",
        foot,
        shapes,
        readings=lane_readings(drawn.items(), LANES),
    )


def lane_readings(
    drawn: Iterable[tuple[str, Sequence[Bar]]], lanes: Sequence[str], unit: str = "1"
) -> tuple[FigureValue, ...]:
    """How long each bar of panels takes and when it begins, by panel and lane."""
    return tuple(
        FigureValue(
            f"{title.partition(':')[0]}, {lanes[bar.lane]}", bar.text, length, unit, bar.start
        )
        for title, bars in drawn
        for bar in bars
        if (length := bar.end - bar.start)
    )


def panels(drawn: Mapping[str, list[Bar]], lanes: Sequence[str]) -> tuple[float, tuple[str, ...]]:
    """Panels below each other by their titles, in one scale; where they end, and their shapes."""
    scale = (WIDTH - LEFT - 8) / max(bar.end for bars in drawn.values() for bar in bars)
    shapes: list[str] = []
    top = TOP
    for title, bars in drawn.items():
        shapes += panel(title, lanes, bars, top, scale)
        top += TITLE + len(lanes) * LANE + GAP
    return top - GAP + 6, tuple(shapes)


def panel(
    title: str, lanes: Sequence[str], bars: list[Bar], top: float, scale: float
) -> Iterator[str]:
    """Lanes with names and bars under a title; `scale` is in pixels for each unit of time.

    A bar too narrow for its letters says them to the pointer alone.
    """
    yield words(LEFT, top + 12, title, "start", "fb-strong")
    for number, lane in enumerate(lanes):
        yield words(LEFT - 8, top + TITLE + number * LANE + 17, lane, "end")
    for bar in bars:
        width = (bar.end - bar.start) * scale
        place = (LEFT + bar.start * scale, top + TITLE + bar.lane * LANE, width, LANE - 4)
        if has_room(bar.text, width):
            yield labelled(place, bar.text, bar.colour)
        else:
            yield box(*place, f"fb-{bar.colour}", bar.text)


def idle_share(bars: list[Bar], lane: int = 0) -> float:
    """Share of the time until the last bar ends in which a lane has none."""
    busy = sum(bar.end - bar.start for bar in bars if bar.lane == lane)
    return 1 - busy / max(bar.end for bar in bars)


CAPTIONS = {
    "dp": "S: gradients of a layer are summed, as soon as its backward pass is done.",
    "fsdp": "G, light: weights of a layer are gathered, ahead of their use; R, dark: its gradients "
    "are summed and scattered.",
}


def step(kind: str, share: float) -> list[Bar]:
    """The bars of one step at a share of the smallest batch.

    A unit is the forward pass of a layer at the smallest batch.

    The limits say what the network takes: a layer is gathered in 1, and its gradients are summed in
    2.
    """
    return _summed(share) if kind == "dp" else _gathered(share)


def _summed(share: float) -> list[Bar]:
    """Forward, then backward, with the sum of the gradients of each layer behind it."""
    bars = [Bar(0, n * share, (n + 1) * share, f"F{n + 1}", FORWARD) for n in range(LAYERS)]
    core, wire = LAYERS * share, 0.0  # when arithmetic and network are free
    for layer in range(LAYERS, 0, -1):
        bars.append(Bar(0, core, core + 2 * share, f"B{layer}", BACKWARD))
        core += 2 * share
        start = max(core, wire)
        wire = start + 2
        bars.append(Bar(1, start, wire, f"S{layer}", SUMMED))
    return bars


def _gathered(share: float) -> list[Bar]:
    """Gathers run one layer ahead; a backward pass gathers, computes and then scatters."""
    bars: list[Bar] = []
    core, wire = 0.0, 0.0  # when arithmetic and network are free
    unsummed = 0  # the layer whose gradients wait to be scattered
    forward = [(layer, Bar(0, 0, share, f"F{layer}", FORWARD)) for layer in range(1, LAYERS + 1)]
    backward = [
        (layer, Bar(0, 0, 2 * share, f"B{layer}", BACKWARD)) for layer in range(LAYERS, 0, -1)
    ]
    for layer, work in (*forward, *backward):
        bars.append(Bar(1, wire, wire + 1, f"G{layer}", GATHERED))
        wire += 1
        ready = wire
        if unsummed:
            wire = _scatter(bars, unsummed, max(wire, core))
        start = max(ready, core)
        core = start + work.end
        bars.append(work._replace(start=start, end=core))
        unsummed = layer if work.text.startswith("B") else 0
    _scatter(bars, unsummed, max(wire, core))
    return bars


def _scatter(bars: list[Bar], layer: int, start: float) -> float:
    """Add the reduce-scatter of a layer's gradients; when the network is free again."""
    bars.append(Bar(1, start, start + 1, f"R{layer}", SUMMED))
    return start + 1
