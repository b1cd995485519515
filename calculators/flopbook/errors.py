"""Errors in data: where, which rule, what was found, what was expected, how to mend it."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# So many names can be listed in one line when nothing is near the one that was written.
MOST_LISTED = 12
# No system has longer names of files, in bytes.
LONGEST_NAME = 255
# So many problems are told of data that cannot be used; nobody reads on.
MOST_TOLD = 50
# How alike two names must be to be offered as a correction; difflib's own default, 0.6, misses
# most abbreviations.
LEAST_ALIKE = 0.4


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
        place = f"{self.file}:{self.line}:{self.column}"
        reason = f"{self.rule}: found {self.found}, expected {self.expected}"
        # One line for one problem, whatever the data holds: editors and CI read it by line.
        return " ".join(printable(f"{place}: {reason}; {self.mend}").split("\n"))


class FlopbookError(Exception):
    """Anything a user can mend; the command line prints it as one line, never as a traceback."""


class DataError(FlopbookError):
    """One or more problems in the data, all of them at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        lines = [str(problem) for problem in self.problems[:MOST_TOLD]]
        unprinted = len(self.problems) - MOST_TOLD
        if unprinted > 0:
            lines.append(f"and {unprinted:,} more problems")
        super().__init__("\n".join(lines))


class UnknownName(FlopbookError):
    """An id, alias, key or option value that nothing in the data answers to.

    `kind` says what the name should have been, `known` are the names that there are; the message
    offers the nearest ones in `near`, and `advice` says what else to do.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = "") -> None:
        # A set has no order of its own; all else comes in the order in which it is taught.
        is_unordered = isinstance(known, (set, frozenset))
        names = sorted(known) if is_unordered else list(dict.fromkeys(known))
        super().__init__(kind, name, names, advice)
        self.kind, self.name, self.known, self.advice = kind, name, names, advice

    @functools.cached_property
    def near(self) -> tuple[str, ...]:
        """The nearest names.

        They are sought where somebody reads them: who tries one kind of name after another drops
        the error, and comparing a word with all names takes longer than all else.
        """
        import difflib  # only for a mistake: a command that succeeds does not wait for it

        lower = self.name.lower()
        spellings = {spelling.lower(): spelling for spelling in self.known}
        begun = [candidate for candidate in sorted(spellings) if candidate.startswith(f"{lower}-")]
        alike = difflib.get_close_matches(lower, sorted(spellings), n=3, cutoff=LEAST_ALIKE)
        nearest = list(dict.fromkeys([*begun, *alike]))[:3]
        return tuple(spellings[lowered] for lowered in nearest)

    def __str__(self) -> str:
        hint = "; ".join(filter(None, (self._hint(self.known), self.advice)))
        return printable(f"unknown {self.kind} '{shorten(self.name)}'; {hint}")

    def _hint(self, names: list[str]) -> str:
        if self.near:
            return f"nearest: {', '.join(self.near)}"
        if 0 < len(names) <= MOST_LISTED:
            return f"one of: {', '.join(names)}"
        return "nothing is near it"


def printable(text: str) -> str:
    """Escape control characters, so that data cannot drive the reader's terminal."""
    return "".join(c if c.isprintable() or c in "\n" else repr(c)[1:-1] for c in text)


def shorten(value: object, limit: int = 60) -> str:
    """A value as it goes into a message: one line, at most `limit` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def reason_of(error: Exception) -> str:
    """Why something failed: of the system's errors the reason alone, without number and file."""
    return str(getattr(error, "strerror", None) or error)


def show_path(path: Path) -> str:
    """A path as people will type it: relative to the working directory where that is shorter."""
    if max(map(len, path.parts), default=0) > LONGEST_NAME:
        return shorten(path, LONGEST_NAME)  # there is no such file
    # Not resolved, which would name the file that a link leads to.
    try:
        return str(Path(os.path.abspath(path)).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
