"""What groups of ranks have of a torus: each axis of its links belongs to one of them.

A tensor-parallel group is a ring along one axis, or over two or three if one is too short for it,
and the replicas gather over the axes that are left. Arrays have one element per run.
"""

from __future__ import annotations

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.layouts import Layouts

# The longest side of a slice over an even one, as `chips_fill_the_torus` of the formulas allows.
LONGEST = 2.0
ROUNDING = 1 + 1e-9
PAIR = 2.0  # a rank and the neighbour that it sends to
# Axes of links that two ranks use, which are joined by one link in place of a ring; and those of
# replicas that have no axis of their own: MaxText's guide counts half for rings beside subrings.
HALF = 0.5
# Of two ways around a ring a token takes the shorter, which is a quarter of the ring in the mean.
RING_QUARTERS = 4.0


def is_torus(runs: Layouts) -> Mask:
    """The runs on chips that a torus joins, as TPUs are."""
    return runs["is_torus"] > 0


def axes_of(runs: Layouts, ranks: Column | float) -> Column:
    """Axes of the torus along which a group of so many ranks lies, as few as hold it."""
    even = (runs["chips"] / runs["slices"]) ** (1 / runs["axes"])
    whole = runs["domain"] ** (1 / runs["axes"])
    longest = arrays.minimum(LONGEST * even, arrays.maximum(whole, even)) * ROUNDING
    beyond = arrays.where(ranks > longest * longest, 3, 2)
    return arrays.minimum(arrays.where(ranks > longest, beyond, 1), runs["axes"])


def share_of_ring(runs: Layouts, ranks: Column | float) -> Column:
    """The share of a chip's links that rings over so many ranks use; two ranks have one link.

    Without a torus a switch gives each ring all of them.
    """
    if not arrays.holds_anywhere(is_torus(runs)):
        return runs["is_torus"] + 1
    used = arrays.where(ranks > PAIR, axes_of(runs, ranks), HALF)
    return arrays.where(is_torus(runs), used / runs["axes"], 1)


def share_of_replicas(runs: Layouts) -> Column:
    """The share of a chip's links that are left for the replicas; without TP it is all of them."""
    taken = arrays.where(runs["tp"] > 1, axes_of(runs, runs["tp"]), 0)
    return arrays.maximum(runs["axes"] - taken, HALF) / runs["axes"]


def share_of_exchange(runs: Layouts, ranks: Column | float) -> Column:
    """The rate of an all-to-all of some ranks, over that of all links of a chip.

    A token crosses a quarter of each ring in the mean, those counted that stay, and every link that
    it crosses carries it.
    """
    if not arrays.holds_anywhere(is_torus(runs)):
        return runs["is_torus"] + 1
    axes = axes_of(runs, ranks)
    side = ranks ** (1 / axes)
    of_ring = arrays.minimum(RING_QUARTERS / side * (1 - 1 / side), 1)
    share = arrays.where(ranks > 1, of_ring, 1) * axes / runs["axes"]
    return arrays.where(is_torus(runs), share, 1)
