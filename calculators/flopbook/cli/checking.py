"""`lint`: checks the data, mends what has one right form, and reports to people or to GitHub."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.errors import Problem, UnknownName, printable, show_path
from flopbook.evaluation.answers import counted

REPORTS = ("text", "github")
MOST_OF_FILE = 100  # problems of a file that are printed

_FIX = Option(
    "--fix",
    "mend",
    "First mend line ends, spellings of units and dates, identifiers, "
    "and order and layout of references.",
)
_AGAINST = Option(
    "--against",
    "base",
    "Also check what changed since this revision or exported folder: large moves need a source.",
    "BASE",
)
_FORMAT = Option(
    "--format",
    "report",
    "text (the default) or github: annotations at the lines of a pull request.",
    "NAME",
)


@command("lint", _FIX, _AGAINST, _FORMAT, argument="[FILE ...]")
def lint_command(
    files: Sequence[str], mend: bool, base: str | None, report: str | None, as_json: bool
) -> int:
    """Check data and prose: files, units, sources, parts, totals, references, claims.
    Exit status 1 when a check fails.

    With FILEs only their problems are told; files that they refer to are read all the same.

    Example: flopbook lint --format github
    """
    from flopbook.checks.lint import lint

    if report is not None and report not in REPORTS:
        raise UnknownName("format", report, REPORTS)
    if report == "github" and as_json:
        raise UsageError("--format github and --json do not go together")
    paths = [_existing(name) for name in files]
    mended = _mend(paths) if mend else []
    shown = {show_path(path) for path in paths}
    problems = [problem for problem in lint() if not shown or problem.file in shown]
    if base is not None:
        problems += _unsourced_moves(base)
    if as_json:
        print_json([problem._asdict() for problem in problems])
    else:
        lines = list(_lines(problems, _annotation if report == "github" else str))
        _print_report([*mended, *lines], len(problems), is_full=not paths)
    return 1 if problems else 0


def _lines(problems: Sequence[Problem], written: Callable[[Problem], str]) -> Iterator[str]:
    """A line for each problem; of a file with very many the first of them, and how many more."""
    for file, of_this_file in itertools.groupby(problems, key=lambda problem: problem.file):
        of_file = list(of_this_file)
        yield from map(written, of_file[:MOST_OF_FILE])
        unprinted = len(of_file) - MOST_OF_FILE
        if unprinted > 0:
            yield printable(f"{file}: {unprinted:,} more problems; --json has them all")


def _print_report(lines: Sequence[str], problem_count: int, is_full: bool) -> None:
    """Print lines, then where all was read two shares that must not sink, then a summary."""
    from flopbook.checks.lint import annotation_share, prose_share

    for line in lines:
        print(line)
    shares = (prose_share(), annotation_share()) if is_full else ()
    for share in shares:
        if share is not None:
            print(share)
    print(counted(problem_count, "problem") if problem_count else "no problems")


def _unsourced_moves(base: str) -> list[Problem]:
    """Values that moved much since a base without a new source, and what could not be read."""
    from flopbook.changes.difference import MEND
    from flopbook.changes.revisions import against

    difference = against(base)
    expected = "a new source for a value that moves by more than 10 %"
    # A problem of a difference ends with its remedy, which a problem of lint has apart.
    texts = [text.removesuffix(f"; {MEND}") for text in difference.problems]
    moves = [Problem(base, 1, 1, "moved", text, expected, MEND) for text in texts]
    unread = [
        Problem(base, 1, 1, "unread", text, "data that can be read", "mend it")
        for text in difference.unread
    ]
    return moves + unread


def _existing(name: str) -> Path:
    from flopbook.data.library import library
    from flopbook.data.repository import checkout

    path = Path(name).absolute()
    if not path.is_file():
        raise UsageError(
            f"{printable(name)} is not a file; "
            "give the path of a data file, or nothing to check all"
        )
    roots = [root for root in (library().root, checkout()) if root is not None]
    # A link in the library is inside, wherever it leads: whoever reads it refuses it by name.
    places = {Path(os.path.abspath(path)), path.resolve()}
    homes = {home for root in roots for home in (root.absolute(), root.resolve())}
    if not any(place.is_relative_to(home) for place in places for home in homes):
        raise UsageError(
            f"{printable(name)} lies outside {printable(show_path(roots[0]))}, whose files are "
            "checked; put it there, or name the folder of your data by FLOPBOOK_DATA"
        )
    return path


def _mend(paths: Sequence[Path]) -> list[str]:
    """Mend these files, or all of the data; a line for each one that changed."""
    from flopbook.checks.fixes import fix
    from flopbook.data.repository import CLONE, checkout

    if not paths and checkout() is None:
        raise UsageError(CLONE)
    fixed = fix(paths or _data_files())
    return [printable(f"mended {file.file}: {', '.join(file.changes)}") for file in fixed]


def _data_files() -> list[Path]:
    from flopbook.data.library import library

    books = library()
    files: list[Path] = []
    for folder in (books.accelerators, books.bibliography, books.models):
        files += sorted(folder.rglob("*.yaml"))
        files += sorted(folder.rglob("*.bib"))
    return files


def _annotation(problem: Problem) -> str:
    """A line that GitHub shows beside the changed line of a pull request."""
    text = printable(f"found {problem.found}, expected {problem.expected}; {problem.mend}")
    properties = {
        "file": problem.file,
        "line": str(problem.line),
        "col": str(problem.column),
        "title": f"flopbook {problem.rule}",
    }
    place = ",".join(f"{key}={_escaped(value, ',:')}" for key, value in properties.items())
    return f"::error {place}::{_escaped(text)}"


def _escaped(text: str, marks: str = "") -> str:
    """Text inside a workflow command: percent signs, line ends and the given marks are encoded."""
    # The percent sign comes first, so that those of the other codes stay.
    for mark in ("%", "\r", "\n", *marks):
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
