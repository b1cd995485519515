"""The layouts that no other beats: in time and memory, and in cost where counts of chips differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flopbook.prediction.arrays import Column

Places = NDArray[np.intp]


def front_of(seconds: Column, held: Column) -> Places:
    """Places of the elements that are faster than all that hold as little, the fastest first.

    Of elements that are equal in both the first counts.
    """
    if not len(seconds):
        return np.empty(0, dtype=np.intp)
    order = np.lexsort((np.arange(len(seconds)), held, seconds))
    least = np.minimum.accumulate(held[order])
    before = np.concatenate(([np.inf], least[:-1]))
    return order[held[order] < before]


def unbeaten(points: Column) -> Places:
    """Places of the rows that no other row beats: nowhere larger, and smaller somewhere."""
    nowhere_larger = np.all(points[:, None, :] <= points[None, :, :], axis=2)
    smaller = np.any(points[:, None, :] < points[None, :, :], axis=2)
    return np.flatnonzero(~np.any(nowhere_larger & smaller, axis=0))
