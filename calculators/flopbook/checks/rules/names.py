"""An alias or device name belongs to one entry: one that two share could not be looked up."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_text
from flopbook.errors import shorten

NAME = "alias"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Names that two entries, or two models, have."""
    yield from _of_entries(holdings)
    yield from _of_models(holdings)


def _of_entries(holdings: Holdings) -> Iterator[Finding]:
    # The product part of an id is looked up like an alias, so it is taken, too.
    owners = {entry_id.partition("/")[2]: entry_id for entry_id in holdings.entries}
    for entry in holdings.entries.values():
        for name in (*entry.aliases, *(name.lower() for name in entry.device_names)):
            owner = owners.setdefault(name, entry.id)
            # Two vendors may share an alias, for `vendor/alias` tells them apart; nothing does so
            # for what a driver returns.
            told_apart = owner.partition("/")[0] != entry.vendor and name in entry.aliases
            if owner != entry.id and not told_apart:
                yield _shared(entry.file, name, owner, "a name of one entry")


def _of_models(holdings: Holdings) -> Iterator[Finding]:
    owners = {model_id: model_id for model_id in holdings.models}
    for model in holdings.models.values():
        for alias in model.aliases:
            owner = owners.setdefault(alias, model.id)
            if owner != model.id:
                yield _shared(model.file, alias, owner, "a name of one model")


def _shared(file: str, name: str, owner: str, expected: str) -> Finding:
    advice = Advice(expected, f"{owner} has it too")
    return at_text(NAME, file, name, f"'{shorten(name)}'", advice)
