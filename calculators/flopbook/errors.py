"""Errors in data: where, which rule, what was found, what was expected, how to mend it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# So many names can be listed in one line when nothing is near the one that was written.
MOST_LISTED = 12


class Problem(NamedTuple):
    """One broken rule at one place of one file."""

    file: str
    line: int
    column: int
    rule: str
    found: str
    expected: str
    mend: str

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.rule}: found {self.found}, expected {self.expected}"
        return " ".join(printable(f"{text}; {self.mend}").split("\n"))


class FlopbookError(Exception):
    """Anything a user can mend; the command line prints it as one line, never as a traceback."""


class DataError(FlopbookError):
    """One or more problems in the data, all of them at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnknownName(FlopbookError):
    """An id, alias, key or option value that nothing in the data answers to."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        import difflib

        names = sorted(known) if isinstance(known, (set, frozenset)) else list(dict.fromkeys(known))
        written = {one.lower(): one for one in names}
        found = difflib.get_close_matches(name.lower(), sorted(written), n=3, cutoff=0.4)
        self.name, self.near = name, tuple(written[one] for one in found)
        few = (
            f"one of: {', '.join(names)}" if 0 < len(names) <= MOST_LISTED else "nothing is near it"
        )
        hint = f"nearest: {', '.join(self.near)}" if self.near else few
        super().__init__(printable(f"unknown {kind} '{shorten(name)}'; {hint}"))


def printable(text: str) -> str:
    """Escape control characters, so that data cannot drive the reader's terminal."""
    return "".join(c if c.isprintable() or c in "\n" else repr(c)[1:-1] for c in text)


def shorten(value: object, limit: int = 60) -> str:
    """A value as it goes into a message: one line, at most `limit` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def show_path(path: Path) -> str:
    """A path as people will type it: relative to the working directory where that is shorter."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
