"""The chips that a question compares.

`docs/assets/flopbook/search/ranking.js` has the same functions; a test holds both equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scripts.website.build.search_text import named

MOST = 4  # chips that are compared at once
_VERSUS = re.compile(
    r"\s(?:vs|versus|v|or|and|against|with|to|over|compared to|compared with)\.?\s"
)
_COMPARES = re.compile(r"\b(?:vs|versus|compare|compared|comparison|better|faster|difference)\b")


def compared(
    question: str, parts: Sequence[str], names: Mapping[str, Sequence[str]]
) -> list[Sequence[str]]:
    """Names of the chips that a question names; none where no word compares them.

    `parts` are the words of the question, `names` the compact names of chips.
    """
    text = f" {question.lower().strip()} "
    spans = named(parts, names)
    chips = [name for _, _, name in spans]
    if len(spans) == 1:
        chips += _variants(parts, spans[0], names)
    chips = list({chip[0]: chip for chip in chips}.values())[:MOST]
    is_asked = _VERSUS.search(text) or _COMPARES.search(text)
    return chips if is_asked else []


def comparisons(chips: Sequence[Sequence[str]], pairs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Place and title of what compares some chips, then the pages of the chips themselves."""
    title = " vs ".join(chip[1] for chip in chips)
    ids = ",".join(chip[0] for chip in chips)
    page = [(pairs[ids], title)] if ids in pairs else []
    explorer = (f"accelerators/?view=compare&compare={ids}", f"{title}, every figure")
    return [*page, explorer, *((f"accelerators/{chip[0]}/", chip[1]) for chip in chips)]


def _variants(
    parts: Sequence[str],
    span: tuple[int, int, Sequence[str]],
    names: Mapping[str, Sequence[str]],
) -> list[Sequence[str]]:
    """Other forms of a chip: "h100 pcie or sxm" asks for the H100 SXM too."""
    first, end, _ = span
    suffixes = (part for n, part in enumerate(parts) if not first <= n < end)
    chips = (names.get(parts[first] + suffix) for suffix in suffixes if not suffix.isdigit())
    return [name for name in chips if name]
