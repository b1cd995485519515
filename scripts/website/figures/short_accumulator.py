"""What a sum of products in E4M3 loses in an accumulator of few bits, by the number of terms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence

from flopbook.quantities.units import percent
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis

BITS, TERMS, CHUNK = 14, 4096, 128  # kept digits, the leading one among them


def terms() -> list[float]:
    """Products of two E4M3 numbers between 1 and 2, drawn anew in the same way every time."""
    rng = random.Random(0)
    return [(1 + rng.randrange(8) / 8) * (1 + rng.randrange(8) / 8) for _ in range(TERMS)]


def kept(number: float, whole: Callable[[float], float]) -> float:
    """What is left of a number in so many digits; `whole` cuts off or rounds."""
    step = 2.0 ** (math.floor(math.log2(number)) + 1 - BITS)
    return whole(number / step) * step


def cut_off(number: float) -> float:
    """A number without what exceeds the accumulator."""
    return kept(number, math.floor)


def rounded(number: float) -> float:
    """A number rounded to what the accumulator holds."""
    return kept(number, round)


def sums(of: Sequence[float], keep: Callable[[float], float]) -> Iterator[float]:
    """The running sum, of which an accumulator keeps what it can after each term."""
    total = 0.0
    for term in of:
        total = keep(total + term)
        yield total


def sums_in_chunks(of: Sequence[float], keep: Callable[[float], float]) -> Iterator[float]:
    """The same, where every chunk begins at zero and wide registers add the chunks."""
    wide = 0.0
    for start in range(0, len(of), CHUNK):
        total = 0.0
        for total in sums(of[start : start + CHUNK], keep):
            yield wide + total
        wide += total


def lost(of: Sequence[float], made: Iterator[float]) -> list[float]:
    """The share of the exact sum that is missing, after each term."""
    exact, shares = 0.0, []
    for term, total in zip(of, made, strict=True):
        exact += term
        shares.append(1 - total / exact)
    return shares


def figure() -> Figure:
    """A line for each way to add the same terms."""
    added = terms()
    ways = {
        "cut off": lost(added, sums(added, cut_off)),
        "rounded": lost(added, sums(added, rounded)),
        f"cut off, chunks of {CHUNK}": lost(added, sums_in_chunks(added, cut_off)),
    }
    chart = Chart(
        ChartAxis("terms of the sum", 32, TERMS, "", ticks=(32, 128, 512, 2048)),
        ChartAxis("percent of the sum that is lost", -0.5, 8, "", log=False),
        (84, 14, 470, 270),
    )
    places = [round(32 * 2 ** (step / 4)) for step in range(29)]
    named = [
        (name, [(float(place), 100 * shares[place - 1]) for place in places])
        for name, shares in ways.items()
    ]
    most, _, least = (shares[-1] for shares in ways.values())
    facts = "; ".join(f"{name} {percent(shares[-1], 2)}" for name, shares in ways.items())
    return Figure(
        f"Cut off at {BITS} bits a sum of {TERMS:,} terms loses {percent(most)}; in chunks of "
        f"{CHUNK} it loses {percent(least, 2)}",
        f"Share of the exact sum that is lost after {TERMS:,} terms: {facts}.",
        "The terms are products of two E4M3 numbers between 1 and 2. Until the sum reaches 256, "
        "after some 128 terms, nothing is lost. From then on every doubling of the sum doubles "
        "its step, and more of each term falls below it. Rounding errs both ways and so hardly at "
        "all; cutting off errs down, every time.",
        312,
        (*chart.grid(), *chart.lines(named)),
        plots=(chart,),
    )
