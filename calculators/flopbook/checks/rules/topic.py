"""The keywords of a reference are topics of the tree, and what a topic points to is there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_text
from flopbook.data.topics import Topic
from flopbook.errors import Problem, UnknownName, shorten
from flopbook.formulas import CATALOGUE

NAME = "topic"
KEYWORD = Advice("an id of topics.yaml", "mend the keyword")


class _Pointers(NamedTuple):
    """The names of one kind that a topic points to, and all that exist."""

    kind: str
    names: tuple[str, ...]
    existing: Collection[str]


def check(holdings: Holdings) -> Iterator[Finding]:
    """Keywords that name no topic; calculators, chips and vendors of topics that do not exist."""
    if "topics" in holdings.unreadable:  # every keyword would be unknown
        return
    yield from _keywords(holdings)
    for topic in holdings.every_topic:
        for pointers in _pointers(topic, holdings):
            yield from _unknown(topic, pointers, holdings.topics_file)


def _keywords(holdings: Holdings) -> Iterator[Finding]:
    ids = {topic.id for topic in holdings.every_topic}
    for reference in holdings.references.values():
        for keyword in reference.topics:
            if keyword not in ids:
                place = (reference.file, reference.line, 1)
                yield Finding(Problem(*place, NAME, f"'{shorten(keyword)}'", *KEYWORD))


def _pointers(topic: Topic, holdings: Holdings) -> Iterator[_Pointers]:
    yield _Pointers("calculator", topic.calculators, CATALOGUE)
    yield _Pointers("chip", topic.chips, holdings.entry_ids)
    if topic.vendor:
        yield _Pointers("vendor", (topic.vendor,), holdings.vendor_ids)


def _unknown(topic: Topic, pointers: _Pointers, file: str) -> Iterator[Finding]:
    for name in pointers.names:
        if name in pointers.existing:
            continue
        expected = f"a {pointers.kind}"
        if near := UnknownName(pointers.kind, name, pointers.existing).near:
            expected += f" such as {near[0]}"
        advice = Advice(expected, f"mend the {pointers.kind} of {topic.id}")
        yield at_text(NAME, file, name, f"'{name}'", advice)
