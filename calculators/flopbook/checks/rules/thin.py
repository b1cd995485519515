"""A topic has three works at least, or says under `few` why there are not more."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_text

NAME = "thin"
FEWEST = 3  # with fewer, the works are better found in the topic above
TOO_FEW = Advice(f"{FEWEST} or more", "add works, join it to another topic, or say why under 'few'")
ENOUGH = Advice("a reason only where one is needed", "remove it: there are works enough")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Topics with too few works, and reasons that nothing needs.

    The works of the topics below a topic count as its own.
    """
    if "references" in holdings.unreadable:  # every topic would be empty
        return
    works = [set(work.topics) for work in holdings.references.values() if work.is_work]
    for topic in holdings.every_topic:
        ids = {below.id for below in topic.walk()}
        count = sum(not ids.isdisjoint(keywords) for keywords in works)
        file = holdings.topics_file
        if count < FEWEST and not topic.few:
            yield at_text(NAME, file, topic.id, f"{count} works on '{topic.id}'", TOO_FEW)
        elif count >= FEWEST and topic.few:
            observed = f"'few' at '{topic.id}' with {count} works"
            yield at_text(NAME, file, topic.id, observed, ENOUGH)
