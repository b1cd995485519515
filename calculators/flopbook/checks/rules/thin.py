"""A topic has three works at least, or says under `few` why there are not more."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, locate
from flopbook.data.library import library, references, topics
from flopbook.errors import Problem, show_path

NAME = "thin"
FEWEST = 3


def check(data: Data) -> Iterator[Finding]:
    """Topics with too few works, those of their children counted, and reasons that nothing needs."""
    works = {key: set(item.topics) for key, item in references().items() if item.is_work}
    file = show_path(library().bibliography / "topics.yaml")
    for topic in (topic for top in topics() for topic in top.walk()):
        names = {one.id for one in topic.walk()}
        count = sum(not names.isdisjoint(own) for own in works.values())
        if count < FEWEST and not topic.few:
            said = (
                f"{FEWEST} or more",
                "add works, join it to another topic, or say why under 'few'",
            )
            yield Finding(
                Problem(*locate(file, topic.id), NAME, f"{count} works on '{topic.id}'", *said)
            )
        elif count >= FEWEST and topic.few:
            said = ("a reason only where one is needed", "remove it: there are works enough")
            yield Finding(
                Problem(
                    *locate(file, topic.id),
                    NAME,
                    f"'few' at '{topic.id}' with {count} works",
                    *said,
                )
            )
