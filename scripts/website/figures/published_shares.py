"""Which quantities the makers publish themselves: the share of their chips, maker by maker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import vendor
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET
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
_PHONE_ROW, _PHONE_WIDE = 42, (SHEET - 2 * EDGE) / len(COLUMNS)


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
    every = shown[-1]
    for number, row in enumerate(shown):
        top = 30 + _ROW * number + (6 if row is every else 0)
        shapes.append(words(_LEFT - 8, top + 15, _named(row), "end"))
        shapes += _squares(row, (_LEFT, top), _WIDE)
    facts = ", ".join(
        f"{name} {percent(share)}" for (name, _), share in zip(COLUMNS, every.shares, strict=True)
    )
    share, most = max((share, name) for (name, _), share in zip(COLUMNS, every.shares, strict=True))
    return Figure(
        f"Makers state the {most} of {percent(share)} of their chips, and all else of fewer",
        f"A table of percentages for {len(shown) - 1} makers and {len(COLUMNS)} quantities. Over "
        f"all makers: {facts}.",
        "Percent of a maker's chips and cards for which a document of the maker itself states the "
        f"quantity, as far as such documents were read. Makers with {LEAST} or more; in brackets "
        "how many. The fill changes at 10, 40 and 75 percent.",
        44 + _ROW * len(shown),
        tuple(shapes),
        narrow=Sheet(SHEET, 44 + _PHONE_ROW * len(shown), tuple(_phone(shown))),
        readings=tuple(
            FigureValue(_named(row), name, share, "percent")
            for row in shown
            for (name, _), share in zip(COLUMNS, row.shares, strict=True)
        ),
    )


def _phone(shown: list[ShareRow]) -> Iterator[str]:
    """The same with each maker above its squares; heads take turns on two lines."""
    for number, (name, _) in enumerate(COLUMNS):
        x = EDGE + _PHONE_WIDE * (number + 0.5)
        yield words(x, 14 + 14 * (number % 2), name, kind="fb-small")
    for number, row in enumerate(shown):
        top = 56 + _PHONE_ROW * number
        yield words(EDGE, top - 5, _named(row), "start")
        yield from _squares(row, (EDGE, top), _PHONE_WIDE)


def _named(row: ShareRow) -> str:
    """A maker with its number of chips."""
    return f"{row.name.replace('Amazon Web Services', 'AWS')} ({row.chips})"


def _squares(row: ShareRow, corner: Point, width: float) -> Iterator[str]:
    """A square for each quantity."""
    left, top = corner
    for column, ((name, _), share) in enumerate(zip(COLUMNS, row.shares, strict=True)):
        x = left + width * column
        kind, ink = _fill(share)
        tip = f"{_named(row)}, {name}: {percent(share)}"
        yield box(x + 1, top, width - 2, _ROW - 2, kind, tip)
        yield words(x + width / 2, top + 15, percent(share), kind=ink)


def _fill(share: float) -> tuple[str, str]:
    """Fill and ink of a square."""
    if share >= 0.75:
        return "fb-c0", "fb-on0"
    if share >= 0.4:
        return "fb-c2", "fb-on2"
    if share >= 0.1:
        return "fb-c4", "fb-on4"
    return "fb-hollow", ""
