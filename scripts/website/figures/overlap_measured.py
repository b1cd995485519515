"""What overlap gained where somebody measured the same work with it and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, path, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

BOUND = 2.0  # two kinds of work side by side, at equal times
_LOW, _ROW, _BAR, _HEAD, _NAME = 0.7, 26.0, 17.0, 34.0, 15.0
_RUNS = "titan-asynctp"


class OverlapPair(NamedTuple):
    """The same work twice: what it was, and the rate with overlap over that without."""

    name: str
    ratio: float

    @property
    def printed(self) -> str:
        """The ratio in two digits; a source that states 25.5 percent is rounded up."""
        return f"{self.ratio + 1e-9:.2f}"


def _stated(name: str) -> float:
    return float(ledger_row(name).stated.si_value or 0)


def _trained(name: str) -> float:
    """Asynchronous over plain tensor parallelism of an 8B run."""
    rows = {row.id: row for row in run_files()[_RUNS].rows}
    plain, overlapped = (
        float(rows[f"{_RUNS}-llama-3-8b-{name}-{kind}"].measured["tokens_per_s_per_chip"])
        for kind in ("vanilla", "async")
    )
    return overlapped / plain


def pairs() -> list[OverlapPair]:
    """Least gain first."""
    found = [
        OverlapPair("decode in halves, 32 a GPU", 1 - _stated("sglang-overlap-loss")),
        OverlapPair("decode in halves, 256 a GPU", 1 + _stated("sglang-overlap-gain")),
        OverlapPair("TP of 8B, fp8 by rows", _trained("float8-rowwise")),
        OverlapPair("TP of 8B, fp8", _trained("float8-tensorwise")),
        OverlapPair("TP of 8B, bf16", _trained("bf16")),
        OverlapPair("TP of 70B, bf16", _stated("titan-70b-async") / _stated("titan-70b-vanilla")),
        OverlapPair(
            "TP of 70B, fp8",
            _stated("titan-70b-float8-async") / _stated("titan-70b-float8-vanilla"),
        ),
        OverlapPair(
            "one gather in its matmul",
            _stated("collective-matmul-reference") / _stated("collective-matmul-fused"),
        ),
    ]
    return sorted(found, key=lambda pair: pair.ratio)


def figure() -> Figure:
    """A bar for each pair from one, and a line where the bound is."""
    found = pairs()
    worst, best = found[0].ratio, found[-1].ratio
    least = min(pair.ratio for pair in found if pair.ratio > 1)
    facts = "; ".join(f"{pair.name}: {pair.printed}" for pair in found)
    height = _HEAD + len(found) * _ROW + 4
    return Figure(
        f"Overlap can double a rate; measured, it gained {percent(least - 1)} to "
        f"{percent(best - 1)} and once lost {percent(1 - worst)}",
        f"Rates with overlap over rates without. {facts}. The bound is {BOUND:g}.",
        "Each bar is one piece of work with and without overlap, by its rate. Halves of a batch "
        "hide an all-to-all of experts and read the weights twice, which costs more than it hides "
        "where few sequences share them. TP is asynchronous tensor parallelism in whole training "
        "runs, by rows with a scale for each row in place of one for the tensor; the last bar is a "
        "single kernel.",
        height,
        tuple(_bars(found, 200.0, 610.0)),
        narrow=Sheet(
            SHEET,
            height + len(found) * _NAME,
            tuple(_bars(found, 6.0, SHEET - 8, above=True)),
        ),
        readings=tuple(FigureValue("with overlap over without", *pair) for pair in found),
    )


def _bars(
    found: Sequence[OverlapPair], left: float, right: float, *, above: bool = False
) -> Iterator[str]:
    """Bars from the line at one; names stand before them, or above them on a narrow sheet."""
    scale = (right - left) / (BOUND - _LOW)
    one, bound = left + (1 - _LOW) * scale, right
    step = _ROW + (_NAME if above else 0)
    foot = _HEAD + len(found) * step
    yield words(one, _HEAD - 14, "without", "middle", "fb-small")
    yield words(bound, _HEAD - 14, "twofold", "end", "fb-small")
    yield path([(bound, _HEAD - 6), (bound, foot)], "fb-dashed")
    for number, pair in enumerate(found):
        top = _HEAD + number * step
        if above:
            yield words(left, top + 10, pair.name, "start")
            top += _NAME
        else:
            yield words(left - 10, top + 13, pair.name, "end")
        end = left + (pair.ratio - _LOW) * scale
        fill = "fb-c0" if pair.ratio > 1 else "fb-c5"
        tip = f"{pair.name}: {pair.printed}"
        yield box(min(one, end), top, abs(end - one), _BAR, fill, tip)
        yield words(max(one, end) + 6, top + 13, pair.printed, "start", "fb-strong")
        yield path([(one, top - 1), (one, top + _BAR + 3)], "fb-stroke")
