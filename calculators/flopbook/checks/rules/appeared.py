"""A work on arXiv says where it appeared, or on which day no venue was found."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.reference import Reference
from flopbook.data.schema_words import is_date
from flopbook.errors import shorten

NAME = "venue"
# Prefixes of the DOIs that archives of preprints give: Zenodo, TechRxiv, Preprints.
_ARCHIVES = ("10.5281/", "10.36227/", "10.20944/")
OPEN = Advice(
    "a venue, or preprint = {YYYY-MM-DD}",
    "look for where it appeared; without success, give the day of looking",
)
DATE = Advice("YYYY-MM-DD", "write the day on which no venue was found")
BOTH = Advice("one of the two", "it has appeared: drop preprint")
PUBLISHED = Advice(
    "the venue of this doi", "only published works have a doi of a publisher: drop preprint"
)
NOWHERE = Advice("an eprint", "only a work on arXiv can be a preprint; drop the field")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Works on arXiv whose venue nobody looked for, and preprints that are none."""
    for reference in holdings.references.values():
        fault = _fault(reference)
        if fault is not None:
            observed, advice = fault
            yield at_reference(NAME, reference, observed, advice)


def _fault(reference: Reference) -> tuple[str, Advice] | None:
    """What is wrong with how an entry tells where it appeared."""
    day = reference.preprint
    if not day:
        is_open = reference.is_work and bool(reference.eprint) and not reference.venue
        return (f"no venue in {reference.key}", OPEN) if is_open else None
    if not is_date(day):
        return f"preprint '{shorten(day, 30)}' in {reference.key}", DATE
    if reference.venue:
        return f"venue and preprint in {reference.key}", BOTH
    if not reference.eprint:
        return f"preprint without eprint in {reference.key}", NOWHERE
    if reference.doi and not reference.doi.startswith(_ARCHIVES):
        return f"preprint with the doi '{shorten(reference.doi, 40)}' in {reference.key}", PUBLISHED
    return None
