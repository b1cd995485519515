"""Layouts that share all but some numbers and words, which are arrays that broadcast.

What depends on few of them is computed on few elements: the shape of an array has an axis for the
cells, one for ZeRO stages and one for recomputation, each of length one where nothing varies.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.layouts import Layouts, RunLayout, field_of

Words = NDArray[np.str_]


class LayoutGrid(Layouts):
    """Runs as the parts of the step take them, though no run is ever built."""

    def __init__(
        self, common: RunLayout, numbers: Mapping[str, Column], words: Mapping[str, Words]
    ) -> None:
        super().__init__(())
        self._common, self._numbers, self._words = common, numbers, words

    def __getitem__(self, name: str) -> Column:
        """One number, of each layout or of all."""
        if name in self._numbers:
            return self._numbers[name]
        return np.asarray(float(field_of(self._common, name)))

    def inferred(self, name: str) -> Mask:
        """Nothing of a planned layout is left open but what all leave open."""
        is_searched = name in self._words or name in self._numbers
        return np.asarray(not is_searched and name in self._common.inferred)

    def where(self, name: str, *words: str) -> Mask:
        """The layouts whose word under a name is one of these."""
        if name in self._words:
            return np.isin(self._words[name], words)
        return np.asarray(field_of(self._common, name) in words)

    def choose(self, name: str, by_word: Mapping[str, float], otherwise: float) -> Column:
        """A number for the word of each layout."""
        if name not in self._words:
            return np.asarray(by_word.get(str(field_of(self._common, name)), otherwise))
        chosen = [by_word.get(str(word), otherwise) for word in self._words[name].flat]
        return np.array(chosen).reshape(self._words[name].shape)
