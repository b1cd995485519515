"""Which quantities the makers publish themselves: the share of their chips, maker by maker."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import vendor
from scripts.website.figures.drawing import Figure, box, words
from scripts.website.pages.explorer import items
from scripts.website.pages.families import chips
from scripts.website.pages.landscape import stated

COLUMNS = (
    ("peak", ("peak",)),
    ("memory", ("memory",)),
    ("bandwidth", ("memory_bandwidth",)),
    ("links", ("scaleup_bandwidth",)),
    ("power", ("power",)),
    ("process", ("process",)),
    ("transistors", ("transistors",)),
    ("die area", ("die_area",)),
    ("clock", ("clock",)),
)
LEAST = 5
_LEFT, _ROW, _WIDE = 150, 24, 52


class Row(NamedTuple):
    """A maker, the number of its chips, and for each column the share (0 to 1) that states it."""

    name: str
    count: int
    shares: tuple[float, ...]


def rows() -> list[Row]:
    """Makers with some chips, by their number; the last row is for all makers."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for item in chips(items()):
        found[item.entry.vendor].append(item.entry)
    large = sorted(
        (name for name in found if len(found[name]) >= LEAST),
        key=lambda name: (-len(found[name]), name),
    )
    every = [entry for group in found.values() for entry in group]
    named = [(vendor(name).name.partition(" (")[0], found[name]) for name in large]
    return [_row(*one) for one in (*named, ("all makers", every))]


def _row(name: str, group: list[Entry]) -> Row:
    shares = tuple(
        sum(stated(entry, fields) for entry in group) / len(group) for _, fields in COLUMNS
    )
    return Row(name, len(group), shares)


def figure() -> Figure:
    """A square for each maker and quantity with its percent; the fill says it in four steps."""
    shown = rows()
    shapes = [
        words(_LEFT + _WIDE * (n + 0.5), 20, name, kind="fb-small")
        for n, (name, _) in enumerate(COLUMNS)
    ]
    for number, row in enumerate(shown):
        top = 30 + _ROW * number + (6 if number == len(shown) - 1 else 0)
        name = row.name.replace("Amazon Web Services", "AWS")
        shapes.append(words(_LEFT - 8, top + 15, f"{name} ({row.count})", "end"))
        for column, share in enumerate(row.shares):
            left = _LEFT + _WIDE * column
            kind, ink = _fill(share)
            shapes += [
                box(left + 1, top, _WIDE - 2, _ROW - 2, kind),
                words(left + _WIDE / 2, top + 15, f"{share:.0%}", kind=ink),
            ]
    last = shown[-1]
    facts = ", ".join(
        f"{name} {share:.0%}" for (name, _), share in zip(COLUMNS, last.shares, strict=True)
    )
    return Figure(
        "What makers publish",
        f"A table of percentages for {len(shown) - 1} makers and {len(COLUMNS)} quantities. Over "
        f"all makers: {facts}.",
        "Percent of a maker's chips and cards for which a document of the maker itself states the "
        f"quantity, as far as such documents were read. Makers with {LEAST} or more; in brackets "
        "how many.",
        44 + _ROW * len(shown),
        tuple(shapes),
    )


def _fill(share: float) -> tuple[str, str]:
    """Fill and ink of a square."""
    if share >= 0.75:
        return "fb-c0", "fb-on0"
    if share >= 0.4:
        return "fb-c2", "fb-on2"
    return ("fb-c4", "fb-on4") if share >= 0.1 else ("fb-hollow", "")
