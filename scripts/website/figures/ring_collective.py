"""A collective on a ring of devices, step by step: who holds which block, what just arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.errors import FlopbookError, UnknownName
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, words
from scripts.website.figures.plotted import Point
from scripts.website.figures.shapes import SHEET

OPS = ("all-gather", "reduce-scatter", "all-to-all", "all-reduce")
LEFT, HEAD, ROW, GAP = 44.0, 44.0, 26.0, 18.0
MOST = 6  # devices that can be told apart in a picture
NAMES = "abcdef"  # of blocks
SECONDS = 1.3  # from one step to the next when the picture moves
CAPTIONS = {
    "all-gather": (
        "All-gather on a ring. A column is a device, a row a block. Blue: held already. Orange, "
        "with an arrow: just arrived from the neighbour on the left."
    ),
    "reduce-scatter": (
        "Reduce-scatter on a ring. The number is how many terms of the sum a device holds for that "
        "block. Orange with an arrow: the sum that has just come from the left and taken in the "
        "term of this device. Empty: passed on."
    ),
    "all-reduce": (
        "All-reduce on a ring. Upper row: a reduce-scatter, the number is how many terms of the "
        "sum a device holds for that block. Lower row: an all-gather of the sums that are "
        "complete. Orange with an arrow: just arrived."
    ),
    "all-to-all": (
        "All-to-all on a ring. A cell is a piece of the array: its row is the device that it comes "
        "from, its column the one that it goes to, its number the one that holds it now. Each "
        "piece goes the shorter way round, one neighbour in a step. Orange: moved in this one."
    ),
}


# The picture in words, after the number of steps.
STORIES = {
    "all-gather": "In each step every device passes on the block that came last; at the end all "
    "hold all.",
    "reduce-scatter": "In each step every device passes on one partial sum, and the next adds its "
    "term; at the end each device holds one complete sum.",
    "all-reduce": "First every device passes on partial sums until each holds one complete sum, "
    "then the complete sums travel round; at the end all hold all of them.",
    "all-to-all": "Each piece goes the shorter way round; at the end a device holds the pieces "
    "meant for it.",
}
FINDINGS = {
    "all-gather": "All-gather: in {steps} steps round the ring every device gets every block",
    "reduce-scatter": "Reduce-scatter: in {steps} steps every device gets one complete sum",
    "all-reduce": "All-reduce: {half} steps to add up, then {half} to pass the sums round",
    "all-to-all": "All-to-all: in {steps} steps each piece goes the shorter way round",
}
MOVES = (
    "The same all-gather in motion: in each step every device sends the block that came last to "
    "its neighbour on the right, and the last device sends to the first. Close and open the box to "
    "see it again; where motion is switched off, the end is shown."
)
_FIRST_WAIT = 0.4  # seconds before the first block moves


class BlockCell(NamedTuple):
    """One cell of a panel: its text, whether it is filled, and whether it came in this step."""

    text: str
    filled: bool
    fresh: bool


EMPTY = BlockCell("", filled=False, fresh=False)
Panel = list[list[BlockCell]]


def figure(op: str = "all-gather", devices: int = 4, moving: bool = False) -> Figure:
    """The steps of a collective side by side, or one panel in motion if `moving`.

    Raises UnknownName for another operation, FlopbookError for a ring that cannot be drawn or does
    not move.
    """
    if op not in OPS:
        raise UnknownName("collective", op, OPS)
    if not 2 <= devices <= MOST:
        raise FlopbookError(f"a ring of {devices} devices is not drawn, expected 2 to {MOST}")
    if moving and op != "all-gather":
        raise FlopbookError(f"{op} is drawn step by step only; moving is for all-gather")
    panels = PANELS[op](devices)
    title = FINDINGS[op].format(steps=len(panels) - 1, half=devices - 1)
    story = f"{len(panels) - 1} steps on {devices} devices. {STORIES[op]}"
    height = HEAD + ROW * devices + 8
    if moving:
        parts, phone = (tuple(_moving(devices, width)) for width in (WIDTH, SHEET))
        sheet = Sheet(SHEET, height, phone)
        return Figure(title, story, MOVES, height, parts, narrow=sheet)
    across = devices if op == "all-reduce" else len(panels)  # an all-reduce is drawn in two rows
    step = (WIDTH - LEFT + GAP) / across
    shapes: list[str] = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, across)
        top = row * (height + 12)
        if column == 0:
            shapes += _names(op, devices, top)
        shapes += _panel(panel, number, (LEFT + column * step, top), step - GAP)
    rows = -(-len(panels) // across)
    return Figure(title, story, CAPTIONS[op], rows * (height + 12) - 12, tuple(shapes))


def _names(op: str, devices: int, top: float) -> Iterator[str]:
    """What the rows of a panel are."""
    labels = [f"block {name}" for name in NAMES]
    if op == "all-to-all":
        labels = [f"from {device}" for device in range(devices)]
    for row, label in enumerate(labels[:devices]):
        yield words(LEFT - 8, top + HEAD + ROW * row + 17, label, "end", "fb-small")


def _panels(devices: int, steps: int, cell: Callable[[int, int, int], BlockCell]) -> list[Panel]:
    """A panel for each step; `cell` is asked for its row, its column and the step."""
    ring = range(devices)
    panels = []
    for step in range(steps):
        panels.append([[cell(row, column, step) for column in ring] for row in ring])
    return panels


def gathered(devices: int) -> list[Panel]:
    """Who holds which block after each step of an all-gather.

    Block b is at device d once it has travelled so far.
    """

    def cell(block: int, device: int, step: int) -> BlockCell:
        way = (device - block) % devices
        if way > step:
            return EMPTY
        came = way == step and step > 0
        return BlockCell("→" * came + NAMES[block], filled=True, fresh=came)

    return _panels(devices, devices, cell)


def scattered(devices: int) -> list[Panel]:
    """How many terms a device holds after each step of a reduce-scatter.

    Block b sets out from device b + 1 and comes home.
    """

    def cell(block: int, device: int, step: int) -> BlockCell:
        place = (device - block - 1) % devices  # steps from where this block's sum sets out
        if place < step:
            return EMPTY
        came = place == step and step > 0
        return BlockCell(f"→{step + 1}" if came else "1", filled=True, fresh=came)

    return _panels(devices, devices, cell)


def exchanged(devices: int) -> list[Panel]:
    """Who holds the piece from a device (row) to one (column) after each step of an all-to-all."""

    def cell(source: int, target: int, step: int) -> BlockCell:
        rightwards = (target - source) % devices
        leftwards = devices - rightwards
        way, sign = (rightwards, 1) if rightwards <= leftwards else (leftwards, -1)
        holder = (source + sign * min(step, way)) % devices
        return BlockCell(str(holder), filled=True, fresh=0 < step <= way)

    return _panels(devices, devices // 2 + 1, cell)


def reduced(devices: int) -> list[Panel]:
    """The steps of an all-reduce: a reduce-scatter, then an all-gather of the complete sums."""
    gathers = [[_sums(row, devices) for row in panel] for panel in gathered(devices)[1:]]
    return [*scattered(devices), *gathers]


def _sums(row: list[BlockCell], devices: int) -> list[BlockCell]:
    """A row of an all-gather whose blocks are sums of so many terms."""
    sums = {False: str(devices), True: f"→{devices}"}
    return [cell._replace(text=sums[cell.fresh]) if cell.filled else cell for cell in row]


PANELS = dict(zip(OPS, (gathered, scattered, exchanged, reduced), strict=True))


def _panel(panel: Panel, step: int, corner: Point, width: float) -> Iterator[str]:
    left, top = corner
    side = width / len(panel)
    title = f"after step {step}" if step else "before"
    yield words(left + width / 2, top + 14, title, kind="fb-strong")
    for device in range(len(panel)):
        yield words(left + (device + 0.5) * side, top + 34, str(device), kind="fb-small")
    for row, cells in enumerate(panel):
        for column, cell in enumerate(cells):
            yield _cell(cell, left + column * side, top + HEAD + row * ROW, side)


def _cell(cell: BlockCell, x: float, y: float, width: float) -> str:
    colour = "1" if cell.fresh else "0"
    kind = f"fb-c{colour}" if cell.filled else "fb-hollow"
    drawn = f'<rect class="{kind}" x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{ROW:g}"/>'
    if cell.text:
        drawn += words(x + width / 2, y + 17, cell.text, kind=f"fb-on{colour}")
    return drawn


def _moving(devices: int, width: float) -> Iterator[str]:
    """One panel; a block that arrives slides in from the device on its left, step after step."""
    side = (width - LEFT) / devices
    for device in range(devices):
        yield words(LEFT + (device + 0.5) * side, 34, f"device {device}", kind="fb-small")
    yield from _names("all-gather", devices, 0)
    for row in range(devices):
        for column in range(devices):
            yield _cell(EMPTY, LEFT + column * side, HEAD + row * ROW, side)
    for block in range(devices):
        yield from _travel(block, devices, side)


def _travel(block: int, devices: int, side: float) -> Iterator[str]:
    """A block at its device, and once more at each device that it comes to."""
    y = HEAD + block * ROW
    cell = BlockCell(NAMES[block], filled=True, fresh=False)
    yield _cell(cell, LEFT + block * side, y, side)
    for step in range(1, devices):
        device = (block + step) % devices
        # from the last device a block goes back to the first
        shift = -side if device else side * (devices - 1)
        style = f"--fb-dx:{shift:.5g}px;--fb-wait:{(step - 1) * SECONDS + _FIRST_WAIT:.3g}s"
        drawn = _cell(cell, LEFT + device * side, y, side)
        yield f'<g class="fb-slide" style="{escape(style)}">{drawn}</g>'
