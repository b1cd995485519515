"""The keywords of a reference are topics of the tree."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.problems import Problem
from flopbook.references import references, topics
from flopbook.rules.base import Data, Finding

NAME = "topic"


def check(data: Data) -> Iterator[Finding]:
    """Keywords that name no topic."""
    known = {topic.id for top in topics() for topic in top.walk()}
    for item in references().values():
        for name in item.topics:
            if name not in known:
                said = (f"'{name}'", "an id of topics.yaml", "mend the keyword")
                yield Finding(Problem(item.file, item.line, 1, NAME, *said))
