"""The plan of nearly every computer: a processor, one memory, input and output, one bus."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, Sheet, arrow, box, labelled, path, words
from scripts.website.figures.shapes import SHEET


def figure() -> Figure:
    """Boxes joined by a bus."""
    shapes = [
        box(20, 20, 270, 170, "fb-hollow"),
        words(32, 40, "Processor", "start", "fb-strong"),
        labelled((36, 54, 110, 56), "control unit\nreads instructions", "c1"),
        labelled((164, 54, 110, 56), "arithmetic unit\nadds, multiplies", "c0"),
        labelled((36, 124, 238, 50), "registers\na few dozen numbers, at hand at once", "c2"),
        arrow((146, 82), (164, 82)),
        arrow((213, 124), (213, 111)),
        arrow((225, 110), (225, 123)),
        labelled((344, 20, 130, 170), "memory\n\nprogram\nand data,\nby address", "c4"),
        labelled((528, 20, 96, 74), "input\nkeys, disk,\nnetwork", "c5"),
        labelled((528, 116, 96, 74), "output\nscreen, disk,\nnetwork", "c5"),
        path([(20, 232), (624, 232)]),
        words(322, 252, "bus: everything that moves, moves here"),
    ]
    for x, top in ((155, 190), (409, 190), (576, 190)):
        shapes += [arrow((x - 5, 232), (x - 5, top + 1)), arrow((x + 5, top), (x + 5, 231))]
    return Figure(
        "Every number crosses the bus before it is used",
        "A processor with a control unit, an arithmetic unit and registers; one memory that holds "
        "program and data; input and output. All of them are joined by one bus, and every number "
        "that is used crosses it.",
        "A von Neumann machine, the plan of a laptop and, with more of everything, of an "
        "accelerator. The arithmetic is on one side of the bus and the numbers are on the other.",
        262,
        tuple(shapes),
        narrow=Sheet(SHEET, 372, tuple(_phone())),
    )


def _phone() -> Iterator[str]:
    """The processor above the bus, memory, input and output below it."""
    yield box(4, 4, 336, 172, "fb-hollow")
    yield words(16, 24, "Processor", "start", "fb-strong")
    yield labelled((16, 38, 146, 56), "control unit\nreads instructions", "c1")
    yield labelled((182, 38, 146, 56), "arithmetic unit\nadds, multiplies", "c0")
    yield labelled((16, 110, 312, 50), "registers\na few dozen numbers, at hand at once", "c2")
    yield arrow((162, 66), (182, 66))
    yield arrow((249, 110), (249, 95))
    yield arrow((261, 94), (261, 109))
    yield path([(4, 232), (340, 232)])
    yield words(100, 222, "bus: everything that moves, moves here", "start")
    yield labelled((4, 260, 128, 104), "memory\n\nprogram\nand data,\nby address", "c4")
    yield labelled((144, 260, 92, 104), "input\nkeys, disk,\nnetwork", "c5")
    yield labelled((248, 260, 92, 104), "output\nscreen, disk,\nnetwork", "c5")
    for x, top, foot in ((68, 176, 231), (68, 233, 260), (190, 233, 260), (294, 233, 260)):
        yield arrow((x - 5, foot), (x - 5, top + 1))
        yield arrow((x + 5, top), (x + 5, foot))
