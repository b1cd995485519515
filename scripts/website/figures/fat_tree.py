"""The smallest fat tree of three levels: as many links at every level as there are hosts."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.website.figures.drawing import Figure, Sheet, box, path, words
from scripts.website.figures.plotted import Point

PORTS = 4  # of a switch
_ROWS = {"core": 30.0, "spine": 96.0, "leaf": 162.0, "host": 228.0}  # height of each row
_LEFT, _TALL = 62.0, 16.0


def links(ports: int = PORTS) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Each link as the upper and the lower end; a switch has half of its ports down."""
    half = ports // 2
    found = []
    for pod in range(ports):
        for upper in range(half):
            spine = pod * half + upper
            for each in range(half):
                found.append((("core", upper * half + each), ("spine", spine)))
                found.append((("spine", spine), ("leaf", pod * half + each)))
                found.append((("leaf", spine), ("host", spine * half + each)))
    return found


def figure() -> Figure:
    """Hosts below, core switches above; the links of half of the cores are dashed."""
    half = PORTS // 2
    hosts, cores = PORTS**3 // 4, half**2
    switches = cores + 2 * PORTS * half
    return Figure(
        f"From {PORTS}-port switches: {hosts} hosts, {switches} switches, {hosts} links at every "
        "level",
        f"Four rows: {cores} core switches, {PORTS * half} spine switches, {PORTS * half} leaf "
        f"switches, {hosts} hosts in {PORTS} pods. Between any two rows are {hosts} links; half of "
        "those to the core switches are dashed.",
        "Because the tree is as fat above as below, any half of the hosts can talk to the other "
        "half at full rate. Leave out the dashed half of the core, and it is oversubscribed by "
        "two: full rate inside a pod of four hosts, half of it between pods.",
        264,
        tuple(_tree(640.0)),
        narrow=Sheet(344, 264, tuple(_tree(344.0))),
    )


def _tree(width: float) -> Iterator[str]:
    half = PORTS // 2
    count = {"core": half**2, "spine": PORTS * half, "leaf": PORTS * half, "host": PORTS * half**2}
    room = width - _LEFT - 4

    def at(row: str, number: int) -> Point:
        return _LEFT + (number + 0.5) * room / count[row], _ROWS[row]

    for (upper, above), (lower, below) in links():
        (x0, y0), (x1, y1) = at(upper, above), at(lower, below)
        spare = upper == "core" and above % half
        yield path([(x0, y0 + _TALL), (x1, y1)], "fb-dashed" if spare else "fb-stroke")
    wide = 0.62 * room / count["host"]
    for row, number in count.items():
        yield words(_LEFT - 8, _ROWS[row] + 12, row, "end")
        for each in range(number):
            x, y = at(row, each)
            kind = "fb-c0" if row == "host" else "fb-c5"
            spare = row == "core" and each % half
            yield box(x - wide / 2, y, wide, _TALL, "fb-hollow" if spare else kind, f"{row} {each}")
    for pod in range(PORTS):
        x = _LEFT + (pod + 0.5) * room / PORTS
        yield words(x, _ROWS["host"] + 32, f"pod {pod}", kind="fb-small")
