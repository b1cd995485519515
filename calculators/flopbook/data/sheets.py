"""Texts in tables that a spreadsheet opens."""

from __future__ import annotations

from typing import Any


def csv_safe(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is kept a text."""
    if not isinstance(value, str):
        return value
    # A carriage return would end the row: the csv module of older Pythons does not quote it.
    text = value.replace("\r", " ")
    return "'" + text if value[:1] in ("=", "+", "-", "@", "\t", "\r") else text
