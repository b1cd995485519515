"""A computed number of a page of prose: it knows its unit and where it comes from."""

from __future__ import annotations

from flopbook.quantities.units import format_quantity
from scripts.website.markup import inline, link


# A float, so that templates can compute with it; the result is bare again and needs a unit.
class Number(float):
    """An SI value that prints with its unit, linked to its origin."""

    unit: str
    href: str

    def __new__(cls, si_value: float, unit: str, href: str = "") -> Number:
        self = super().__new__(cls, si_value)
        self.unit, self.href = unit, href
        return self

    def __str__(self) -> str:
        text = format_quantity(float(self), self.unit)
        if self.href:
            return str(link(text, self.href, "fb-num"))  # the style sheet keeps it in one line
        return str(inline(text)).replace(" ", "\u00a0")  # a unit does not begin a line
