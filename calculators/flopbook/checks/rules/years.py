"""Year, arXiv id and key of a reference agree.

What is on arXiv alone is not older than its id.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.bibtex_text import folded
from flopbook.data.reference import Reference
from flopbook.errors import shorten

NAME = "year"
EARLIEST = 1800
# Papers and books go by their first author in the key; reports and pages of a company by its name.
SIGNED = frozenset(
    ("article", "inproceedings", "incollection", "book", "phdthesis", "mastersthesis")
)
EPRINT = Advice("an id that begins with year and month", "mend the eprint")
# `2401.01234` or, older, `hep-th/9901001`: both begin with year and month.
_ARXIV_ID = re.compile(r"(?:[a-z.-]+(?:\.[A-Z]{2})?/)?(\d\d)(\d\d)\.?\d{3,5}(?:v\d+)?")
_ARXIV_BEGAN = 91  # in 1991, so that smaller years are of this century


def check(holdings: Holdings) -> Iterator[Finding]:
    """References whose year, eprint and key contradict each other."""
    latest = datetime.date.today().year + 1
    for reference in holdings.references.values():
        year = reference.year or 0
        if EARLIEST <= year <= latest:
            yield from _eprint(reference, year)
            yield from _key(reference)
        else:
            advice = Advice(f"{EARLIEST} to {latest}", "mend the year")
            yield at_reference(NAME, reference, f"year {reference.year}", advice)


def _eprint(reference: Reference, year: int) -> Iterator[Finding]:
    submitted = submission(reference.eprint)
    if submitted is None:
        return
    submitted_year, month = submitted
    if not 1 <= month <= 12:
        yield at_reference(NAME, reference, f"eprint '{reference.eprint}'", EPRINT)
    # A paper may be printed before it is put on arXiv.
    elif year < submitted_year and reference.type not in SIGNED:
        advice = Advice(f"{submitted_year} or later", "mend the year or the eprint")
        observed = f"year {year} of arXiv {reference.eprint}"
        yield at_reference(NAME, reference, observed, advice)


def submission(eprint: str) -> tuple[int, int] | None:
    """Year and month of an arXiv id; None for what is none."""
    match = _ARXIV_ID.fullmatch(eprint)
    if match is None:
        return None
    year = int(match[1])
    century = 1900 if year >= _ARXIV_BEGAN else 2000
    return century + year, int(match[2])


def _key(reference: Reference) -> Iterator[Finding]:
    author, year, word = reference.key.partition(str(reference.year))
    if not (author and year and word):
        mend = "rename the key, or mend the year"
        advice = Advice(f"{reference.year} after the author's name", mend)
        yield at_reference(NAME, reference, f"key '{reference.key}'", advice)
    elif _is_signed(reference) and not _names_first_author(author, reference):
        name = shorten(reference.people[0].full)
        advice = Advice(f"a key that begins with the first author, {name}", "rename the key")
        yield at_reference(NAME, reference, f"key '{reference.key}'", advice)


def _is_signed(reference: Reference) -> bool:
    """True for what goes by its first author: papers, books, and what is on arXiv alone."""
    preprint = reference.type == "misc" and bool(reference.eprint)
    return bool(reference.people) and (reference.type in SIGNED or preprint)


def _names_first_author(author: str, reference: Reference) -> bool:
    """True when the key has the family name, or a piece of it."""
    family = folded(reference.people[0].family)
    start = folded(author)
    return start in family or start.startswith(family)
