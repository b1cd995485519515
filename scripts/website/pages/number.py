"""A computed number of a page of prose: it knows its unit and where it comes from."""

from __future__ import annotations

from flopbook.errors import FlopbookError
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, inline, link

_DIGITS_OF_PROSE = 2


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


def about(number: object) -> Html:
    """A number as a sentence says it: two digits that matter, the exact value on hover.

    Raises FlopbookError for what has no unit.
    """
    if not isinstance(number, Number):
        raise FlopbookError(f"`about` takes a number with a unit, found {number!r}")
    exact = format_quantity(float(number), number.unit)
    rounded = format_quantity(float(f"{float(number):.{_DIGITS_OF_PROSE}g}"), number.unit)
    if number.href:
        return link(rounded, number.href, "fb-num", exact)
    return Html('<span class="fb-num" title="{}">{}</span>').format(exact, rounded)
