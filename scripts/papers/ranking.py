"""Which works come first: simple rules, each of which can be read off the work."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from flopbook.contributing.metadata import Work
from flopbook.contributing.new_reference import known_as
from flopbook.data.bibtex_text import folded
from flopbook.data.identifiers import identify
from flopbook.data.references import Reference

RULES = """\
3 for each phrase of the topic in the title, 1 for each other one in the abstract (3 at most);
1 when the abstract names a repository; 1 for each author with two works in the bibliography (2 at most)."""
LEAST = 3
_CODE = re.compile(
    r"github\.com/|gitlab\.com/|code is (?:publicly )?available|open-source", re.IGNORECASE
)


class Candidate(NamedTuple):
    """A work that the bibliography does not have, the topic it came from, and its rank with the
    reasons.
    """

    work: Work
    topic: str
    rank: int
    reasons: tuple[str, ...]


def rank(work: Work, topic: str, phrases: Iterable[str], authors: Mapping[str, int]) -> Candidate:
    """The rank of a work. `authors` counts the works of each author that the bibliography has."""
    title, summary = _plain(work.title), _plain(work.summary)
    named = [phrase for phrase in phrases if _plain(phrase) in title]
    told = [phrase for phrase in phrases if phrase not in named and _plain(phrase) in summary][:3]
    known = [one.full for one in work.people if authors.get(folded(one.full), 0) >= 2][:2]
    reasons = [f"{phrase} (title)" for phrase in named] + told
    reasons += ["code"] if _CODE.search(work.summary) else []
    return Candidate(
        work,
        topic,
        3 * len(named) + len(told) + bool(_CODE.search(work.summary)) + len(known),
        (*reasons, *known),
    )


def _plain(text: str) -> str:
    """Words in lower case, so that hyphens and line ends make no difference."""
    return f" {re.sub(r'[^a-z0-9]+', ' ', text.lower()).strip()} "


def author_counts(items: Iterable[Reference]) -> dict[str, int]:
    """How many works of each author there are, by the letters of the name."""
    counts: dict[str, int] = {}
    for person in (person for item in items for person in item.people if not person.organisation):
        counts[folded(person.full)] = counts.get(folded(person.full), 0) + 1
    return counts


def choose(found: Iterable[Candidate], there: Collection[Reference], most: int) -> list[Candidate]:
    """The best ones that are new: each work once, with the topic where it ranks highest."""
    best: dict[str, Candidate] = {}
    for one in found:
        held = best.get(one.work.eprint)
        if one.rank >= LEAST and (held is None or one.rank > held.rank):
            best[one.work.eprint] = one
    new = [one for one in best.values() if not _known(one.work, there)]
    return sorted(new, key=lambda one: (-one.rank, one.work.eprint))[:most]


def _known(work: Work, there: Collection[Reference]) -> bool:
    what = identify(work.eprint)
    return what is None or known_as(what, work, there) is not None
