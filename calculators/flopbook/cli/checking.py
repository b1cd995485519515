"""`lint`: checks the data, mends what has one right form, and tells the result to people or to
GitHub.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.errors import Problem, UnknownName, printable, show_path
from flopbook.evaluation.answers import counted

FORMATS = ("text", "github")


@command(
    "lint",
    Option(
        "--fix",
        "mend",
        "First mend line ends, spellings of units and dates, identifiers, and order and layout of references.",
    ),
    Option(
        "--against",
        "base",
        "Also check what changed since this revision or exported folder: large moves need a source.",
        "BASE",
    ),
    Option(
        "--format",
        "form",
        "text (the default) or github: annotations at the lines of a pull request.",
        "NAME",
    ),
    argument="[FILE ...]",
)
def lint_command(
    files: Sequence[str], mend: bool, base: str | None, form: str | None, as_json: bool
) -> int:
    """Check data and prose: files, units, sources, parts, totals, references, claims. Exit status 1
    when a check fails.

    With FILEs only their problems are told; files that they refer to are read all the same.

    Example: flopbook lint --format github
    """
    from flopbook.checks.lint import lint
    from flopbook.checks.rules.typed import prose_share

    if form not in (None, *FORMATS):
        raise UnknownName("format", form or "", FORMATS)
    if form == "github" and as_json:
        raise UsageError("--format github and --json do not go together")
    paths = [_file(name) for name in files]
    fixed = _mended(paths) if mend else []
    shown = {show_path(path) for path in paths}
    problems = [problem for problem in lint() if not shown or problem.file in shown]
    problems += _moved(base)
    if as_json:
        print_json([problem._asdict() for problem in problems])
        return 1 if problems else 0
    for line in fixed:
        print(line)
    for problem in problems:
        print(_annotation(problem) if form == "github" else str(problem))
    share = None if shown else prose_share()
    if share is not None:
        print(share)
    print(counted(len(problems), "problem") if problems else "no problems")
    return 1 if problems else 0


def _moved(base: str | None) -> list[Problem]:
    if base is None:
        return []
    from flopbook.changes.difference import MEND
    from flopbook.changes.revisions import against

    found = against(base)
    said = ("a new source for a value that moves by more than 10 %", MEND)
    moves = [
        Problem(base, 1, 1, "moved", text.removesuffix(f"; {MEND}"), *said)
        for text in found.problems
    ]
    return moves + [
        Problem(base, 1, 1, "unread", text, "data that can be read", "mend it")
        for text in found.unread
    ]


def _file(name: str) -> Path:
    path = Path(name).absolute()
    if not path.is_file():
        raise UsageError(
            f"{printable(name)} is not a file; give the path of a data file, or nothing to check all"
        )
    return path


def _mended(paths: Sequence[Path]) -> list[str]:
    from flopbook.checks.fixes import fix
    from flopbook.data.library import library
    from flopbook.data.repository import CLONE, checkout

    if not paths and checkout() is None:
        raise UsageError(CLONE)
    every = [
        p
        for folder in (library().accelerators, library().bibliography, library().models)
        for suffix in ("yaml", "bib")
        for p in sorted(folder.rglob(f"*.{suffix}"))
    ]
    return [f"mended {done.file}: {', '.join(done.changes)}" for done in fix(paths or every)]


def _annotation(problem: Problem) -> str:
    """A line that GitHub shows beside the changed line of a pull request."""
    text = printable(f"found {problem.found}, expected {problem.expected}; {problem.mend}")
    where = {
        "file": problem.file,
        "line": problem.line,
        "col": problem.column,
        "title": f"flopbook {problem.rule}",
    }
    places = ",".join(f"{key}={_escaped(value, ',:')}" for key, value in where.items())
    return f"::error {places}::{_escaped(text)}"


def _escaped(value: Any, marks: str = "") -> str:
    """Text inside a workflow command: percent signs, line ends and, in properties, its own marks
    are encoded.
    """
    text = str(value)
    for mark in ("%", "\r", "\n", *marks):
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
