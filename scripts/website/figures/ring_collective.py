"""A collective on a ring of devices, step by step: who holds which block, what just arrived."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.drawing.markup import escape
from flopbook.errors import FlopbookError, UnknownName
from scripts.website.figures.drawing import WIDTH, Figure, words

OPS = ("all-gather", "reduce-scatter", "all-to-all", "all-reduce")
LEFT, HEAD, ROW, GAP = 44.0, 44.0, 26.0, 18.0
MOST = 6  # devices that can be told apart in a picture
NAMES = "abcdef"  # of blocks
SECONDS = 1.3  # from one step to the next when the picture moves
CAPTIONS = {
    "all-gather": (
        "All-gather on a ring. A column is a device, a row a block. Dark: held already. Light with "
        "an arrow: just arrived from the neighbour on the left."
    ),
    "reduce-scatter": (
        "Reduce-scatter on a ring. The number is how many terms of the sum a device holds for that "
        "block. Light with an arrow: the sum that has just come from the left and taken in the "
        "term of this device. Empty: passed on."
    ),
    "all-reduce": (
        "All-reduce on a ring. Upper row: a reduce-scatter, the number is how many terms of the "
        "sum a device holds for that block. Lower row: an all-gather of the sums that are "
        "complete. Light with an arrow: just arrived."
    ),
    "all-to-all": (
        "All-to-all on a ring. A cell is a piece of the array: its row is the device that it comes "
        "from, its column the one that it goes to, its number the one that holds it now. Each "
        "piece goes the shorter way round, one neighbour in a step. Light: moved in this step."
    ),
}


class Cell(NamedTuple):
    """One cell of a panel: its text, whether it is filled, and whether it came in this step."""

    text: str
    filled: bool
    fresh: bool


Panel = list[list[Cell]]


def figure(op: str = "all-gather", devices: int = 4, moving: bool = False) -> Figure:
    """The steps of a collective side by side, or one panel in motion if `moving`.

    Raises UnknownName for another operation, FlopbookError for a ring that cannot be drawn or does
    not move.

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
    title = f"{op.capitalize()} on a ring of {devices} devices"
    height = HEAD + ROW * devices + 8
    if moving:
        return Figure(
            title, _told(op, devices, len(panels) - 1), MOVES, height, tuple(_moving(devices))
        )
    across = devices if op == OPS[3] else len(panels)  # an all-reduce is drawn in two rows
    step = (WIDTH - LEFT + GAP) / across
    shapes: list[str] = []
    for number, one in enumerate(panels):
        row, column = divmod(number, across)
        if column == 0:
            shapes += _names(op, devices, row * (height + 12))
        place = (LEFT + column * step, row * (height + 12))
        shapes += _panel(one, number, place, step - GAP)
    height += (len(panels) - 1) // across * (height + 12)
    return Figure(title, _told(op, devices, len(panels) - 1), CAPTIONS[op], height, tuple(shapes))


def _names(op: str, devices: int, top: float) -> list[str]:
    """What the rows of a panel are."""
    names, kind = ("012345", "from") if op == OPS[2] else (NAMES, "block")
    return [
        words(LEFT - 8, top + HEAD + ROW * n + 17, f"{kind} {names[n]}", "end", "fb-small")
        for n in range(devices)
    ]


MOVES = (
    "The same all-gather in motion: in each step every device sends the block that came last to "
    "its neighbour on the right, and the last device sends to the first. Close and open the box to "
    "see it again; where motion is switched off, the end is shown."
)


def gathered(devices: int) -> list[Panel]:
    """Who holds which block after each step of an all-gather.

    Block b is at device d once it has travelled so far.
    """

    def cell(block: int, device: int, step: int) -> Cell:
        way = (device - block) % devices
        if way > step:
            return Cell("", False, False)
        came = way == step and step > 0
        return Cell(("→" if came else "") + NAMES[block], True, came)

    return [
        [[cell(block, device, step) for device in range(devices)] for block in range(devices)]
        for step in range(devices)
    ]


def scattered(devices: int) -> list[Panel]:
    """How many terms a device holds after each step of a reduce-scatter.

    Block b sets out from device b + 1 and comes home.
    """

    def cell(block: int, device: int, step: int) -> Cell:
        place = (device - block - 1) % devices  # steps from where this block's sum sets out
        if place < step:
            return Cell("", False, False)
        came = place == step and step > 0
        return Cell(f"→{step + 1}" if came else "1", True, came)

    return [
        [[cell(block, device, step) for device in range(devices)] for block in range(devices)]
        for step in range(devices)
    ]


def exchanged(devices: int) -> list[Panel]:
    """Who holds the piece from a device (row) to one (column) after each step of an all-to-all."""

    def cell(source: int, target: int, step: int) -> Cell:
        right = (target - source) % devices
        way, sign = (right, 1) if right <= devices - right else (devices - right, -1)
        return Cell(str((source + sign * min(step, way)) % devices), True, 0 < step <= way)

    return [
        [[cell(source, target, step) for target in range(devices)] for source in range(devices)]
        for step in range(devices // 2 + 1)
    ]


def reduced(devices: int) -> list[Panel]:
    """The steps of an all-reduce: a reduce-scatter, then an all-gather of the complete sums."""

    def sums(panel: Panel) -> Panel:
        return [
            [
                one._replace(text="→" * one.fresh + str(devices)) if one.filled else one
                for one in row
            ]
            for row in panel
        ]

    return [*scattered(devices), *(sums(panel) for panel in gathered(devices)[1:])]


PANELS = dict(zip(OPS, (gathered, scattered, exchanged, reduced), strict=True))


def _told(op: str, devices: int, steps: int) -> str:
    """The picture in words."""
    how = {
        "all-gather": (
            "In each step every device passes on the block that came last; at the end all hold all."
        ),
        "reduce-scatter": (
            "In each step every device passes on one partial sum, and the next adds its term; at "
            "the end each device holds one complete sum."
        ),
        "all-reduce": (
            "First every device passes on partial sums until each holds one complete sum, then the "
            "complete sums travel round; at the end all hold all of them."
        ),
        "all-to-all": (
            "Each piece goes the shorter way round; at the end a device holds the pieces meant for "
            "it."
        ),
    }[op]
    return f"{steps} steps on {devices} devices. {how}"


def _panel(panel: Panel, step: int, corner: tuple[float, float], width: float) -> list[str]:
    left, top = corner
    wide = width / len(panel)
    shapes = [
        words(
            left + width / 2,
            top + 14,
            "before" if step == 0 else f"after step {step}",
            kind="fb-strong",
        )
    ]
    shapes += [
        words(left + (n + 0.5) * wide, top + 34, str(n), kind="fb-small") for n in range(len(panel))
    ]
    for row, cells in enumerate(panel):
        for column, cell in enumerate(cells):
            shapes.append(_cell(cell, left + column * wide, top + HEAD + row * ROW, wide))
    return shapes


def _cell(cell: Cell, x: float, y: float, wide: float, style: str = "") -> str:
    colour = "1" if cell.fresh else "0"
    kind = f"fb-c{colour}" if cell.filled else "fb-hollow"
    drawn = f'<rect class="{kind}" x="{x:.5g}" y="{y:.5g}" width="{wide:.5g}" height="{ROW:g}"/>'
    drawn += words(x + wide / 2, y + 17, cell.text, kind=f"fb-on{colour}") if cell.text else ""
    return f'<g class="fb-slide" style="{escape(style)}">{drawn}</g>' if style else drawn


def _moving(devices: int) -> list[str]:
    """One panel; a block that arrives slides in from the device on its left, step after step."""
    wide = (WIDTH - LEFT) / devices
    last, shapes = gathered(devices)[0], []
    shapes += [
        words(LEFT + (n + 0.5) * wide, 34, f"device {n}", kind="fb-small") for n in range(devices)
    ]
    shapes += [
        words(LEFT - 8, HEAD + ROW * n + 17, f"block {NAMES[n]}", "end", "fb-small")
        for n in range(devices)
    ]
    shapes += [
        _cell(Cell("", False, False), LEFT + d * wide, HEAD + b * ROW, wide)
        for b in range(devices)
        for d in range(devices)
    ]
    for block in range(devices):
        shapes.append(_cell(last[block][block], LEFT + block * wide, HEAD + block * ROW, wide))
        for step in range(1, devices):
            device = (block + step) % devices
            shift = -wide if device else wide * (devices - 1)
            style = f"--fb-dx:{shift:.5g}px;--fb-wait:{(step - 1) * SECONDS + 0.4:.3g}s"
            cell = Cell(NAMES[block], True, False)
            shapes.append(_cell(cell, LEFT + device * wide, HEAD + block * ROW, wide, style))
    return shapes
