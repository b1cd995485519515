"""A kernel that copies and computes in turn or at once; kernels launched one by one or together."""

from __future__ import annotations

from flopbook.errors import UnknownName
from scripts.website.figures.drawing import WIDTH, Figure
from scripts.website.figures.overlap import GAP, LEFT, PANEL, TOP, Bar, idle_share, panel

TILES, COPY, WORK = 6, 1.0, 1.2
KERNELS, LAUNCH, RUN = 6, 2.5, 1.0


def figure(kind: str = "buffers") -> Figure:
    """One panel for each way to do the same work.

    Raises UnknownName for another kind than buffers and launches.
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
    return Figure(title, ". ".join(facts) + ".", caption, top - GAP + 6, tuple(shapes))


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
}
