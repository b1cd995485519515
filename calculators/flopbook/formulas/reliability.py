"""What failures cost a long run: how often they come, how often to save, and what share of the time
is lost.

The best interval is that of young1974first; daly2006higher refines it for failures that come almost
as often as checkpoints. Times are in seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from flopbook.errors import FlopbookError


class Counted(NamedTuple):
    """Failures that were counted in one run."""

    chips: int
    failures: int
    seconds: float

    expression_attributes = ("chips", "failures", "seconds", "alone")

    @property
    def alone(self) -> float:
        """Seconds between failures of one chip with its share of hosts, network and software."""
        return self.seconds / self.failures * self.chips


# Unexpected interruptions in 54 days of pre-training: llamateam2024herd, Section 3.3.4.
HERD = Counted(chips=16384, failures=419, seconds=54 * 86400.0)


def between_failures(alone: float, chips: float) -> float:
    """Seconds between failures of a run that any of its chips stops; `alone` is that of one chip."""
    return _positive(alone, "the time between failures") / _positive(chips, "the number of chips")


def best_interval(between: float, save: float) -> float:
    """Seconds between checkpoints at which least is lost: the root of 2 x save x between
    (young1974first).
    """
    return (
        2
        * _positive(between, "the time between failures")
        * _positive(save, "the time of a checkpoint")
    ) ** 0.5


def lost_share(interval: float, between: float, save: float, restart: float = 0.0) -> float:
    """Share of the time that is lost, to first order: saving, repeating half an interval,
    restarting; at most 1.

    Leaves out failures while saving or restarting: they matter once these take a good part of
    `between`.
    """
    saving = save / _positive(interval, "the interval")
    repeated = (interval / 2 + restart) / _positive(between, "the time between failures")
    return min(saving + repeated, 1.0)


def _positive(value: float, what: str) -> float:
    if value <= 0:
        raise FlopbookError(f"{what} has to be above zero, found {value:g}")
    return value
