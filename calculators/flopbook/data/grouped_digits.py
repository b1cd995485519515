"""Numbers that people write with marks between their digits, which YAML reads as something else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_GROUPED = re.compile(r"\d{1,3}(?:[,_' \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?")
_GROUP = re.compile(r"\d{3}(?:\.\d+)?")


def is_group(text: str) -> bool:
    """Whether a text is what is left of a number behind one of its commas."""
    return bool(_GROUP.fullmatch(text))


def ungrouped(text: str) -> str:
    """A number without the marks between its digits; empty for a text that is none with marks.

    >>> ungrouped("1,234.5"), ungrouped("1234")
    ('1234.5', '')
    """
    return re.sub(r"[^\d.]", "", text) if _GROUPED.fullmatch(text) else ""


def advice_for(number: str) -> tuple[str, str, str, str]:
    """Rule, finding, expectation and remedy for a number with marks between its digits."""
    expected = "a number without marks between its digits"
    return "number", f"'{number}'", expected, f"write {ungrouped(number)}"


def cut_numbers(values: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Keys that a number was cut off from, each with the first of them and the whole number.

    >>> cut_numbers({"value": 1, "000": None})
    {'000': ('000', '1,000')}

    In `{value: 1,000}` YAML sees a key `000` of nothing.
    """
    cut: dict[str, tuple[str, str]] = {}
    groups: list[str] = []
    first: Any = None
    for key, value in [*values.items(), ("", None)]:
        if is_group(key) and value is None:
            groups.append(key)
            continue
        if groups and isinstance(first, int) and 0 < first < 1000:
            number = ",".join((str(first), *groups))
            cut |= dict.fromkeys(groups, (groups[0], number))
        groups, first = [], value
    return cut
