"""Every key that the data cites is in the bibliography, and a source of values has a tier.

The tier says who speaks; without one a source would lose every choice among values, unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference, at_text
from flopbook.data.accelerators import Entry
from flopbook.data.link_kinds import FILE
from flopbook.data.models import Model
from flopbook.data.vendors import READING, Vendor
from flopbook.errors import Problem, show_path

NAME = "source"
UNKNOWN = Advice("a key of bibliography/*.bib", "add the reference or mend the key")
TIER = Advice("who says it", "give the reference a 'tier'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Keys that no entry of the bibliography has, and sources of values without a tier."""
    if "references" in holdings.unreadable:  # every key would be unknown
        return
    yield from _once(_findings(holdings))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for a key and a file, at the first place, with how often it is there."""
    by_text: dict[tuple[str, str], list[Problem]] = {}
    for finding in findings:
        problem = finding.problem
        by_text.setdefault((problem.file, problem.found), []).append(problem)
    for problems in by_text.values():
        first, count = min(problems), len(set(problems))
        times = f" ({count} times in this file)" if count > 1 else ""
        yield Finding(first._replace(found=first.found + times))


def _findings(holdings: Holdings) -> Iterator[Finding]:
    for owner in holdings.owners:
        yield from _of_claims(owner, holdings)
    yield from _of_statuses(holdings)
    for vendor in holdings.vendors.values():
        yield from _of_vendor(vendor, holdings)
    yield from _of_ledger(holdings)
    yield from _of_topics(holdings)
    yield from _of_links(holdings)


def _of_claims(owner: Entry | Model, holdings: Holdings) -> Iterator[Finding]:
    for claim in owner.claims:
        if claim.source not in holdings.references:
            observed = f"'{claim.source}'"
            yield Finding(Problem(claim.file, claim.line, 1, NAME, observed, *UNKNOWN))
    for key in sorted({claim.source for claim in owner.claims} & holdings.references.keys()):
        reference = holdings.references[key]
        if not reference.tier:
            yield at_reference(NAME, reference, f"no tier in '{key}', a source of values", TIER)


def _of_statuses(holdings: Holdings) -> Iterator[Finding]:
    for entry in holdings.entries.values():
        for status in entry.status:
            yield from _unknown(status.source, entry.file, holdings)
        if entry.die:
            yield from _unknown(entry.die.source, entry.file, holdings)


def _of_vendor(vendor: Vendor, holdings: Holdings) -> Iterator[Finding]:
    file = holdings.vendor_file(vendor.id)
    for fact in vendor.facts:
        yield from _unknown(fact.source, file, holdings)
    for kind in READING:
        for key in getattr(vendor, kind):
            yield from _unknown(key, file, holdings)


def _of_ledger(holdings: Holdings) -> Iterator[Finding]:
    for row in holdings.ledger:
        for key in (row.source, *row.evidence):
            if key not in holdings.references:
                yield Finding(Problem(row.file, row.file_line, 1, NAME, f"'{key}'", *UNKNOWN))


def _of_topics(holdings: Holdings) -> Iterator[Finding]:
    for topic in holdings.every_topic:
        for key in topic.start_here:
            yield from _unknown(key, holdings.topics_file, holdings)


def _of_links(holdings: Holdings) -> Iterator[Finding]:
    file = show_path(holdings.accelerators / FILE)
    for kind in holdings.link_kinds.values():
        for key in kind.sources:
            yield from _unknown(key, file, holdings)


def _unknown(key: str, file: str, holdings: Holdings) -> Iterator[Finding]:
    if key not in holdings.references:
        yield at_text(NAME, file, key, f"'{key}'", UNKNOWN)
