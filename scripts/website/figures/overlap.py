"""A training step on two lanes, arithmetic and network: what hides behind what."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, labelled, words

LEFT, TOP, LANE, GAP, TITLE = 84.0, 8.0, 26.0, 30.0, 20.0
PANEL = TITLE + 2 * LANE + GAP  # height of two lanes with their title
KINDS = ("dp", "fsdp")
LAYERS = 4
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
        raise UnknownName("kind of step", kind, KINDS)
    least = calculate(LIMITS[kind], chip=chip)["tokens_per_chip"]
    steps = [(share * least, step(kind, share)) for share in shares]
    scale = (WIDTH - LEFT - 8) / max(bar.end for _, bars in steps for bar in bars)
    shapes, top, facts = [], TOP, []
    for tokens, bars in steps:
        idle = idle_share(bars)
        text = (
            f"{format_quantity(tokens, 'token')} per chip: the arithmetic waits for {idle:.0%} of "
            "the step"
        )
        shapes += panel(text, ("arithmetic", "network"), bars, top, scale)
        facts.append(text)
        top += PANEL
    return Figure(
        f"A step of {'data parallelism' if kind == 'dp' else 'FSDP'} on {_name(chip)}",
        ". ".join(facts),
        f"{LAYERS} layers. F: forward, B: backward, numbers: layers. On the network, "
        f"{CAPTIONS[kind]}",
        top - GAP + 6,
        tuple(shapes),
    )


def panel(
    title: str, lanes: tuple[str, str], bars: list[Bar], top: float, scale: float
) -> list[str]:
    """Two lanes with names and bars under a title; `scale` is in pixels for each unit of time."""
    shapes = [words(LEFT, top + 12, title, "start", "fb-strong")]
    shapes += [
        words(LEFT - 8, top + TITLE + n * LANE + 17, lane, "end") for n, lane in enumerate(lanes)
    ]
    for lane, start, end, name, colour in bars:
        place = (LEFT + start * scale, top + TITLE + lane * LANE, (end - start) * scale, LANE - 4)
        shapes.append(
            labelled(place, name if (end - start) * scale > 7 * len(name) else "", colour)
        )
    return shapes


def idle_share(bars: list[Bar], lane: int = 0) -> float:
    """Share of the time until the last bar ends in which a lane has none."""
    return 1 - sum(bar.end - bar.start for bar in bars if bar.lane == lane) / max(
        bar.end for bar in bars
    )


CAPTIONS = {
    "dp": "S: gradients of a layer are summed, as soon as its backward pass is done.",
    "fsdp": (
        "G: weights of a layer are gathered, ahead of their use; R: its gradients are summed and "
        "scattered."
    ),
}


def step(kind: str, share: float) -> list[Bar]:
    """The bars of one step at a share of the smallest batch.

    A unit is the forward pass of a layer at the smallest batch.

    The limits say what the network takes: a layer is gathered in 1, and its gradients are summed in
    2.
    """
    return _summed(share) if kind == "dp" else _gathered(share)


def _summed(share: float) -> list[Bar]:
    bars, busy = [Bar(0, n * share, (n + 1) * share, f"F{n + 1}", "c0") for n in range(LAYERS)], 0.0
    at = LAYERS * share
    for layer in range(LAYERS, 0, -1):
        bars.append(Bar(0, at, at + 2 * share, f"B{layer}", "c1"))
        at += 2 * share
        start = max(at, busy)
        busy = start + 2
        bars.append(Bar(1, start, busy, f"S{layer}", "c2"))
    return bars


def _gathered(share: float) -> list[Bar]:
    """Gathers run one layer ahead; a backward pass gathers, computes and then scatters."""
    bars, wire, core = [], 0.0, 0.0
    order = [(f"{n}", True) for n in range(1, LAYERS + 1)] + [
        (f"{n}", False) for n in range(LAYERS, 0, -1)
    ]
    waiting = ""
    for name, forward in order:
        bars.append(Bar(1, wire, wire + 1, f"G{name}", "c3"))
        wire += 1
        if waiting:
            start = max(wire, core)
            bars.append(Bar(1, start, start + 1, f"R{waiting}", "c2"))
            ready, wire = wire, start + 1
        else:
            ready = wire
        start = max(ready, core)
        core = start + share * (1 if forward else 2)
        bars.append(
            Bar(0, start, core, f"{'F' if forward else 'B'}{name}", "c0" if forward else "c1")
        )
        waiting = "" if forward else name
    start = max(wire, core)
    return [*bars, Bar(1, start, start + 1, f"R{waiting}", "c2")]


def _name(name: str) -> str:
    return chip(name).name
