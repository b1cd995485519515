"""The abbreviations of a BibTeX file, which may not make it much larger than it is.

`@string{a = b # b}` doubles a text: forty lines of it are a terabyte. So each use of an
abbreviation is counted with its length, before the longer text is put together.
"""

from __future__ import annotations

from typing import Any

from pybtex.database.input.bibtex import month_names
from pybtex.utils import CaseInsensitiveDict


class ExpansionError(Exception):
    """Abbreviations that stand for too much text."""


class Strings(CaseInsensitiveDict):  # type: ignore[misc]  # pybtex has no types
    """Name -> text of `@string`, the months to begin with; the parser looks each use up here."""

    def __init__(self, most: int) -> None:
        super().__init__(month_names)
        self._most, self._left = most, most

    def __getitem__(self, name: str) -> Any:
        text = super().__getitem__(name)
        self._left -= len(text)
        if self._left < 0:
            raise ExpansionError(f"abbreviations for more than {self._most:,} characters")
        return text
