"""An annotation says what its own work shows, not what its title or the entry before it says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.annotations import gives_figure
from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.reference import Reference
from flopbook.data.reference_rules import problem_at

NAME = "generic"
# What is written about a work that was not opened, or about its neighbour.
_PHRASES = re.compile(
    r"\b(?:judg\w+ by (?:the|its) title|to go by (?:the|its) title|as (?:the|its) title says"
    r"|restates? its title|(?:the|its|whose) title (?:says|tells|gives|claims|promises)"
    r"|the (?:conference|journal) entry)\b|^The same\b",
    re.IGNORECASE,
)
# Above this share of words that the title has too, an annotation adds nothing to it.
MOST_FROM_TITLE = 0.7
# The same for what it says of the work itself, without the sentences on when to read it.
MOST_OF_STATEMENT = 0.7
FEWEST_WORDS = 4  # a share of fewer says little
_STEM = 5  # letters by which "train" and "training" are one
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ADVICE = re.compile(
    r"(?:Read|Use|Take|Look|Go|See|Study|Compare|For|Outside|Worth|Useful|Start)\b"
)
_SMALL = {
    *("the", "and", "for", "with", "that", "this", "from", "how", "what"),
    *("when", "which", "read", "into", "its", "are", "not", "than"),
}
ADVICE = Advice(
    "what was done, how, and what came of it",
    "read the abstract and write the annotation for this work alone",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Annotations that point elsewhere, and those that are the title in other words."""
    for reference in holdings.references.values():
        phrase = _PHRASES.search(reference.annote)
        if phrase:
            yield _at(reference, f"'{phrase.group(0)}' in the annotation")
        elif title_share(reference) > MOST_FROM_TITLE:
            yield _at(reference, "an annotation that repeats the title")
        elif statement_share(reference) > MOST_OF_STATEMENT:
            yield _at(reference, "an annotation that repeats the title before it gives advice")


def title_share(reference: Reference) -> float:
    """Share of the words of an annotation that its title has too, 0 to 1; 0 for very short ones."""
    return _share(reference.annote, reference.title)


def statement_share(reference: Reference) -> float:
    """Share of the words that say what the work does which its title has too, 0 to 1.

    Sentences on when to read the work do not count; a statement with a figure says something.
    """
    sentences = _SENTENCE.split(reference.annote)
    statement = " ".join(text for text in sentences if not _ADVICE.match(text))
    return 0.0 if gives_figure(statement) else _share(statement, reference.title)


def _share(text: str, title: str) -> float:
    words, of_title = _stems(text), set(_stems(title))
    if len(words) < FEWEST_WORDS:
        return 0.0
    return sum(word in of_title for word in words) / len(words)


def _stems(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [word[:_STEM] for word in words if len(word) > 2 and word not in _SMALL]


def _at(reference: Reference, observed: str) -> Finding:
    return Finding(problem_at(reference, NAME, observed, *ADVICE))
