"""A computed number of a page of prose: it knows its unit and where it comes from."""

from __future__ import annotations

from flopbook.drawing.markup import inline, link
from flopbook.quantities.units import format_quantity


class Number(float):
    """An SI value that prints with its unit, linked to its origin."""

    unit: str
    href: str

    def __new__(cls, value: float, unit: str, href: str = "") -> Number:
        self = super().__new__(cls, value)
        self.unit, self.href = unit, href
        return self

    def __str__(self) -> str:
        text = format_quantity(float(self), self.unit)
        if self.href:
            return link(text, self.href, "fb-num")  # the style sheet keeps it in one line
        return inline(text).replace(" ", "\u00a0")  # a unit does not begin a line
