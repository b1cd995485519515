"""Checks all of the data at once: every file, every cross-reference, every claim of the ledger.

The rules are the modules of `flopbook.checks.rules`. A claim or an entry may excuse itself from
some of them with a reason, under `exceptions`; an excuse that nothing needs is a problem too, so
that the list cannot rot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import NamedTuple, TypeVar

from flopbook.checks.annotations import FigureShare, figure_share
from flopbook.checks.rules import RULES
from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.checks.rules.typed import Share, share_of
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.entry_reader import dtype_names
from flopbook.data.folders import schema_paths
from flopbook.data.library import Library, library, using
from flopbook.data.link_kinds import LinkKind, link_kinds
from flopbook.data.measured_runs import read_runs
from flopbook.data.prices import Price, prices
from flopbook.data.schema import load_schema
from flopbook.data.sought import Searches, searches
from flopbook.data.workloads import Workload, workloads
from flopbook.errors import DataError, Problem
from flopbook.ledger.rows import Row, ledger_rows

NEEDED_EXCEPTION = Advice("one that is needed", "remove it: the rule is kept here")

Record = TypeVar("Record")


class Excuse(NamedTuple):
    """An exception of a claim or an entry: the place of the record, and the rule it speaks of."""

    file: str
    line: int
    rule: str


def lint() -> list[Problem]:
    """All problems of all data files, sorted by place; an empty list when the data is sound."""
    holdings, problems = read_holdings(library())
    is_whole = not problems
    needed: set[Excuse] = set()
    for rule in RULES:
        problems += _unexcused(rule, holdings, needed)
    # A file that cannot be read may be the one that an exception is for.
    unneeded = _unneeded(holdings, needed) if is_whole else ()
    return sorted({*problems, *unneeded})


def prose_share() -> Share | None:
    """Computed and typed numbers of all prose; None for an installed package, which has none."""
    return share_of(library().docs)


def annotation_share() -> FigureShare | None:
    """Annotations of papers by whether they give a figure; None without papers that can be read."""
    try:
        share = figure_share(library().references.values())
    except DataError:  # of what cannot be read, `lint` speaks
        return None
    return share if share.total else None


def _unexcused(rule: ModuleType, holdings: Holdings, needed: set[Excuse]) -> Iterator[Problem]:
    """What a rule finds, less what is excused; the excuses that were needed go into `needed`."""
    for finding in rule.check(holdings):
        excuse = _excuse_for(finding, rule.NAME)
        if excuse is None:
            yield finding.problem
        else:
            needed.add(excuse)


def _excuse_for(finding: Finding, rule: str) -> Excuse | None:
    for owner in finding.owners:
        if rule in owner.exceptions:
            return _excuse(owner, rule)
    return None


def _excuse(owner: Claim | Entry, rule: str) -> Excuse:
    line = owner.line if isinstance(owner, Claim) else 1
    return Excuse(owner.file, line, rule)


def _unneeded(holdings: Holdings, needed: set[Excuse]) -> Iterator[Problem]:
    for excuse in _excuses(holdings.entries.values()):
        if excuse not in needed:
            observed = f"an exception from '{excuse.rule}'"
            yield Problem(excuse.file, excuse.line, 1, "exception", observed, *NEEDED_EXCEPTION)


def _excuses(entries: Iterable[Entry]) -> Iterator[Excuse]:
    for entry in entries:
        yield from (_excuse(entry, rule) for rule in entry.exceptions)
        for claim in entry.claims:
            yield from (_excuse(claim, rule) for rule in claim.exceptions)


class _Reading:
    """Reads one file after the other, and keeps the problems of those that cannot be read."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.unreadable: set[str] = set()

    def each(self, ids: Iterable[str], load: Callable[[str], Record]) -> dict[str, Record]:
        """The records that can be read, by id."""
        records = {}
        for record_id in ids:
            try:
                records[record_id] = load(record_id)
            except DataError as error:
                self.problems += error.problems
        return records

    def all(self, name: str, load: Callable[[], Record], empty: Record) -> Record:
        """All records of a field of the holdings, or `empty` where their file cannot be read."""
        try:
            return load()
        except DataError as error:
            self.problems += error.problems
            self.unreadable.add(name)
            return empty


def read_holdings(books: Library) -> tuple[Holdings, list[Problem]]:
    """Everything of a library that can be read, and the problems of what cannot."""
    entries, problems = books.read_entries()
    reading = _Reading(problems)
    no_rows: tuple[Row, ...] = ()
    no_prices: tuple[Price, ...] = ()
    no_loads: tuple[Workload, ...] = ()
    no_kinds: dict[str, LinkKind] = {}
    with using(books):
        ledger = reading.all("ledger", ledger_rows, no_rows)
        listed = reading.all("prices", prices, no_prices)
        looked_for = reading.all("sought", searches, Searches())
        asked = reading.all("workloads", workloads, no_loads)
        kinds = reading.all("link_kinds", link_kinds, no_kinds)
        runs, run_problems = read_runs()
    problems += run_problems
    holdings = Holdings(
        library=books,
        entries=entries,
        runs=runs,
        vendors=reading.each(books.vendor_ids, books.vendor),
        models=reading.each(books.model_ids, books.load_model),
        references=reading.all("references", lambda: books.references, {}),
        prices=listed,
        sought=looked_for,
        workloads=asked,
        tiers=books.source_tiers,
        topics=reading.all("topics", lambda: books.topics, ()),
        ledger=ledger,
        terms=reading.all("terms", lambda: books.glossary, ()),
        link_kinds=kinds,
        link_statuses=reading.all("link_statuses", lambda: books.link_statuses, {}),
        entry_ids=books.entry_ids,
        vendor_ids=books.vendor_ids,
        dtypes=dtype_names(),
        entry_schema=load_schema(schema_paths()["accelerator"]),
        unreadable=frozenset(reading.unreadable),  # complete by now: arguments go in order
        accelerators=books.accelerators,
        bibliography=books.bibliography,
        docs=books.docs,
    )
    return holdings, problems
