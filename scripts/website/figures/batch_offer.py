"""How much faster a run gets on eight times the GPUs, by the batch that it then takes."""

from __future__ import annotations

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart, spaced
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

CHIP, BEFORE, AFTER = "h100-sxm", 512, 4096
BATCH = 4.0 * 2**20  # tokens, before
CARD = 50e9  # a network card for each GPU, byte/s one way
CRITICAL = {"critical batch 34M": 8, "critical batch 4.2M": 1}  # in batches of before


def hiding() -> float:
    """Tokens on each GPU from which the sum of gradients hides behind the backward pass."""
    return float(calculate("dp-limit", chip=CHIP, scaleout_bandwidth=CARD)["across_tokens"])


def step(batch: float, chips: int) -> float:
    """Time of a step, where a token takes 2 forward and 4 backward."""
    tokens = batch / chips
    return 2 * tokens + 4 * max(tokens, hiding())


def faster(batch: float, critical: float) -> float:
    """Time of the run before over that on all GPUs: steps go with 1 + B_c / B."""
    before = (1 + critical / BATCH) * step(BATCH, BEFORE)
    return before / ((1 + critical / batch) * step(batch, AFTER))


def best(critical: float) -> Point:
    """The batch with the fastest run, of those drawn, and how fast it is."""
    return max(_line(critical), key=lambda point: point[1])


def _line(critical: float) -> list[Point]:
    """Speed over the batch, from half of that before to sixteen times, and where the sum hides."""
    batches = sorted([*spaced(BATCH / 2, 16 * BATCH, 61), hiding() * AFTER, BATCH, 8 * BATCH])
    return [(batch, faster(batch, critical)) for batch in batches]


def figure() -> Figure:
    """A line for each critical batch, with the three batches of the text."""
    chart = Chart(
        ChartAxis("tokens in a batch", BATCH / 2, 16 * BATCH, "token"),
        ChartAxis("times as fast as on 512 GPUs", 0, 8, "1", log=False),
        (84, 14, 480, 270),
    )
    lines = {name: _line(times * BATCH) for name, times in CRITICAL.items()}
    shapes = [*chart.grid(), *chart.lines(list(lines.items()))]
    facts = []
    for number, (name, times) in enumerate(CRITICAL.items()):
        for batch in (BATCH, hiding() * AFTER, 8 * BATCH):
            speed = faster(batch, times * BATCH)
            told = f"{name}, {format_quantity(batch, 'token')}: {speed:.1f} times as fast"
            shapes.append(chart.dot(batch, speed, told, f"fb-c{number}"))
            facts.append(told)
    large, small = (best(times * BATCH)[1] for times in CRITICAL.values())
    return Figure(
        f"Eight times the GPUs are at best {large:.1f} times as fast with a large critical batch, "
        f"{small:.1f} with a small one",
        f"Two lines over the batch that rise to a peak and fall. {'; '.join(facts)}.",
        f"{AFTER:,} {find_chip(CHIP).name} against {BEFORE}, at printed rates. Dots: the three "
        "cases, the batch as it was, the one at which the sum of gradients just hides, and eight "
        "times as large. Left of the middle dot the GPUs wait for the network, right of it more "
        "tokens save too few steps.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
