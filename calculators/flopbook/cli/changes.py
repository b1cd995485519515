"""`diff` and `stale`: what a change of the data changes, and what has to be read again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from flopbook.changes.difference import Change, Difference
from flopbook.checks.staleness import USUAL_DAYS, Stale, stale
from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.errors import printable, shorten
from flopbook.evaluation.answers import columns, counted
from flopbook.quantities.units import percent

# A summary on the web has a limit; who needs all lines has --json.
MOST_ROWS = 200
LONGEST_VALUE = 90  # letters of a word or text in a table
# Below, a change rounds to 0.00 %.
LEAST_RELATIVE = 5e-5
_MARKDOWN = Option("--markdown", "markdown", "Print as Markdown, for a pull request or an issue.")
_CHECK = Option(
    "--check",
    "check",
    "Exit with status 1 when a value changes by more than 10 % and its source does not.",
)
# The lists of a Difference: field, title and what it holds.
_LISTS = (
    ("written", "Values and entries", "what changes in the files"),
    ("chosen", "Values in use", "which value the calculators and pages take from now on"),
    ("calculators", "Calculators", "answers that change, of the examples and of each chip"),
    ("ledger", "Ledger", "rows of claims that change"),
)
_CHANGE_HEAD = ("Where", "What", "Change", "Source")
_STALE_HEAD = ("entry", "oldest", "age", "limit", "values", "why this limit")


@command("diff", _MARKDOWN, _CHECK, argument="BASE")
def diff_command(base: str, markdown: bool, check: bool, as_json: bool) -> int:
    """Say what changed in the data since BASE, and which calculators and claims move.

    Every value by entry and field, old and new, with its source; then the values in use that move
    with it. BASE is a revision of the repository, such as origin/main, or a folder that flopbook
    export wrote.

    Example: flopbook diff HEAD --markdown
    """
    from flopbook.changes.revisions import against

    if markdown and as_json:
        raise UsageError("--markdown and --json do not go together")
    difference = against(base)
    if as_json:
        print_json(_record(difference, base))
    elif markdown:
        print(_markdown(difference, base))
    else:
        print(_text(difference, base))
    return 1 if check and (difference.problems or difference.unread) else 0


def _record(difference: Difference, base: str) -> dict[str, Any]:
    record: dict[str, Any] = {"base": base}
    for name, changes, _, _ in _changes(difference):
        record[name] = [_change_record(change) for change in changes]
    return record | {"problems": list(difference.problems), "unread": list(difference.unread)}


def _changes(difference: Difference) -> Iterator[tuple[str, Sequence[Change], str, str]]:
    """The lists of a difference with their names, titles and meanings."""
    for name, title, meaning in _LISTS:
        yield name, getattr(difference, name), title, meaning


def _change_record(change: Change) -> dict[str, Any]:
    record = change._asdict()
    return {key: list(cell) if isinstance(cell, tuple) else cell for key, cell in record.items()}


def _text(difference: Difference, base: str) -> str:
    """Aligned columns for a terminal."""
    if not difference:
        return printable(f"no difference from {base}")
    blocks = []
    for _, changes, title, _ in _changes(difference):
        if changes:
            rows = [_row(change) for change in changes]
            blocks.append(f"{title}\n{columns(rows, indent='  ')}")
    blocks += [f"problem: {problem}" for problem in difference.problems]
    blocks += [f"not read: {problem}" for problem in difference.unread]
    return printable("\n\n".join(blocks))


def _row(change: Change) -> tuple[str, str, str, str]:
    """Where, what, how much, by which source."""
    return (change.id, change.field or change.kind, _move(change), _source(change))


def _move(change: Change) -> str:
    """What became of a value: added, removed, or old -> new with the relative change."""
    old, new = _value_text(change.old), _value_text(change.new)
    if change.how == "reread":
        return f"{new} ({', '.join(change.also)} changed)"
    if change.how == "added":
        return f"added {new}".strip()
    if change.how == "unreadable":
        return "unreadable"
    if change.how == "removed":
        return f"removed {old}".strip()
    move = f"{old or '-'} -> {new or '-'}"
    if change.relative is not None and abs(change.relative) >= LEAST_RELATIVE:
        move += f" ({percent(change.relative, 2, signed=True)})"
    if change.also:
        move += f" ({', '.join(change.also)} changed too)"
    return move


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:,.6g}"
    return shorten(value, LONGEST_VALUE)


def _source(change: Change) -> str:
    old, new = change.old_source, change.new_source
    if old and new and old != new:
        return f"{old} -> {new}"
    return new or old


def _markdown(difference: Difference, base: str) -> str:
    """Tables for a pull request. All text of the data is escaped: it may come from anybody."""
    title = f"## Data compared with {_cell(base)}"
    if not difference:
        return f"{title}\n\nNo difference."
    blocks = [title]
    if difference.problems:
        blocks += ["**To mend**", _bullets(difference.problems)]
    for _, changes, heading, meaning in _changes(difference):
        if changes:
            blocks.append(f"### {heading}: {len(changes):,}")
            blocks.append(f"_{meaning[0].upper()}{meaning[1:]}._")
            blocks.append(_table([_row(change) for change in changes], _CHANGE_HEAD))
    if difference.unread:
        blocks += ["**Not read**", _bullets(difference.unread)]
    return "\n\n".join(blocks)


def _bullets(texts: Sequence[str]) -> str:
    return "\n".join(f"- {_cell(text)}" for text in texts)


def _table(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows[:MOST_ROWS]]
    hidden = len(rows) - MOST_ROWS
    if hidden > 0:
        lines += ["", f"and {counted(hidden, 'row')} more; flopbook diff BASE --json has all"]
    return "\n".join(lines)


def _cell(text: object) -> str:
    from flopbook.drawing.markup import inline  # only for Markdown

    return inline(printable(str(text)))


@command(
    "stale",
    Option("--days", "days", f"The usual number of days (default: {USUAL_DAYS}).", "N"),
    Option("--as-of", "as_of", "The day to count from (default: today).", "YYYY-MM-DD"),
    _MARKDOWN,
)
def stale_command(days: str | None, as_of: str | None, markdown: bool, as_json: bool) -> None:
    """List the entries with values that have to be read again.

    A value is due when it was read longer ago than the number of days. An entry may state a number
    of its own with a reason, under stale_after.

    Example: flopbook stale --days 365
    """
    if markdown and as_json:
        raise UsageError("--markdown and --json do not go together")
    limit, today = _read_days(days), _read_day(as_of)
    due = stale(today, limit)
    if as_json:
        print_json([{**entry._asdict(), "oldest": entry.oldest.isoformat()} for entry in due])
        return
    if not due:
        print(
            "nothing was read longer ago than its number of days "
            f"({limit} where an entry states none)"
        )
        return
    rows = [_stale_row(entry) for entry in due]
    if markdown:
        print(f"## To be read again: {len(due):,}\n\n{_table(rows, _STALE_HEAD)}")
    else:
        print(columns(rows, head=_STALE_HEAD))


def _stale_row(entry: Stale) -> tuple[str, ...]:
    return (
        entry.id,
        entry.oldest.isoformat(),
        counted(entry.age, "day"),
        counted(entry.days, "day"),
        f"{entry.count} of {entry.total}",
        entry.reason,
    )


def _read_days(text: str | None) -> int:
    if text is None:
        return USUAL_DAYS
    # More digits than any reader means, and than a date can be moved by.
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) > 0):
        shown = printable(shorten(text))
        raise UsageError(f"--days: '{shown}' is no number of days; write for example {USUAL_DAYS}")
    return int(text)


def _read_day(text: str | None) -> datetime.date:
    if text is None:
        return datetime.date.today()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        shown = printable(shorten(text))
        raise UsageError(f"--as-of: '{shown}' is no day; write for example 2026-11-21") from None
