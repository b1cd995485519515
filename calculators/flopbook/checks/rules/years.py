"""Year, arXiv id and key of a reference agree: what is on arXiv alone is not older than its id."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_reference
from flopbook.data.bibtex_text import folded
from flopbook.data.library import references
from flopbook.data.references import Reference
from flopbook.errors import shorten

NAME = "year"
# Reports and pages of a company go by its name in the key; whoever wrote a paper gives it the name.
SIGNED = frozenset(
    ("article", "inproceedings", "incollection", "book", "phdthesis", "mastersthesis")
)


def check(data: Data) -> Iterator[Finding]:
    """References whose parts contradict each other."""
    latest = datetime.date.today().year + 1
    for item in references().values():
        if not 1800 <= (item.year or 0) <= latest:
            yield at_reference(
                NAME, item, f"year {item.year}", (f"1800 to {latest}", "mend the year")
            )
            continue
        submitted = submission(item.eprint)
        if submitted and (submitted[1] > 12 or submitted[1] < 1):
            said = ("an id that begins with year and month", "mend the eprint")
            yield at_reference(NAME, item, f"eprint '{item.eprint}'", said)
        elif (
            submitted and item.year < submitted[0] and item.type not in SIGNED
        ):  # print may come before arXiv
            said = (f"{submitted[0]} or later", "mend the year or the eprint")
            yield at_reference(NAME, item, f"year {item.year} of arXiv {item.eprint}", said)
        yield from _key(item)


def submission(eprint: str) -> tuple[int, int] | None:
    """Year and month of an arXiv id, which begins with them since 1991; None where there is no id."""
    found = re.fullmatch(r"(?:[a-z.-]+(?:\.[A-Z]{2})?/)?(\d\d)(\d\d)\.?\d{3,5}(?:v\d+)?", eprint)
    if not found:
        return None
    year = int(found[1])
    return (1900 + year if year >= 91 else 2000 + year), int(found[2])


def _key(item: Reference) -> Iterator[Finding]:
    author, year, word = item.key.partition(str(item.year))
    if not (author and year and word):
        said = (f"{item.year} after the author's name", "rename the key, or mend the year")
        yield at_reference(NAME, item, f"key '{item.key}'", said)
    elif item.people and (item.type in SIGNED or (item.type == "misc" and item.eprint)):
        family = folded(item.people[0].family)
        part = folded(author)
        if not (family.startswith(part) or part.startswith(family) or part in family):
            said = (
                f"a key that begins with the first author, {shorten(item.people[0].full)}",
                "rename the key",
            )
            yield at_reference(NAME, item, f"key '{item.key}'", said)
