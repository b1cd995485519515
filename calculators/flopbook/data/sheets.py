"""Texts in tables that a spreadsheet opens."""

from __future__ import annotations

import re
from typing import Any

# How a formula begins, or what a spreadsheet skips before one; in full width, too, as those of East
# Asian languages read them.
_BEGINNINGS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
# Where a spreadsheet that parts cells elsewhere, as in countries with decimal commas, begins one.
_PARTED = re.compile(r"([;\t\n])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")


def csv_safe(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is kept a text."""
    if not isinstance(value, str):
        return value
    # A carriage return would end the row: the csv module of older Pythons does not quote it.
    text = _PARTED.sub(r"\1 ", value.replace("\r", " "))
    return "'" + text if value[:1] in _BEGINNINGS else text
