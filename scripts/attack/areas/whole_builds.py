"""Builds of the whole site that are killed, run two at a time, or run out of space.

As with the small checkout, five times each. It takes the better part of an hour, so it is run by
the weekly workflow, or where it is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.attack.areas.builds import Attack, attacked, full_disk, killed, pair
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import whole_checkout

NAME = "whole-builds"
_COUNTS: dict[Attack, int] = {killed: 5, pair: 5, full_disk: 5}
_LANES = 2  # copies that are built at once
_EDIT = "docs/handbook/index.md"


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Kills, pairs and full disks on everything that is tracked."""
    checkout = whole_checkout(campaign.folder / "checkout-0")
    yield from attacked(campaign, checkout, _EDIT, _COUNTS, _LANES)
