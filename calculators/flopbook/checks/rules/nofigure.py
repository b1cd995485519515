"""A paper that prints no figure says on which day that was seen, and its annotation gives none."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.annotations import PAPER, gives_figure
from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.checks.rules.dates import PAST, latest_day
from flopbook.data.reference import Reference
from flopbook.data.schema_words import is_date
from flopbook.errors import shorten

NAME = "nofigure"
DATE = Advice("YYYY-MM-DD", "write the day on which the work was read")
COUNTED = Advice("a paper", "only annotations of papers are counted: drop nofigure")
GIVEN = Advice("one of the two", "it prints one: drop nofigure")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Days of reading that are none, and works that need no such day."""
    for reference in holdings.references.values():
        fault = _fault(reference) if reference.nofigure else None
        if fault is not None:
            observed, advice = fault
            yield at_reference(NAME, reference, observed, advice)


def _fault(reference: Reference) -> tuple[str, Advice] | None:
    """What is wrong with how an entry says that its work prints no figure."""
    day = reference.nofigure
    dated = f"nofigure '{shorten(day, 30)}' in {reference.key}"
    if not is_date(day):
        return dated, DATE
    if day > latest_day().isoformat():
        return dated, PAST
    if reference.kind != PAPER:
        return f"nofigure in {reference.key}, a {shorten(reference.kind, 30)}", COUNTED
    if gives_figure(reference.annote):
        return f"nofigure beside a figure in the annotation of {reference.key}", GIVEN
    return None
