"""Titles and descriptions at the head of a page: YAML gives back what was put in, as one line."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.hostile import text_of
from scripts.website.markup import front_matter

NAME = "titles"


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Heads of pages from hostile texts."""
    for _ in range(campaign.count(20_000)):
        title, summary = text_of(campaign.rng), text_of(campaign.rng)
        yield Attempt(repr((title, summary)), _fault(title, summary))


def _fault(title: str, summary: str) -> str:
    head = str(front_matter(title, summary))
    if not head.startswith("---\n") or head.count("\n---\n") != 1:
        return "the head ends early"
    try:
        fields = yaml.safe_load(head.removeprefix("---\n").partition("\n---\n")[0])
    except yaml.YAMLError as error:
        return f"YAML refuses it: {error}"
    if set(fields) != {"title", "description"}:
        return f"fields {sorted(fields)}"
    visible = "".join(mark for mark in " ".join(title.split()) if mark.isprintable())
    return "" if fields["title"] == visible else f"the title reads {fields['title']!r}"
