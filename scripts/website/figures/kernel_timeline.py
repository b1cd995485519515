"""Copies, launches and messages in turn with arithmetic, and at once with it."""

from __future__ import annotations

from flopbook.errors import UnknownName
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import WIDTH, Figure
from scripts.website.figures.overlap import (
    GAP,
    LEFT,
    PANEL,
    TOP,
    Bar,
    idle_share,
    lane_readings,
    panel,
)

TILES, COPY, WORK = 6, 1.0, 1.2
KERNELS, LAUNCH, RUN = 6, 2.5, 1.0
MESSAGE, PRODUCT, COST = 0.8, 1.0, 0.04
BLOCKS, SCORES, SOFTMAX = 4, 0.5, 0.5  # blocks of keys in all, times of one of two products
# Work and exchange of a layer in decoding, in readings of its weights: both grow with sequences.
DECODED = {"few sequences": (0.3, 0.4), "many sequences": (1.8, 2.4)}
LAYERS = 3


def figure(kind: str = "buffers") -> Figure:
    """One panel for each way to do the same work.

    Raises UnknownName for another kind than buffers, launches, parts, halves and attention.
    """
    if kind not in _KINDS:
        raise UnknownName("kind of timeline", kind, _KINDS)
    title, lanes, caption, ways = _KINDS[kind]
    scale = (WIDTH - LEFT - 8) / max(bar.end for _, bars in ways for bar in bars)
    shapes: list[str] = []
    facts = []
    top = TOP
    for name, bars in ways:
        finish = max(bar.end for bar in bars)
        idle = finish * idle_share(bars, 1)
        text = f"{name}: done after {finish:.3g}, the {lanes[1]} waits for {idle:.3g} of it"
        shapes += panel(text, lanes, bars, top, scale)
        facts.append(text)
        top += PANEL
    return Figure(
        title,
        ". ".join(facts) + ".",
        caption,
        top - GAP + 6,
        tuple(shapes),
        readings=lane_readings(ways, lanes),
    )


def buffered(buffers: int, tiles: int = TILES, copy: float = COPY, work: float = WORK) -> list[Bar]:
    """Copies and work of tiles: a copy needs the wire and a buffer whose tile is done with."""
    bars, wire, done = [], 0.0, [0.0] * buffers
    for tile in range(tiles):
        start = max(wire, done[-buffers])
        wire = start + copy
        begin = max(wire, done[-1])
        done.append(begin + work)
        bars += [
            Bar(0, start, wire, f"{tile + 1}", "c1"),
            Bar(1, begin, begin + work, f"{tile + 1}", "c0"),
        ]
    return bars


def launched(
    kernels: int = KERNELS, launch: float = LAUNCH, run: float = RUN, together: bool = False
) -> list[Bar]:
    """Kernels that the host launches one by one, or all by one launch if `together`."""
    bars, host, chip = [], 0.0, 0.0
    for kernel in range(kernels):
        if not (together and kernel):
            name = "launch" if together else f"launch {kernel + 1}"
            bars.append(Bar(0, host, host + launch, name, "c5"))
            host += launch
        begin = max(host, chip)
        chip = begin + run
        bars.append(Bar(1, begin, chip, f"{kernel + 1}", "c0"))
    return bars


def in_parts(
    parts: int, cost: float = 0.0, message: float = MESSAGE, product: float = PRODUCT
) -> list[Bar]:
    """A message and the product that needs it, both cut: a part is multiplied when it is there."""
    bars, done = [], 0.0
    for part in range(parts):
        arrived = (part + 1) * message / parts
        begin = max(arrived, done)
        done = begin + product / parts + cost
        bars += [
            Bar(0, part * message / parts, arrived, f"{part + 1}", "c1"),
            Bar(1, begin, done, f"{part + 1}", "c0"),
        ]
    return bars


def attended(groups: int, blocks: int = BLOCKS) -> list[Bar]:
    """Scores, softmax and weighted values of blocks, dealt out to groups of warps.

    The products of all groups share one lane, their exponentials the other.
    """
    bars: list[Bar] = []
    free, ready = [0.0, 0.0], [0.0] * groups
    for first in range(0, blocks, groups):
        for lane, length, colour in ((1, SCORES, "c0"), (0, SOFTMAX, "c6"), (1, SCORES, "c8")):
            for group in range(groups):
                begin = max(free[lane], ready[group])
                free[lane] = ready[group] = begin + length
                bars.append(Bar(lane, begin, begin + length, f"{first + group + 1}", colour))
    return bars


def decoded(parts: int, work: float, exchange: float, layers: int = LAYERS) -> list[Bar]:
    """Layers of a decoding step for a batch in so many parts, each of which reads all weights.

    A part works on the next layer when its own exchange is through; the others hide behind it.
    """
    bars: list[Bar] = []
    chip, wire, ready = 0.0, 0.0, [0.0] * parts
    for _ in range(layers):
        for part in range(parts):
            name = f"{part + 1}" if parts > 1 else ""
            begin = max(chip, ready[part])
            chip = begin + 1 + work / parts
            sent = max(wire, chip)
            wire = ready[part] = sent + exchange / parts
            bars += [
                Bar(1, begin, begin + 1, "R", "c6"),
                Bar(1, begin + 1, chip, name, "c0"),
                Bar(0, sent, wire, name, "c1"),
            ]
    return bars


def _gained(times: tuple[float, float]) -> float:
    """The share of the time of an undivided batch that halves save; negative if they lose."""
    whole, halves = (max(bar.end for bar in decoded(parts, *times)) for parts in (1, 2))
    return 1 - halves / whole


def _saved(parts: int) -> float:
    """The share of the time in turn that so many parts save, each at its cost."""
    return 1 - max(bar.end for bar in in_parts(parts, COST)) / (MESSAGE + PRODUCT)


_KINDS = {
    "buffers": (
        "With a second buffer all copies but the first hide behind the arithmetic",
        ("copies", "arithmetic"),
        f"Numbers are tiles; a copy takes {COPY:g}, the work on a tile {WORK:g}. With one buffer "
        "the next tile can only come when the one before is done with. With two it comes "
        "meanwhile, and only the first copy shows.",
        (("one buffer", buffered(1)), ("two buffers", buffered(2))),
    ),
    "launches": (
        "Short kernels wait for their launches; a graph or one fused kernel does not",
        ("host", "chip"),
        f"Numbers are kernels, {KERNELS} in a row, each taking 1; a launch takes "
        f"{LAUNCH:g}. A graph launches all of them at once. Fusion makes one kernel of them, "
        "which also moves fewer bytes.",
        (
            ("one by one", launched()),
            ("as one graph", launched(together=True)),
            ("fused into one kernel", launched(kernels=1, run=2 * RUN, together=True)),
        ),
    ),
    "parts": (
        f"Cut into four parts, product and message take {percent(_saved(4))} less time; into "
        f"sixteen, {percent(_saved(16))}",
        ("network", "arithmetic"),
        f"Numbers are parts; the message takes {MESSAGE:g}, the product {PRODUCT:g}. Uncut, the "
        "product waits for all of the message. Cut, each part is multiplied while the next one "
        f"travels. If a part costs {COST:g}, for a launch and a smaller tile, too many of them "
        "lose what they gained.",
        (
            ("in one part", in_parts(1)),
            ("in four parts", in_parts(4, COST)),
            ("in sixteen parts", in_parts(16, COST)),
        ),
    ),
    "halves": (
        f"Halves take {percent(_gained(DECODED['many sequences']))} less time with many sequences "
        f"and {percent(-_gained(DECODED['few sequences']))} more with few",
        ("network", "chip"),
        f"Decoding, {LAYERS} layers. R: the weights are read, which takes 1 whatever the batch; "
        "blue: the rest of the work; on the network: the exchange of tokens. Numbers are halves. "
        "Each half hides the exchange of the other and reads the weights for itself: look whether "
        "the exchange that vanishes is longer than the second R.",
        tuple(
            (f"{name}, {'in halves' if parts > 1 else 'undivided'}", decoded(parts, *times))
            for name, times in DECODED.items()
            for parts in (1, 2)
        ),
    ),
    "attention": (
        "One group of warps leaves the tensor core idle a third of the time, two in turn never",
        ("exponentials", "tensor core"),
        "Numbers are blocks of keys: dark the product that makes their scores, light the one that "
        "weights their values, orange the softmax between them, which takes half as long as both "
        "as for heads of 128 on an H100. With two groups one computes exponentials while the other "
        "multiplies.",
        (("one group of warps", attended(1)), ("two groups in turn", attended(2))),
    ),
}
