"""The cache of a prompt on its way to another server: after its prefill, or layers at a time."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.data.library import model
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure
from scripts.website.figures.overlap import Bar, lane_readings, panels

MODEL, CHIP, TP, PROMPT, CARD = "llama-3-70b", "nvidia/h100-sxm", 8, 4096, 50e9
GROUPS = 8  # of layers, each sent when it has been computed
_LANES = ("prefill", "network")


def times(heads: float = 0, cards: int = 1) -> tuple[float, float]:
    """Seconds to read the prompt and to send its cache, with the model's KV heads or so many.

    With a card for each GPU every one of them sends the KV heads that it holds.
    """
    read = calculate("prefill", model=MODEL, chip=CHIP, tp=TP, seq=PROMPT)["seconds"]
    message = calculate("kv-cache", model=MODEL, seq=PROMPT)["bytes"] / (cards * CARD)
    kept = shape(MODEL).kv_heads
    return read, message * (heads or kept) / kept


def sent(read: float, message: float, groups: int) -> list[Bar]:
    """Groups of layers: each leaves once it is computed and the one before it has left."""
    bars, free = [], 0.0
    for group in range(groups):
        name = f"{group + 1}" if groups > 1 else "all"
        begin, end = group * read / groups, (group + 1) * read / groups
        start = max(end, free)
        free = start + message / groups
        bars += [
            Bar(0, begin, end, name, "c0"),
            Bar(1, start, free, name, "c1"),
        ]
    return bars


def arrival(bars: list[Bar]) -> float:
    """Seconds from the end of the prefill until the last of the cache is there."""
    computed = max(bar.end for bar in bars if not bar.lane)
    return max(bar.end for bar in bars) - computed


def figure() -> Figure:
    """Four panels over one axis: at the end, in groups, and with a full set of heads both ways."""
    heads, layers = shape(MODEL).heads, shape(MODEL).layers
    ways = {
        "one card, sent after the prefill": sent(*times(), 1),
        f"one card, {layers / GROUPS:g} layers at a time": sent(*times(), GROUPS),
        f"the same with {heads:g} KV heads": sent(*times(heads), GROUPS),
        f"{heads:g} KV heads, a card for each of {TP} GPUs": sent(*times(heads, TP), GROUPS),
    }
    late = [format_quantity(arrival(bars), "s", digits=2) for bars in ways.values()]
    drawn = {
        f"{name}: complete {after} after the prefill": bars
        for (name, bars), after in zip(ways.items(), late, strict=True)
    }
    foot, shapes = panels(drawn, _LANES)
    return Figure(
        f"Sent {layers / GROUPS:g} layers at a time over one card a cache is complete {late[1]} "
        f"after its prefill, not {late[0]}",
        ". ".join(drawn) + ".",
        f"Numbers are groups of layers. {model(MODEL).name}, a prompt of {PROMPT:,} tokens on "
        f"{TP} H100 at their peak, network cards of {format_quantity(CARD, 'byte/s')}. A group "
        "travels while the next one is computed. With a KV head for each query head the message "
        f"through one card is the longer of the two, and no cut hides it; {TP} cards do.",
        foot,
        shapes,
        readings=lane_readings(drawn.items(), _LANES, "s"),
    )
