"""What the cells of a comparison show: a value as its source prints it, with a bar and a mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flopbook.hardware.picked import Picked, number_of
from flopbook.quantities.formatting import in_unit
from flopbook.quantities.units import unit
from scripts.website.pages.quantities import Quantity

# From this count on a unit is too small to read: 20,741 GB.
_MOST_COUNT = 10_000


class BarOfCell(NamedTuple):
    """What a cell shows: its share of the longest bar, the value in words, and a mark.

    `same_unit` is the value in the unit of its neighbour, where the words have another.
    """

    share: float
    words: str
    is_best: bool
    same_unit: str


def bars_of(quantity: Quantity, cells: Sequence[Picked | str | None]) -> list[BarOfCell]:
    """The bars of a row; the better value is marked where the two print differently."""
    values = [number_of(cell) for cell in cells]
    amounts = [amount for amount in values if amount is not None]
    most = max(amounts, default=0.0)
    # What prints as a ratio of 1 is no more and no less.
    differs = len(amounts) > 1 and f"{max(amounts) / (min(amounts) or 1):.2g}" != "1"
    best = (max if quantity.better > 0 else min)(amounts) if differs else None
    words = printed_words(quantity, cells)
    is_mixed = len({_is_binary(text) for text in words if text}) > 1
    shown = words if any(map(_is_binary, words)) else _in_one_unit(values, words)
    return [
        BarOfCell(
            (amount or 0) / most if most else 0,
            text,
            amount == best,
            quantity.words(amount or 0) if is_mixed and _is_binary(text) else "",
        )
        for amount, text in zip(values, shown, strict=True)
    ]


def printed_words(quantity: Quantity, cells: Sequence[Picked | str | None]) -> list[str]:
    """Values as their sources print them; nothing for what is lacking."""
    return [quantity.in_text(cell) if isinstance(cell, Picked) else "" for cell in cells]


def _is_binary(words: str) -> bool:
    return words.endswith("iB")


def _in_one_unit(values: Sequence[float | None], words: list[str]) -> list[str]:
    """Both values in the unit of the smaller one, where the larger stays readable in it.

    989.4 TFLOP/s beside 1.307 PFLOP/s makes the reader convert before they can compare.
    """
    amounts = [amount for amount in values if amount]
    if len(amounts) < len(values) or len({text.partition(" ")[2] for text in words}) == 1:
        return words
    symbol = words[values.index(min(amounts))].partition(" ")[2]
    if max(amounts) / unit(symbol).factor >= _MOST_COUNT:
        return words
    return [in_unit(amount, symbol) for amount in amounts]
