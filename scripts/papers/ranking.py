"""Which works come first: simple rules, each of which can be read off the work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from flopbook.contributing.metadata import Work
from flopbook.contributing.new_reference import known_as
from flopbook.data.bibtex_text import folded
from flopbook.data.identifiers import identify
from flopbook.data.reference import Reference

RULES = """\
3 for each phrase of the topic in the title, 1 for each other one in the abstract (3 at most);
1 when the abstract names a repository; 1 for each author with two works in the bibliography
(2 at most)."""
LEAST = 3  # one phrase in the title is enough
_CODE = re.compile(
    r"github\.com/|gitlab\.com/|code is (?:publicly )?available|open-source", re.IGNORECASE
)


class Candidate(NamedTuple):
    """A work that the bibliography lacks, the topic it came from, its rank and the reasons."""

    work: Work
    topic: str
    rank: int
    reasons: tuple[str, ...]


# Long summaries and long lists of authors would outweigh a title that says what a work is about.
_MOST_IN_SUMMARY, _MOST_AUTHORS = 3, 2
_WORKS_OF_KNOWN = 2  # in the bibliography, by an author that makes a new work likelier to matter


def rank(work: Work, topic: str, phrases: Iterable[str], authors: Mapping[str, int]) -> Candidate:
    """The rank of a work. `authors` counts the works of each author that the bibliography has."""
    title, summary = _plain(work.title), _plain(work.summary)
    in_title: list[str] = []
    in_summary: list[str] = []
    for phrase in phrases:
        if _plain(phrase) in title:
            in_title.append(phrase)
        elif _plain(phrase) in summary:
            in_summary.append(phrase)
    in_summary = in_summary[:_MOST_IN_SUMMARY]
    names = [author.full for author in work.people]
    known_authors = [name for name in names if authors.get(folded(name), 0) >= _WORKS_OF_KNOWN]
    known_authors = known_authors[:_MOST_AUTHORS]
    reasons = [f"{phrase} (title)" for phrase in in_title] + in_summary
    points = 3 * len(in_title) + len(in_summary) + len(known_authors)
    if _CODE.search(work.summary):
        reasons.append("code")
        points += 1
    return Candidate(work, topic, points, (*reasons, *known_authors))


def _plain(text: str) -> str:
    """Words in lower case, so that hyphens and line ends make no difference."""
    return f" {re.sub(r'[^a-z0-9]+', ' ', text.lower()).strip()} "


def author_counts(references: Iterable[Reference]) -> dict[str, int]:
    """How many works of each author there are, by the letters of the name."""
    counts: Counter[str] = Counter()
    for reference in references:
        counts.update(folded(who.full) for who in reference.people if not who.organisation)
    return counts


def choose(
    candidates: Iterable[Candidate], references: Collection[Reference], most: int
) -> list[Candidate]:
    """The best ones that are new: each work once, with the topic where it ranks highest."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        rival = best.get(candidate.work.eprint)
        if candidate.rank >= LEAST and (rival is None or candidate.rank > rival.rank):
            best[candidate.work.eprint] = candidate
    new = [candidate for candidate in best.values() if not _known(candidate.work, references)]
    return sorted(new, key=lambda candidate: (-candidate.rank, candidate.work.eprint))[:most]


def _known(work: Work, references: Collection[Reference]) -> bool:
    identifier = identify(work.eprint)
    return identifier is None or known_as(identifier, work, references) is not None
