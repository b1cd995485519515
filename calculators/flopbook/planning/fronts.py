"""The layouts that no other beats in both time and memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flopbook.prediction.layouts import Column

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
