"""Which rank of a ring works in which step under a causal mask, by how the sequence is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scripts.website.figures.causal_split import CHIPS, CHUNKS, folded, in_pieces
from scripts.website.figures.drawing import WIDTH, Figure, labelled, words
from scripts.website.figures.plotted import FigureValue

_LEFT, _LANE, _TITLE, _GAP = 84.0, 26.0, 22.0, 26.0


def work(split: Callable[[int], int], queries: int, keys: int) -> float:
    """The share of scores that the mask leaves where a rank's queries meet another's keys."""
    mine = [chunk for chunk in range(CHUNKS) if split(chunk) == queries]
    others = [chunk for chunk in range(CHUNKS) if split(chunk) == keys]
    left = sum(1.0 if key < query else 0.5 * (key == query) for query in mine for key in others)
    return left / (len(mine) * len(others))


def steps(split: Callable[[int], int]) -> list[list[tuple[int, float]]]:
    """For every step of the ring the block that each rank holds, and its share of scores."""
    held = [[(rank - step) % CHIPS for rank in range(CHIPS)] for step in range(CHIPS)]
    return [
        [(block, work(split, rank, block)) for rank, block in enumerate(blocks)] for blocks in held
    ]


def time(split: Callable[[int], int]) -> float:
    """Time of the ring in whole blocks: in each step all wait for the rank with the most work."""
    return sum(max(share for _, share in blocks) for blocks in steps(split))


def figure() -> Figure:
    """A lane for each rank under either cut: what it computes, and where it waits."""
    ways = {"neighbouring chunks": in_pieces, "one chunk from each end": folded}
    scale = (WIDTH - _LEFT - 8) / max(time(split) for split in ways.values())
    shapes: list[str] = []
    top, facts = 6.0, []
    for name, split in ways.items():
        busy = sum(share for blocks in steps(split) for _, share in blocks) / CHIPS
        text = f"{name}: {time(split):g} blocks of time, of which a rank works {busy:g} on average"
        facts.append(text)
        shapes += _panel(text, split, top, scale)
        top += _TITLE + CHIPS * _LANE + _GAP
    plain, even = (time(split) for split in ways.values())
    return Figure(
        f"Under a causal mask a ring of neighbours takes {plain / even:.2f} times as long as a "
        "balanced one",
        ". ".join(facts) + ".",
        "A lane is a rank, a number the rank whose keys and values it has at hand. With "
        "neighbouring chunks a rank has nothing to do for keys that come after its queries, and "
        "the ring moves on when the busiest rank is through. Cut from both ends, half of every "
        "block is left on every rank in every step.",
        top - _GAP + 4,
        tuple(shapes),
        readings=tuple(
            FigureValue(f"{name}, step {number + 1}", f"rank {rank}", share)
            for name, split in ways.items()
            for number, blocks in enumerate(steps(split))
            for rank, (_, share) in enumerate(blocks)
        ),
    )


def _panel(title: str, split: Callable[[int], int], top: float, scale: float) -> Iterator[str]:
    """The lanes of all ranks under a title."""
    yield words(_LEFT, top + 12, title, "start", "fb-strong")
    for rank in range(CHIPS):
        yield words(_LEFT - 8, top + _TITLE + rank * _LANE + 16, f"rank {rank}", "end")
    begin = 0.0
    for blocks in steps(split):
        longest = max(share for _, share in blocks)
        for rank, (block, share) in enumerate(blocks):
            x, y = _LEFT + begin * scale, top + _TITLE + rank * _LANE
            if share:
                yield labelled((x, y, share * scale, _LANE - 5), f"{block}", "c0")
            if share < longest:
                waiting = (longest - share) * scale
                yield labelled((x + share * scale, y, waiting, _LANE - 5), "", "hollow")
        begin += longest
