"""Inputs that are one of several words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def choice(value: Any, choices: Collection[str]) -> Any:
    """A text as one of the choices spells it, whatever its case; anything else as it is."""
    if not isinstance(value, str):
        return value
    return next((name for name in choices if name.lower() == value.strip().lower()), value)
