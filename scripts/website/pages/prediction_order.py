"""Does a prediction choose rightly between two layouts? Pairs of published runs answer."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from flopbook.prediction.validation import Comparison
from scripts.website.markup import Html, table
from scripts.website.pages.predicted import CHECK, FIT, sound_lines

KIND = "training_throughput"
APART = (1.03, 1.1, 1.25)  # how many times as fast the faster of two runs is at least
_NAMES = {FIT: "fitted", CHECK: "never fitted"}
_HEAD = ("Pairs of runs", "#Measured apart by", "#Pairs", "#Ordered rightly")
_FEWEST = 5  # pairs of which a share is worth a line
_TIE = 1e-6  # predictions that differ by less have no order


@dataclass(frozen=True)
class Ordered:
    """Pairs of runs that differ in layout alone, and how many are predicted in their order."""

    pairs: int
    rightly: int

    @property
    def share(self) -> float:
        return self.rightly / self.pairs


@functools.cache
def ordered(use: str, apart: float, publication: str | None = None) -> Ordered:
    """Counts pairs of rows of one use, of one publication or of all, measured so far apart."""
    found = [
        (one.predicted > other.predicted) == (one.measured > other.measured)
        for one, other in _pairs(use)
        if publication in (None, one.case.row.publication) and _ratio(one, other) > apart
    ]
    return Ordered(len(found), sum(found))


def order_table() -> Html:
    """How often the faster of two layouts is predicted to be the faster, as a table."""
    asked = [(use, apart) for use in (FIT, CHECK) for apart in APART]
    rows = [_row(use, apart) for use, apart in asked if ordered(use, apart).pairs >= _FEWEST]
    return table(_HEAD, rows, caption="Two layouts of one run, in order", stacked=True)


def _row(use: str, apart: float) -> tuple[str, ...]:
    count = ordered(use, apart)
    return (
        _NAMES[use],
        f"more than {100 * (apart - 1):.0f} %",
        str(count.pairs),
        f"{count.rightly} ({100 * count.share:.0f} %)",
    )


def _pairs(use: str) -> Iterator[tuple[Comparison, Comparison]]:
    """Runs alike in all but layout or recomputation, unless they are predicted to be equal."""
    alike: dict[str, list[Comparison]] = {}
    for line in sound_lines(KIND, use):
        alike.setdefault(_run(line), []).append(line)
    for lines in alike.values():
        for one, other in itertools.combinations(lines, 2):
            if _layout(one) != _layout(other) and abs(one.predicted / other.predicted - 1) > _TIE:
                yield one, other


def _run(line: Comparison) -> str:
    """What two runs have in common if they differ in layout alone."""
    row = line.case.row
    model = {name: given for name, given in row.model.items() if not name.startswith("seen")}
    said = [row.run.get(name) for name in ("precision", "software", "date")]
    machine = [row.hardware.get(name) for name in ("chip", "n_chips")]
    batch = row.parallelism.get("global_batch_seqs")
    return repr((row.publication, model, machine, said, batch, line.case.is_time))


def _layout(line: Comparison) -> tuple[object, object]:
    return line.case.row.parallelism, line.case.row.run.get("recompute")


def _ratio(one: Comparison, other: Comparison) -> float:
    ratio = one.measured / other.measured
    return max(ratio, 1 / ratio)
