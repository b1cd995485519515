"""The keywords of a reference are topics of the tree, and what a topic points to is there."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from flopbook.checks.rules.base import Data, Finding, locate
from flopbook.data.library import entry_ids, library, references, topics, vendor_ids
from flopbook.data.topics import Topic
from flopbook.errors import Problem, UnknownName, show_path
from flopbook.formulas import CATALOGUE

NAME = "topic"


def check(data: Data) -> Iterator[Finding]:
    """Keywords that name no topic; calculators, chips and vendors of topics that do not exist."""
    every = [topic for top in topics() for topic in top.walk()]
    known = {topic.id for topic in every}
    for item in references().values():
        for name in item.topics:
            if name not in known:
                said = (f"'{name}'", "an id of topics.yaml", "mend the keyword")
                yield Finding(Problem(item.file, item.line, 1, NAME, *said))
    for topic in every:
        yield from _pointers(topic)


def _pointers(topic: Topic) -> Iterator[Finding]:
    kinds: tuple[tuple[str, tuple[str, ...], Collection[str]], ...] = (
        ("calculator", topic.calculators, CATALOGUE),
        ("chip", topic.chips, entry_ids()),
        ("vendor", (topic.vendor,) if topic.vendor else (), vendor_ids()),
    )
    for kind, names, known in kinds:
        for name in names:
            if name not in known:
                near = UnknownName(kind, name, known).near
                known_one = f"a {kind}{f' such as {near[0]}' if near else ''}"
                said = (f"'{name}'", known_one, f"mend the {kind} of {topic.id}")
                yield Finding(
                    Problem(
                        *locate(show_path(library().bibliography / "topics.yaml"), name),
                        NAME,
                        *said,
                    )
                )
