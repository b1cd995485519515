"""`diff` and `stale`: what a change of the data changes, and what has to be read again."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from flopbook.changes.difference import Change, Difference
from flopbook.checks.staleness import USUAL_DAYS, Stale, stale
from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.errors import printable, shorten
from flopbook.evaluation.answers import columns, counted

# A summary on the web has a limit; who needs all lines has --json.
MOST_ROWS = 200
_MARKDOWN = Option("--markdown", "markdown", "Print as Markdown, for a pull request or an issue.")
_PARTS = (
    ("written", "Values and entries", "what changes in the files"),
    ("chosen", "Values in use", "which value the calculators and pages take from now on"),
    ("calculators", "Calculators", "answers that change, of the examples and of each chip"),
    ("ledger", "Ledger", "rows of claims that change"),
)


@command(
    "diff",
    _MARKDOWN,
    Option(
        "--check",
        "check",
        "Exit with status 1 when a value changes by more than 10 % and its source does not.",
    ),
    argument="BASE",
)
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
    found = against(base)
    if as_json:
        lists = {
            name: [_record(change) for change in getattr(found, name)] for name, _, _ in _PARTS
        }
        print_json(
            {"base": base, **lists, "problems": list(found.problems), "unread": list(found.unread)}
        )
    else:
        print(_markdown(found, base) if markdown else _text(found, base))
    return 1 if check and (found.problems or found.unread) else 0


def _record(change: Change) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in change._asdict().items()
    }


def _text(found: Difference, base: str) -> str:
    if not found:
        return printable(f"no difference from {base}")
    blocks = []
    for name, title, _ in _PARTS:
        changes = getattr(found, name)
        if changes:
            blocks.append(f"{title}\n{columns([_row(change) for change in changes], indent='  ')}")
    blocks += [f"problem: {text}" for text in found.problems] + [
        f"not read: {text}" for text in found.unread
    ]
    return printable("\n\n".join(blocks))


def _row(change: Change) -> tuple[str, str, str, str]:
    """Where, what, how much, by which source."""
    return (change.id, change.field or change.kind, _move(change), _source(change))


def _move(change: Change) -> str:
    if change.how == "reread":
        return f"{_value(change.new)} ({', '.join(change.also)} changed)"
    if change.how in ("added", "removed"):
        value = _value(change.new if change.how == "added" else change.old)
        return f"{change.how} {value}".strip()
    also = f" ({', '.join(change.also)} changed too)" if change.also else ""
    by = (
        f" ({change.relative:+.2%})"
        if change.relative is not None and abs(change.relative) >= 5e-5
        else ""
    )
    return f"{_value(change.old) or '-'} -> {_value(change.new) or '-'}{by}{also}"


def _value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,.6g}" if isinstance(value, (int, float)) else shorten(value, 90)


def _source(change: Change) -> str:
    old, new = change.old_source, change.new_source
    return f"{old} -> {new}" if old and new and old != new else new or old


def _markdown(found: Difference, base: str) -> str:
    """Tables for a pull request. All text of the data is escaped: it may come from anybody."""
    head = f"## Data compared with {_cell(base)}\n\n"
    if not found:
        return f"{head}No difference."
    blocks = []
    if found.problems:
        blocks.append("**To mend**\n\n" + "\n".join(f"- {_cell(text)}" for text in found.problems))
    for name, title, meaning in _PARTS:
        changes = getattr(found, name)
        if changes:
            rows = [_row(change) for change in changes]
            blocks.append(
                f"### {title}: {len(changes):,}\n\n_{meaning[0].upper()}{meaning[1:]}._\n\n{_table(rows)}"
            )
    blocks += (
        ["**Not read**\n\n" + "\n".join(f"- {_cell(text)}" for text in found.unread)]
        if found.unread
        else []
    )
    return head + "\n\n".join(blocks)


def _table(
    rows: Sequence[Sequence[str]], head: Sequence[str] = ("Where", "What", "Change", "Source")
) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return "\n".join(lines) + (
        f"\n\nand {counted(more, 'row')} more; flopbook diff BASE --json has all"
        if more > 0
        else ""
    )


def _cell(text: object) -> str:
    from flopbook.drawing.markup import inline

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
    limit, today = _days(days), _day(as_of)
    found = stale(today, limit)
    if as_json:
        print_json([{**item._asdict(), "oldest": item.oldest.isoformat()} for item in found])
    elif not found:
        print(
            f"nothing was read longer ago than its number of days ({limit} where an entry states none)"
        )
    elif markdown:
        print(
            f"## To be read again: {len(found):,}\n\n{_table([_stale_row(i) for i in found], _STALE_HEAD)}"
        )
    else:
        print(columns([_stale_row(item) for item in found], head=_STALE_HEAD))


_STALE_HEAD = ("entry", "oldest", "age", "limit", "values", "why this limit")


def _stale_row(item: Stale) -> tuple[str, ...]:
    age, limit = counted(item.age, "day"), counted(item.days, "day")
    return (
        item.id,
        item.oldest.isoformat(),
        age,
        limit,
        f"{item.count} of {item.total}",
        item.reason,
    )


def _days(text: str | None) -> int:
    if text is None:
        return USUAL_DAYS
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 5 and int(text) > 0):
        raise UsageError(
            f"--days: '{printable(shorten(text))}' is no number of days; write for example {USUAL_DAYS}"
        )
    return int(text)


def _day(text: str | None) -> datetime.date:
    try:
        return datetime.date.today() if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        shown = printable(shorten(text))
        raise UsageError(f"--as-of: '{shown}' is no day; write for example 2026-11-21") from None
