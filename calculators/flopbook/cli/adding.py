"""`new reference`: an entry from an arXiv id, a DOI or an address, with what a service says of it."""

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
from flopbook.data.references import Reference
from flopbook.data.repository import repository_path
from flopbook.data.works import on_file
from flopbook.errors import FlopbookError, UnknownName, printable, shorten, show_path

# After these, a skeleton is of use; any other failure says something about the work itself.
PASSING = ("offline", "busy", "server", "broken")


def new_reference(
    text: str, topic: str | None, offline: bool, dry_run: bool, as_json: bool
) -> None:
    """Write the entry, or print it; refuse what is there already."""
    what = identify(text)
    if what is None:
        raise UsageError(
            f"'{printable(shorten(text))}' is no arXiv id, DOI or http address, such as 2205.14135 or 10.1145/3458817"
        )
    if topic is not None and topic not in (
        known := [one.id for top in topics() for one in top.walk()]
    ):
        raise UnknownName("topic", topic, known)
    there = on_file()
    _refuse(known_as(what, Work(), there.values()))
    work, reason = _asked(what, offline)
    _refuse(known_as(what, work, there.values()))
    key = key_of(work, there.keys())
    entry = entry_text(key, work, topic)
    path = library().bibliography / pick_file(work, topic, there.values())
    if not dry_run:
        insert(path, key, entry)
    steps = _steps(key, work, topic, path)
    if as_json:
        print_json(
            _record(key, path, entry, not dry_run)
            | {"skeleton": bool(reason), "reason": reason, "next": steps}
        )
        return
    if reason:
        print(f"note: {reason}; this is a skeleton, to be filled in by hand")
    if dry_run:
        print(entry)
        return
    print(f"{key} is written to {show_path(path)}")
    print("\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)))


def _refuse(there: Reference | None) -> None:
    if there is not None:
        raise FlopbookError(
            f"it is there already: {there.key} in {there.file}:{there.line}; flopbook cite {there.key}"
        )


def _asked(what: Identifier, offline: bool) -> tuple[Work, str]:
    """The work, and why it is only a skeleton, if it is."""
    empty = Work(
        doi=what.value if what.kind == "doi" else "",
        eprint=what.name[1] if what.kind == "arxiv" else "",
        url=what.address if what.kind == "url" else "",
        type="online" if what.kind == "url" else "misc",
    )
    if offline:
        return empty, "nothing was asked for (--offline)"
    try:
        return look_up(what, fetcher()), ""
    except FetchError as error:
        if error.kind not in PASSING:
            raise
        return empty, printable(str(error))


def fetcher() -> Fetcher:
    """What asks the services; tests put another one here."""
    return Fetcher()


def _steps(key: str, work: Work, topic: str | None, path: Path) -> list[str]:
    empty = [
        name
        for name, value in (
            ("author", work.people),
            ("title", work.title),
            ("year", work.year),
            ("keywords", topic),
        )
        if not value
    ]
    fill = f"fill in {', '.join([*empty, 'annote'])} in {show_path(path)}: annote is one or two sentences of your own"
    again = [] if work.title and work.people and work.year else [f"rename {key} to authorYEARword"]
    return [fill, *again, f"flopbook lint {show_path(path)}"]


def _record(key: str, path: Path, entry: str, written: bool) -> dict[str, Any]:
    return {"key": key, "file": repository_path(path), "written": written, "text": entry}
