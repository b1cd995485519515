"""What a new file says where a person has not written anything yet."""

from __future__ import annotations

NOT_LOOKED_UP = "not looked up yet"
TO_BE_WRITTEN = "To be written"


def is_placeholder(text: str) -> bool:
    """Whether a text is still what the template of a new file said."""
    return text == NOT_LOOKED_UP or text.startswith(TO_BE_WRITTEN)
