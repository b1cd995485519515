"""Settings of programs in a question, such as num_microbatches or --zero.

`docs/assets/flopbook/search/ranking.js` has the same functions; a test holds both equal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from scripts.website.build.search_text import atoms

# A hyphen alone makes no setting: all-to-all, pre-training.
_SETTING = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+|(?<![a-z0-9-])--[a-z0-9]+(?:-[a-z0-9]+)*")
_SHORTEST = 5  # letters of a word by which a setting is known


def settings(text: str) -> list[tuple[list[str], int, int]]:
    """What can be nothing but a setting: its words, first atoms, and ends."""
    found = []
    for match in _SETTING.finditer(text.lower()):
        first = len(atoms(text[: match.start()]))
        parts = atoms(match.group())
        found.append((parts, first, first + len(parts)))
    return found


def kindred(parts: Sequence[str], tokens: Collection[str]) -> list[str]:
    """The known settings that say all words of one, and more: num_pp_microbatches.

    None for a setting of short words: any other may hold their letters.
    """
    if max(map(len, parts)) < _SHORTEST:
        return []
    return [token for token in tokens if token[0] == "=" and all(part in token for part in parts)]
