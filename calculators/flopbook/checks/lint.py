"""Checks all of the data at once: every file, every cross-reference, every claim of the ledger.

The rules are the modules of `flopbook.checks.rules`. A claim or an entry may excuse itself from
some of them with a reason, under `exceptions`; an excuse that nothing needs is a problem too, so
that the list cannot rot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

from flopbook.checks.rules import RULES
from flopbook.checks.rules.base import Data
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import load_model, model_ids, read_entries, vendor, vendor_ids
from flopbook.errors import DataError, Problem

# An excuse, by the file and line of the record that makes it and the rule that it speaks of.
Excuse = tuple[str, int, str]


def lint() -> list[Problem]:
    """All problems of all data files, sorted by place; an empty list when the data is sound."""
    data, problems = _read_all()
    used: set[Excuse] = set()
    for rule in RULES:
        try:
            problems += _findings(rule, data, used)
        except DataError as error:
            problems += error.problems
    return sorted({*problems, *_unused(data, used)})


def _findings(rule: ModuleType, data: Data, used: set[Excuse]) -> Iterator[Problem]:
    """What a rule finds, less what is excused; `used` collects the excuses that were needed."""
    for finding in rule.check(data):
        excuse = next(
            (_excuse(o, rule.NAME) for o in finding.owners if rule.NAME in o.exceptions), None
        )
        if excuse is None:
            yield finding.problem
        else:
            used.add(excuse)


def _excuse(owner: Claim | Entry, rule: str) -> Excuse:
    return (owner.file, owner.line if isinstance(owner, Claim) else 1, rule)


def _unused(data: Data, used: set[Excuse]) -> Iterator[Problem]:
    for entry in data.entries.values():
        for owner in (entry, *entry.claims):
            for rule in owner.exceptions:
                file, line, _ = excuse = _excuse(owner, rule)
                if excuse not in used:
                    said = (
                        f"an exception from '{rule}'",
                        "one that is needed",
                        "remove it: the rule is kept here",
                    )
                    yield Problem(file, line, 1, "exception", *said)


def _read_all() -> tuple[Data, list[Problem]]:
    entries, problems = read_entries()

    def read(ids: tuple[str, ...], load: Callable[[str], object]) -> dict:
        found = {}
        for name in ids:
            try:
                found[name] = load(name)
            except DataError as error:
                problems.extend(error.problems)
        return found

    return Data(entries, read(vendor_ids(), vendor), read(model_ids(), load_model)), problems
