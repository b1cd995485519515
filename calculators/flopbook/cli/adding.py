"""`new reference`: an entry from an arXiv id, a DOI or an address, filled in by a service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import UsageError
from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.metadata import Work, look_up
from flopbook.contributing.new_reference import entry_text, insert, key_of, known_as, pick_file
from flopbook.data.identifiers import Identifier, identify
from flopbook.data.library import library, topics
from flopbook.data.reference import Reference
from flopbook.data.repository import repository_path
from flopbook.data.works import on_file
from flopbook.errors import FlopbookError, UnknownName, printable, shorten, show_path

# After these, a skeleton is of use; any other failure says something about the work itself.
PASSING = ("offline", "busy", "server", "broken")


def new_reference(
    text: str, topic: str | None, offline: bool, dry_run: bool, as_json: bool
) -> None:
    """Write the entry, or print it; refuse what is there already. Raises FlopbookError."""
    identifier = identify(text)
    if identifier is None:
        raise UsageError(
            f"'{printable(shorten(text))}' is no arXiv id, DOI or http address, "
            "such as 2205.14135 or 10.1145/3458817"
        )
    _check_topic(topic)
    references = on_file()
    # Before asking a service, and again with what it says: the same work has several identifiers.
    _refuse_known(known_as(identifier, Work(), references.values()))
    work, reason = _fetched(identifier, offline)
    _refuse_known(known_as(identifier, work, references.values()))
    key = key_of(work, references.keys())
    entry = entry_text(key, work, topic)
    path = library().bibliography / pick_file(work, topic, references.values())
    if not dry_run:
        insert(path, key, entry)
    steps = _steps(key, work, topic, path)
    if as_json:
        record = _record(key, path, entry, not dry_run)
        print_json(record | {"skeleton": bool(reason), "reason": reason, "next": steps})
        return
    if reason:
        print(f"note: {reason}; this is a skeleton, to be filled in by hand")
    if dry_run:
        print(entry)
        return
    print(f"{key} is written to {show_path(path)}")
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}")


def _check_topic(topic: str | None) -> None:
    if topic is None:
        return
    topic_ids = [branch.id for top in topics() for branch in top.walk()]
    if topic not in topic_ids:
        raise UnknownName("topic", topic, topic_ids)


def _refuse_known(reference: Reference | None) -> None:
    if reference is None:
        return
    place = f"{reference.key} in {reference.file}:{reference.line}"
    raise FlopbookError(f"it is there already: {place}; flopbook cite {reference.key}")


def _fetched(identifier: Identifier, offline: bool) -> tuple[Work, str]:
    """The work, and why it is only a skeleton, if it is."""
    if offline:
        return _skeleton(identifier), "nothing was looked up (--offline)"
    try:
        return look_up(identifier, fetcher()), ""
    except FetchError as error:
        if error.kind not in PASSING:
            raise
        return _skeleton(identifier), printable(str(error))


def _skeleton(identifier: Identifier) -> Work:
    """A work of which nothing but its identifier is known."""
    if identifier.kind == "doi":
        return Work(doi=identifier.value, type="misc")
    if identifier.kind == "arxiv":
        return Work(eprint=identifier.name[1], type="misc")
    return Work(url=identifier.address, type="online")


def fetcher() -> Fetcher:
    """What asks the services; tests put another one here."""
    return Fetcher()


def _steps(key: str, work: Work, topic: str | None, path: Path) -> list[str]:
    """What is left to the contributor."""
    fields = {"author": work.people, "title": work.title, "year": work.year, "keywords": topic}
    empty = [name for name, value in fields.items() if not value]
    steps = [
        f"fill in {', '.join([*empty, 'annote'])} in {show_path(path)}: "
        "annote is one or two sentences of your own"
    ]
    if not (work.title and work.people and work.year):  # the key is made of them
        steps.append(f"rename {key} to authorYEARword")
    return [*steps, f"flopbook lint {show_path(path)}"]


def _record(key: str, path: Path, entry: str, written: bool) -> dict[str, Any]:
    return {"key": key, "file": repository_path(path), "written": written, "text": entry}
