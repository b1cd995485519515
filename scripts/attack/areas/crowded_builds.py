"""Builds of a small checkout that run two at a time, or out of space.

They run beside the killed ones, which take as long.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.attack.areas.builds import EDIT, attacked
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import small_checkout

NAME = "crowded-builds"
_COUNTS = (0, 20, 10)  # no kills, pairs of builds, full disks


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pairs and full disks on the small checkout."""
    yield from attacked(campaign, small_checkout(campaign.folder / "checkout-0"), EDIT, _COUNTS)
