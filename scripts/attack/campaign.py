"""What an area gets to attack with, and what it says of each attempt."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that was tried, and what went wrong; an empty `failure` says that all held.

    `what` is enough to try it again: the input itself, or what the seed made of it.
    """

    what: str
    failure: str = ""


class Campaign:
    """Chance, size and room for one area.

    The same seed gives an area the same attempts, whichever areas run beside it.
    """

    def __init__(self, area: str, folder: Path, *, seed: int = 0, share: float = 1.0) -> None:
        digest = hashlib.sha256(f"{seed} {area}".encode()).digest()
        self.rng = random.Random(digest)
        self.folder = folder  # empty, for this area alone, removed afterwards
        self.share = share

    def count(self, whole: int) -> int:
        """How many of the attempts of a whole campaign to make: at least one."""
        return max(1, round(whole * self.share))
