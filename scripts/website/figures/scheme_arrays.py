"""How data, fully sharded, tensor and mixed parallelism cut the arrays of a feed-forward block."""

from __future__ import annotations

import re
from math import prod
from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.sharding.blocks import blocks, devices, holders
from flopbook.sharding.notation import Layout, read_layout, read_mesh
from scripts.website.figures.drawing import Figure, box, titled, words

SIZES = {"B": 66.0, "D": 62.0, "F": 110.0}  # how long a dimension is drawn
TOP, GAP = 56.0, 66.0


class Scheme(NamedTuple):
    """A kind of parallelism: what it does, its mesh, the layouts of the arrays, what it moves."""

    name: str
    finding: str
    mesh: str
    layouts: tuple[str, str, str, str]
    forward: str
    backward: str


SCHEMES = {
    "dp": Scheme(
        "Data parallelism",
        "With data parallelism each device has all weights and a share of the tokens",
        "X=4",
        ("In[B_X, D]", "Win[D, F]", "Wout[F, D]", "Out[B_X, D]"),
        "nothing",
        "an all-reduce of the gradients of Win and Wout over X",
    ),
    "fsdp": Scheme(
        "Fully sharded data parallelism",
        "With FSDP each device stores a strip of every matrix, and gathers the rest",
        "X=4",
        ("In[B_X, D]", "Win[D_X, F]", "Wout[F, D_X]", "Out[B_X, D]"),
        "all-gathers of Win and Wout over X, each just before its use",
        "the same all-gathers again, and reduce-scatters of their gradients over X",
    ),
    "tp": Scheme(
        "Tensor parallelism",
        "Columns of the first matrix, rows of the second: between them nothing moves",
        "Y=4",
        ("In[B, D]", "Win[D, F_Y]", "Wout[F_Y, D]", "Out[B, D]"),
        "an all-reduce of Out over Y",
        "an all-reduce of the gradient of In over Y",
    ),
    "mixed": Scheme(
        "FSDP and tensor parallelism",
        "On two axes each device stores a block of every matrix",
        "X=2,Y=2",
        ("In[B_XY, D]", "Win[D_X, F_Y]", "Wout[F_Y, D_X]", "Out[B_XY, D]"),
        "all-gathers of Win and Wout over X, and of In over Y; a reduce-scatter of Out over Y",
        "the same for the gradients, and reduce-scatters of those of Win and Wout over X",
    ),
}


def shares(scheme: str) -> list[float]:
    """Which share of each of the four arrays a device holds.

    Raises UnknownName for another scheme.
    """
    cut = _scheme(scheme)
    mesh = read_mesh(cut.mesh)
    return [1 / prod(blocks(read_layout(text), mesh)) for text in cut.layouts]


def figure(scheme: str = "dp") -> Figure:
    """The four arrays with their blocks; those of device 0 are filled.

    Raises UnknownName for another scheme.
    """
    cut = _scheme(scheme)
    mesh = read_mesh(cut.mesh)
    layouts = [read_layout(text) for text in cut.layouts]
    shapes: list[str] = []
    left, facts = 8.0, []
    tallest = max(SIZES.values())
    for layout, share in zip(layouts, shares(scheme), strict=True):
        height, width = (SIZES[dim] for dim in layout.dims)
        column = max(width, 104.0)
        share_words = "all of it" if share == 1 else f"1/{1 / share:g}"
        middle = left + column / 2
        name = _indexed(str(layout))
        shapes += titled(middle, 18, name, f"{share_words} on each", 18)
        shapes += _blocks(layout, mesh, (middle - width / 2, TOP + (tallest - height) / 2))
        facts.append(f"{name}, {share_words} on each device")
        left += column + GAP
    foot = TOP + tallest + 22
    forward, backward = _indexed(cut.forward), _indexed(cut.backward)
    shapes.append(words(8, foot, f"forward: {forward}", "start", "fb-small"))
    shapes.append(words(8, foot + 16, f"backward: {backward}", "start", "fb-small"))
    return Figure(
        cut.finding,
        f"{'; '.join(facts)}. Moved forward: {forward}. Moved backward: {backward}.",
        f"{cut.name} of a feed-forward block on {devices(mesh)} devices, the mesh {cut.mesh}. The "
        "numbers in a block are the devices that hold it; filled is what device 0 holds.",
        foot + 26,
        tuple(shapes),
        left - GAP + 8,
    )


def _indexed(text: str) -> str:
    """The matrices as the chapters write them; in the notation of layouts a name has no index."""
    return re.sub(r"\bW(in|out)\b", r"W_\1", text)


def _blocks(layout: Layout, mesh: dict[str, int], corner: tuple[float, float]) -> list[str]:
    """The blocks of one array with the devices that hold each."""
    rows, columns = blocks(layout, mesh)
    tall, wide = SIZES[layout.dims[0]] / rows, SIZES[layout.dims[1]] / columns
    shapes = []
    for i in range(rows):
        for j in range(columns):
            held = list(holders(layout, mesh, (i, j)))
            x, y = corner[0] + j * wide, corner[1] + i * tall
            text = " ".join(map(str, held))
            shapes.append(
                box(x, y, wide, tall, "fb-c0" if 0 in held else "fb-c5", f"devices {text}")
            )
            shapes.append(
                words(
                    x + wide / 2,
                    y + tall / 2 + 4,
                    text,
                    kind=f"fb-small fb-on{0 if 0 in held else 5}",
                )
            )
    return shapes


def _scheme(name: str) -> Scheme:
    if name not in SCHEMES:
        raise UnknownName("scheme", name, tuple(SCHEMES))
    return SCHEMES[name]
