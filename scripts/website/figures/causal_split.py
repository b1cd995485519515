"""Which chip computes which part of causal attention, by how the sequence is cut over chips."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scripts.website.figures.drawing import Figure, box, words

CHIPS = 4
CHUNKS = 2 * CHIPS
_CELL, _TOP = 26.0, 44.0


def in_pieces(chunk: int) -> int:
    """The chip of a chunk when each chip takes neighbours."""
    return chunk // 2


def folded(chunk: int) -> int:
    """The chip of a chunk when each takes one from the front and its mirror image from the back."""
    return min(chunk, CHUNKS - 1 - chunk)


def work(split: Callable[[int], int]) -> list[float]:
    """Blocks of scores of each chip: a query meets all chunks before its own, and half of that."""
    blocks = [0.0] * CHIPS
    for query in range(CHUNKS):
        blocks[split(query)] += query + 0.5
    return blocks


def figure() -> Figure:
    """Two triangles of blocks, each block with the number of the chip that computes it."""
    shapes = [
        *_triangle(44, in_pieces, "neighbouring chunks"),
        *_triangle(364, folded, "one from each end"),
    ]
    plain, even = work(in_pieces), work(folded)
    return Figure(
        f"Cut in order, the last chip has {plain[-1] / plain[0]:g} times the work of the first; "
        "cut from both ends, all have the same",
        f"A sequence of {CHUNKS} chunks on {CHIPS} chips. With neighbouring chunks the chips "
        f"compute {', '.join(f'{blocks:g}' for blocks in plain)} blocks of scores, so all wait "
        f"for the last. With a chunk from each end every chip computes {even[0]:g}.",
        "Rows are queries, columns keys; everything right of the diagonal is masked, and so is "
        "half of each block on it. The number in a block is the chip that computes it. With "
        "neighbouring chunks everyone waits for the last chip; with one from each end all chips "
        "finish together.",
        _TOP + CHUNKS * _CELL + 62,
        tuple(shapes),
    )


def _triangle(left: float, split: Callable[[int], int], title: str) -> list[str]:
    shapes = [
        words(left + 4 * _CELL, 18, title, kind="fb-strong"),
        words(left + 4 * _CELL, 36, "keys", kind="fb-small"),
    ]
    for query in range(CHUNKS):
        chip = split(query)
        top = _TOP + query * _CELL
        for key in range(query + 1):
            x = left + key * _CELL
            shapes += _block(x, top, chip, is_half=key == query)
    bottom = _TOP + CHUNKS * _CELL
    for chip, blocks in enumerate(work(split)):
        x, y = left + chip * 2 * _CELL, bottom + 14
        shapes.append(box(x + 2, y, 2 * _CELL - 4, 20, f"fb-c{chip}", f"chip {chip}"))
        text = f"{chip}: {blocks:g}"
        shapes.append(words(x + _CELL, y + 14.5, text, kind=f"fb-on{chip}"))
    shapes.append(words(left + 4 * _CELL, bottom + 52, "blocks of each chip", kind="fb-small"))
    return shapes


def _block(x: float, top: float, chip: int, *, is_half: bool) -> Iterator[str]:
    """A block with the number of its chip; on the diagonal the part that the mask leaves."""
    if not is_half:
        yield box(x, top, _CELL, _CELL, f"fb-c{chip}")
        yield words(x + _CELL / 2, top + 17, str(chip), kind=f"fb-on{chip}")
        return
    foot = top + _CELL
    corners = f"{x:g},{top:g} {x + _CELL:g},{foot:g} {x:g},{foot:g}"
    yield f'<polygon class="fb-c{chip}" points="{corners}"/>'
    yield words(x + 7, foot - 5, str(chip), kind=f"fb-small fb-on{chip}")
