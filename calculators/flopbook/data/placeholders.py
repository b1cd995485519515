"""What `flopbook new` writes for a person to replace, and how a check knows it again."""

from __future__ import annotations

SUMMARY = "To be written: one or two sentences of your own on what it is and who uses it."
LOCATOR = "not looked up yet"
# Half-replaced texts keep their beginning.
_BEGINNINGS = ("to be written", LOCATOR)


def is_placeholder(text: str) -> bool:
    """True for a text that waits for somebody to write or to look up the real one.

    >>> is_placeholder("To be written."), is_placeholder("Not looked up yet"), is_placeholder("x")
    (True, True, False)
    """
    return text.strip().lower().startswith(_BEGINNINGS)
