"""Reads the items of "Leaves out" in the docstring of a formula."""

from __future__ import annotations

import re
from typing import NamedTuple

from flopbook.formulas.description import Description

_BRACKETS = re.compile(r"\s*\[([^\][]*)\]$")


class LeftOut(NamedTuple):
    """An item of "Leaves out": its text, and the omissions that size it or why none does."""

    text: str
    omissions: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        told = "noted with its size above 10 %" if self.omissions else self.reason
        if not told:
            return self.text
        return f"{self.text.removesuffix('.')} ({told})."


def left_out(formula: Description) -> tuple[LeftOut, ...]:
    """The items of "Leaves out" in the docstring of a formula."""
    text = formula.section("Leaves out")
    items = re.split(r"^- ", text, flags=re.MULTILINE)
    known = {each.name for each in formula.omissions}
    return tuple(_item(" ".join(item.split()), known) for item in items if item.strip())


def _item(text: str, known: set[str]) -> LeftOut:
    brackets = _BRACKETS.search(text)
    if brackets is None:
        return LeftOut(text)
    names = tuple(name.strip() for name in brackets[1].split(","))
    before = text[: brackets.start()]
    if known.issuperset(names):
        return LeftOut(before, names)
    return LeftOut(before, reason=brackets[1])
