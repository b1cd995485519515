"""How long the sum of the gradients outlasts the backward pass, by the bytes of a bucket."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.all_reduce_algorithms import latency
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL, CHIP = "gpt-3-1.3b", "nvidia/h100-sxm"
NODE, CARD = 8, 50e9  # GPUs of a node, and bytes/s of the card that each of them has
CLUSTERS = (64, 512)
COUNTS = (
    *(1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 50, 72, 100, 150, 250, 400, 700, 1200, 1580),
    *(1600, 1650, 1800, 2000, 2400),  # from where waits fill the time that 64 chips have to spare
)
DEFAULT = 25 * 2**20  # bytes of a bucket unless PyTorch is told otherwise


def gradient_bytes() -> float:
    """All gradients of the model in bf16."""
    return 2 * shape(MODEL).params


def exposed(buckets: int, backward: float, wire: float, wait: float) -> float:
    """Seconds that the sum lasts beyond the backward pass, which fills the buckets in turn.

    `wire`: the bytes of all of them on the network, `wait`: what each costs besides.
    """
    done = 0.0
    for bucket in range(1, buckets + 1):
        ready = backward * bucket / buckets
        done = max(ready, done) + wait + wire / buckets
    return done - backward


def times(chips: int) -> tuple[float, float, float]:
    """Backward pass, bytes on the network and wait of an all-reduce, in seconds."""
    config = shape(MODEL)
    backward = 4 * config.params * config.batch_tokens / chips / find_chip(CHIP).peak("bf16")
    wire = calculate(
        "collective",
        op="all-reduce",
        bytes=gradient_bytes(),
        chip=CHIP,
        topology="two-level",
        chips=chips,
        chips_per_node=NODE,
        scaleout_bandwidth=CARD,
        startup=0,
        ramp=0,
        efficiency=1,
    )
    return backward, float(wire["seconds"]), latency("trees", chips // NODE, NODE)


def figure() -> Figure:
    """A line for each cluster: falling while the last bucket shrinks, then rising with waits."""
    whole = gradient_bytes()
    lines = []
    for chips in CLUSTERS:
        waits = [(whole / count, exposed(count, *times(chips))) for count in COUNTS]
        lines.append((f"{chips} chips", waits[::-1]))
    chart = Chart(
        ChartAxis("bytes of a bucket", whole / COUNTS[-1] * 0.8, whole * 1.2, "byte"),
        ChartAxis("sum after the backward pass", 3e-5, 2e-1, "s"),
        (84, 14, 540, 270),
    )
    shapes = [*chart.grid(), chart.upright(DEFAULT, "PyTorch")]
    facts, best = [], []
    for number, ((name, waits), chips) in enumerate(zip(lines, CLUSTERS, strict=True)):
        shapes += [chart.line(waits, number), chart.words(waits[0], name, shift=(12, 2))]
        size, least = min(waits, key=lambda point: point[1])
        best.append(size)
        shapes.append(
            chart.dot(size, least, f"{name}: {format_quantity(size, 'byte')}", f"fb-c{number}")
        )
        at_default = exposed(round(whole / DEFAULT), *times(chips))
        facts.append(
            f"{name}: least {format_quantity(least, 's')} with {format_quantity(size, 'byte')}, "
            f"{format_quantity(at_default, 's')} with 25 MiB"
        )
    return Figure(
        f"The best bucket grows from {best[0] / 1e6:.0f} MB on {CLUSTERS[0]} chips to "
        f"{best[1] / 1e6:.0f} MB on {CLUSTERS[1]}",
        f"Both axes logarithmic. {'; '.join(facts)}.",
        f"{shape(MODEL).model.name} with its own batch on {find_chip(CHIP).name} in nodes of "
        "eight: products at the peak, bytes at printed rates, and for each all-reduce the wait of "
        "NCCL's trees for a few bytes. Dots: the least. The dashed line is PyTorch's default, "
        "25 MiB. On the right the last bucket starts late, on the left the waits add up: on "
        f"{CLUSTERS[0]} chips as soon as they outgrow the time that the network had to spare.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
