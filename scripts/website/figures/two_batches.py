"""The layers of a mixture on two lanes: one batch that waits, two halves that hide each other."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure
from scripts.website.figures.overlap import (
    GAP,
    LANES,
    LEFT,
    PANEL,
    TOP,
    Bar,
    idle_share,
    lane_readings,
    panel,
)

MODEL, CHIP = "deepseek-v3", "h800-sxm"
CARD = 50e9  # byte/s of a network card, one way
REACHED = 0.4  # of the bf16 peak
NODES = 4  # to which a token is sent at most
LAYERS = 2  # so that the bars have room for their letters
CONTEXT = 4096  # tokens of a sequence, half of which a token meets
# In fp8 on the way to the experts, in bf16 on the way back.
_THERE, _BACK = 1.0, 2.0
_COLOURS = {"A": "c0", "D": "c1", "E": "c8", "C": "c6"}
_LANES = {"A": 0, "D": 1, "E": 0, "C": 1}


def layer_times() -> dict[str, float]:
    """Seconds of a token in a layer: attention with the shared expert, dispatch, experts, combine.

    Arithmetic counts projections and scores of attention, the shared expert and the routed ones.
    """
    model = shape(MODEL)
    expert = 6 * model.d_model * model.expert_d_ff
    routed = model.experts_per_token * expert
    projections = 2 * calculate("params", model=MODEL)["attention"] / model.layers
    keys_and_values = model.qk_nope_head_dim + model.qk_rope_head_dim + model.v_head_dim
    scores = 2 * keys_and_values * model.heads * CONTEXT / 2
    rate = REACHED * find_chip(CHIP).peak("bf16")
    return {
        "A": (projections + scores + expert) / rate,
        "D": NODES * model.d_model * _THERE / CARD,
        "E": routed / rate,
        "C": NODES * model.d_model * _BACK / CARD,
    }


def mixture_layers() -> int:
    """Layers of the model that have experts."""
    model = shape(MODEL)
    return int(model.layers - (model.size("dense_layers") or 0))


def schedule(parts: int, layers: int = LAYERS) -> list[Bar]:
    """Bars of some layers for a batch in this many parts; whatever can start first does."""
    times = layer_times()
    order = [job for _ in range(layers) for job in times]
    done = [0] * parts
    ready, free = [0.0] * parts, [0.0, 0.0]
    bars = []
    while min(done) < len(order):
        waiting = [part for part in range(parts) if done[part] < len(order)]
        starts = {part: max(ready[part], free[_LANES[order[done[part]]]]) for part in waiting}
        part = min(starts, key=lambda one: (starts[one], done[one], one))
        job = order[done[part]]
        end = starts[part] + times[job] / parts
        text = f"{job}{part + 1}" if parts > 1 else job
        bars.append(Bar(_LANES[job], starts[part], end, text, _COLOURS[job]))
        ready[part] = free[_LANES[job]] = end
        done[part] += 1
    return bars


def figure() -> Figure:
    """A panel for the whole batch, and one for two halves."""
    panels = (("one batch", schedule(1)), ("two halves", schedule(2)))
    longest = max(bar.end for _, bars in panels for bar in bars)
    scale = (WIDTH - LEFT - 8) / longest
    shapes: list[str] = []
    facts = []
    for number, (name, bars) in enumerate(panels):
        text = f"{name}: the arithmetic waits for {percent(idle_share(bars))} of the time"
        shapes += panel(text, LANES, bars, TOP + number * PANEL, scale)
        facts.append(text)
    alone, halves = (idle_share(bars) for _, bars in panels)
    mixtures = mixture_layers()
    whole = idle_share(schedule(2, mixtures))
    times = layer_times()
    said = ", ".join(f"{job} {format_quantity(time, 's')}" for job, time in times.items())
    return Figure(
        f"In two halves a batch hides all but its last exchange: {percent(halves)} of waiting in "
        f"{LAYERS} layers, {100 * whole:.1f} % in {mixtures}, not {percent(alone)}",
        f"{LAYERS} layers, forward. {'. '.join(facts)}. A layer of a token: {said}.",
        f"Forward pass through {LAYERS} layers of DeepSeek-V3 on H800, by the times of the example "
        "above in bf16. A: attention and shared expert, E: routed experts; light, D: dispatch; "
        "dark, C: combine; numbers: halves. While one half computes, the tokens of the other "
        "travel; what is left is the last exchange, with nothing beside it.",
        TOP + len(panels) * PANEL - GAP + 6,
        tuple(shapes),
        readings=lane_readings(panels, LANES, "s"),
    )
