"""How long an exchange of experts takes at several degrees, measured and by its bytes."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.narrow import shaped
from scripts.website.figures.plotted import ChartAxis

# What was exchanged, by the words of the source: tokens of a rank, numbers of one, visits of one.
TOKENS, WIDTH, CHOSEN = 128, 7168, 8
NODE, CARD = 8, 50e9  # ranks of a node, bytes per second of the network card of each
DEGREES = (8, 16, 32, 64, 128, 256)
KINDS = {"combine": 2.0, "dispatch": 1.0}  # bytes of a number, there in fp8 and back in bf16
_COLOURS = {"combine": 2, "dispatch": 1}  # also the shape of the points


class Exchange(NamedTuple):
    """An exchange over some ranks: what it took, and what its bytes would take."""

    ranks: int
    measured: float
    computed: float

    @property
    def ratio(self) -> float:
        """Measured over computed."""
        return self.measured / self.computed


def time(ranks: int, width: float) -> float:
    """Seconds of the copies of a rank at the printed rates, the slower of card and NVLink.

    Experts are drawn evenly, so a copy goes to each rank with the same probability.
    """
    copies = TOKENS * CHOSEN * WIDTH * width
    outside = copies * (ranks - NODE) / ranks
    inside = copies * (NODE - 1) / ranks
    return max(outside / CARD, inside / chip("h800-sxm").scaleup_bandwidth())


def exchanges(kind: str) -> list[Exchange]:
    """The exchanges of a kind, by their ranks. Raises FlopbookError for a lost row."""
    timed = []
    for ranks in DEGREES:
        measured = ledger_row(f"deepep-{kind}-{ranks}").stated.si_value
        if measured is None:
            raise FlopbookError(f"deepep-{kind}-{ranks} states no time")
        timed.append(Exchange(ranks, measured, time(ranks, KINDS[kind])))
    return timed


def between_nodes() -> list[Exchange]:
    """All exchanges over so many ranks that their node holds a quarter of them or less."""
    return [one for kind in KINDS for one in exchanges(kind) if one.ranks >= 4 * NODE]


def figure() -> Figure:
    """A line for the bytes of each way, and a point for each exchange that was timed."""
    chart = Chart(
        ChartAxis("ranks that share the experts", 7, 300, ticks=DEGREES),
        ChartAxis("time of the exchange", 0, 400e-6, "s", log=False),
        (84, 14, 500, 290),
    )
    shapes, facts = [*chart.grid()], []
    for kind, colour in _COLOURS.items():
        timed, name = exchanges(kind), f"{kind}, its bytes"
        by_bytes = [(one.ranks, one.computed) for one in timed]
        shapes += [chart.line(by_bytes, colour), *chart.names([(name, by_bytes)])]
        for one in timed:
            taken = format_quantity(one.measured, "s")
            tip = f"{kind} over {one.ranks}: {taken}, {one.ratio:.2f} times its bytes"
            style, point = f"fb-mark fb-c{colour}", (one.ranks, one.measured)
            chart.mark(point, tip, style, f"{kind}, measured")
            shapes.append(shaped(style, chart.place(point), tip))
            facts.append(tip)
        last = timed[-1]
        shapes.append(chart.words((last.ranks, last.measured), f"{kind}, measured"))
    ratios = [one.ratio for one in between_nodes()]
    return Figure(
        f"From 32 to 256 ranks an exchange takes {min(ratios):.1f} to {max(ratios):.1f} times as "
        "long as its bytes alone would",
        f"Time over the ranks. {'; '.join(facts)}.",
        f"Points: {TOKENS} tokens of each rank to {CHOSEN} experts each and back, on nodes of "
        "eight H800. Lines: the copies that leave a node at the printed rate of its cards, and in "
        "a node alone those that leave a rank over NVLink. From 32 ranks on most copies leave "
        "their node, so eight times the ranks send only a little more.",
        332,
        tuple(shapes),
        plots=(chart,),
        source="deepseek2026deepep",
    )
