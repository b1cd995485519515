"""Types of memory, such as HBM3: which a text names, and whether they are what is on file.

The page has the same functions in `docs/assets/flopbook/check/memories.js`; a test holds both
equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flopbook.factcheck.numbers import FLAGS
from flopbook.factcheck.words import MEMORY

FIELDS = ("memory", "memory_bandwidth")


def memories_in(text: str) -> tuple[str, ...]:
    """The types that a text names, as it writes them."""
    return tuple(match.group() for match in re.finditer(MEMORY, text, FLAGS))


def is_type(named: Sequence[str], filed: str) -> bool:
    """Whether a type on file is one of those that are named; where either is open it may be."""
    own = memories_in(filed.lower())
    if not named or not own:
        return True
    return any(_is_one(name.lower(), other) for name in named for other in own)


def _is_one(name: str, other: str) -> bool:
    """Whether two names are of one type; a name without a generation, HBM, is that of all."""
    return name in other if name.isalpha() else name == other
