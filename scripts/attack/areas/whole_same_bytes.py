"""Builds of the whole site on different days, in different folders, zones and languages.

As with the small checkout, with all notebooks. Each build is a cold one, so the area is run by the
weekly workflow, or where it is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.attack.areas.same_bytes import attacked
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import whole_checkout

NAME = "whole-same-bytes"
_OTHERS = 5


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Builds of everything that is tracked."""
    yield from attacked(campaign, whole_checkout, _OTHERS)
