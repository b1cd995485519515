"""Counts what is recorded of accelerators, and how much of it answers the five questions."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import load_entries
from flopbook.hardware.five_figures import five_figures, is_compared

Answers = Mapping[str, Claim | None]


def counts() -> Iterator[tuple[str, str]]:
    """What is counted, and the count in words."""
    entries = load_entries()
    compared = [entry for entry in entries.values() if is_compared(entry)]
    answers = [five_figures(entry) for entry in compared]
    yield "accelerators", f"{len(entries):,}"
    yield "claims", f"{sum(len(entry.claims) for entry in entries.values()):,}"
    yield "current chips of the data centre", _by_state(compared)
    yield "all five figures as numbers", f"{_how_many(answers, _is_number)}"
    yield "all five as numbers or none", f"{_how_many(answers, _is_known)}"
    yield "all five as numbers, none or not published", f"{_how_many(answers, bool)}"
    for field in answers[0] if answers else ():
        yield f"{field} as a number", f"{sum(_is_number(a[field]) for a in answers)}"


def _how_many(answers: Iterable[Answers], accept: Callable[[Claim | None], bool]) -> int:
    """Chips all of whose answers will do."""
    return sum(all(map(accept, five.values())) for five in answers)


def _is_number(claim: Claim | None) -> bool:
    return claim is not None and claim.published


def _is_known(claim: Claim | None) -> bool:
    return claim is not None and (claim.published or claim.absent)


def _by_state(entries: Iterable[Entry]) -> str:
    states = collections.Counter(entry.status[0].state for entry in entries)
    listed = ", ".join(f"{state} {count}" for state, count in states.most_common())
    return f"{states.total()} ({listed})"
