"""Which quantities the makers publish themselves: the share of their chips, maker by maker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
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


class ShareRow(NamedTuple):
    """A maker, the number of its chips, and for each column the share (0 to 1) that states it."""

    name: str
    chips: int
    shares: tuple[float, ...]


def rows() -> list[ShareRow]:
    """Makers with some chips, by their number; the last row is for all makers."""
    by_maker: dict[str, list[Entry]] = defaultdict(list)
    for chip in chips(items()):
        by_maker[chip.entry.vendor].append(chip.entry)
    makers = [name for name, entries in by_maker.items() if len(entries) >= LEAST]
    makers.sort(key=lambda name: (-len(by_maker[name]), name))
    every = [entry for entries in by_maker.values() for entry in entries]
    named = [_row(vendor(name).name.partition(" (")[0], by_maker[name]) for name in makers]
    return [*named, _row("all makers", every)]


def _row(name: str, group: list[Entry]) -> ShareRow:
    counts = [sum(stated(entry, fields) for entry in group) for _, fields in COLUMNS]
    return ShareRow(name, len(group), tuple(count / len(group) for count in counts))


def figure() -> Figure:
    """A square for each maker and quantity with its percent; the fill says it in four steps."""
    shown = rows()
    shapes = [
        words(_LEFT + _WIDE * (n + 0.5), 20, name, kind="fb-small")
        for n, (name, _) in enumerate(COLUMNS)
    ]
    *makers, every = shown
    for number, row in enumerate(makers):
        shapes += _squares(row, 30 + _ROW * number)
    shapes += _squares(every, 36 + _ROW * len(makers))
    facts = ", ".join(
        f"{name} {share:.0%}" for (name, _), share in zip(COLUMNS, every.shares, strict=True)
    )
    return Figure(
        "What makers publish",
        f"A table of percentages for {len(makers)} makers and {len(COLUMNS)} quantities. Over "
        f"all makers: {facts}.",
        "Percent of a maker's chips and cards for which a document of the maker itself states the "
        f"quantity, as far as such documents were read. Makers with {LEAST} or more; in brackets "
        "how many.",
        44 + _ROW * len(shown),
        tuple(shapes),
    )


def _squares(row: ShareRow, top: float) -> Iterator[str]:
    """A maker with its number of chips, and a square for each quantity."""
    name = row.name.replace("Amazon Web Services", "AWS")
    yield words(_LEFT - 8, top + 15, f"{name} ({row.chips})", "end")
    for column, share in enumerate(row.shares):
        x = _LEFT + _WIDE * column
        kind, ink = _fill(share)
        yield box(x + 1, top, _WIDE - 2, _ROW - 2, kind)
        yield words(x + _WIDE / 2, top + 15, f"{share:.0%}", kind=ink)


def _fill(share: float) -> tuple[str, str]:
    """Fill and ink of a square."""
    if share >= 0.75:
        return "fb-c0", "fb-on0"
    if share >= 0.4:
        return "fb-c2", "fb-on2"
    if share >= 0.1:
        return "fb-c4", "fb-on4"
    return "fb-hollow", ""
