"""What share of the peak a layer reaches by the TP degree, exchanges exposed or hidden."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.hardware.chip import chip as find_chip
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

MODEL, CHIP, NODE = "llama-3-70b", "h100-sxm", 8
CARD = 50e9  # a network card for each GPU, byte/s one way
DEGREES = (1, 2, 4, 8, 16, 32, 64)


def rate_of(degree: float) -> float:
    """Bytes per second into a rank: of its port, or of all cards of a node where rings leave it."""
    port = float(find_chip(CHIP).scaleup_bandwidth())
    return port if degree <= NODE else min(port, NODE * CARD)


def times(degree: float) -> tuple[float, float]:
    """Seconds for a token in the forward pass of a layer: its matmuls, and its exchanges."""
    sizes = shape(MODEL)
    width, keys = sizes.d_model, sizes.kv_heads * sizes.head_dim
    weights = 3 * width * sizes.d_ff + 2 * width * width + 2 * width * keys
    products = 2 * weights / degree / float(find_chip(CHIP).peak("bf16"))
    moved = 4 * 2 * width * (1 - 1 / degree)  # two gathers and two scatters of a row in bf16
    return products, moved / rate_of(degree)


def exposed(degree: float) -> float:
    """Percent of the peak if matmuls wait for every exchange."""
    products, exchanges = times(degree)
    return 100 * products / (products + exchanges)


def hidden(degree: float) -> float:
    """Percent of the peak if exchanges hide behind matmuls as far as these last."""
    products, exchanges = times(degree)
    return 100 * products / max(products, exchanges)


def figure() -> Figure:
    """Two falling lines, the second with a level start."""
    chart = Chart(
        ChartAxis("TP degree", DEGREES[0], DEGREES[-1], "1", ticks=DEGREES),
        ChartAxis("percent of the peak", 0, 105, "1", log=False),
        (84, 14, 500, 270),
    )
    shapes, facts = chart.grid(), []
    lines = {"all exposed": exposed, "all hidden": hidden}
    shapes += chart.lines(
        [(name, [(float(n), share(n)) for n in DEGREES]) for name, share in lines.items()]
    )
    for number, (name, share) in enumerate(lines.items()):
        tips = [f"TP {n}: {share(n):.0f} %" for n in DEGREES]
        shapes += [
            chart.dot(n, share(n), f"{name}, {tip}", f"fb-c{number}", 3)
            for n, tip in zip(DEGREES, tips, strict=True)
        ]
        facts.append(f"{name}: " + ", ".join(tips))
    return Figure(
        f"With its exchanges exposed an H100 reaches {exposed(8):.0f} % of its peak at TP 8, "
        f"{exposed(16):.0f} % at 16",
        f"TP degrees to the right, logarithmic. {'; '.join(facts)}.",
        f"Forward pass of a layer of {shape(MODEL).model.name} at printed rates, in nodes of "
        f"{NODE} with a card for each GPU, attention scores left out. Each doubling of the degree "
        "halves the matmuls and hardly changes the bytes; beyond a node they leave through "
        "its cards.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
