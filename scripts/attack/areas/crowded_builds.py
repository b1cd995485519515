"""Builds of a bare checkout that run two at a time, or out of space.

They run beside the killed ones, which take as long.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.attack.areas.builds import EDIT, Attack, attacked, full_disk, pair
from scripts.attack.bare import bare_checkout
from scripts.attack.campaign import Attempt, Campaign

NAME = "crowded-builds"
COUNTS: dict[Attack, int] = {pair: 20, full_disk: 10}


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pairs and full disks on the bare checkout."""
    checkout = bare_checkout(campaign.folder / "checkout-0")
    yield from attacked(campaign, checkout, EDIT, COUNTS)
