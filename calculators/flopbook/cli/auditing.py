"""`audit`: draw shown values for a checker, and count what the verdicts say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from flopbook.checks.audit import (
    Audit,
    Score,
    audits,
    drawn,
    pooled,
    rate_in_words,
    score,
    sheet,
)
from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.files import read_text
from flopbook.errors import FlopbookError, printable, shorten
from flopbook.evaluation.answers import counted

_LARGEST = 999_999_999  # a seed may be a date
_MOST_BYTES = 10_000_000


@command(
    "audit",
    Option("--sample", "sample", "Values to draw (default: 100).", "N"),
    Option("--seed", "seed", "The same seed draws the same values (default: 1).", "N"),
    Option("--with-values", "with_values", "Print the values too: no longer a blind audit."),
    Option("--score", "filled", "Count the verdicts of a filled sheet instead.", "FILE"),
    Option("--last", "last", "Give the error rate of the last audit on record."),
    Option("--past", "past", "Give the error rates of all audits on record, and pooled."),
)
def audit_command(
    with_values: bool,
    filled: str | None,
    last: bool,
    past: bool,
    as_json: bool,
    **sampling: str | None,
) -> None:
    """Draw shown values as a sheet to look them up anew, or give the error rate of a filled one.

    The sheet is CSV: look each value up at its source and write right, misleading, wrong or
    not found under verdict.

    Example: flopbook audit --sample 200 --seed 7
    """
    is_drawn = with_values or any(sampling.values())
    if filled is not None:
        if is_drawn or last or past:
            raise UsageError("--score takes a filled sheet; it does not go with other options")
        _print_score(score(_sheet(filled)), as_json)
        return
    if (last or past) and (is_drawn or (last and past)):
        asked = "--last" if last else "--past"
        raise UsageError(f"{asked} tells of audits on record; it does not go with other options")
    if last or past:
        (_print_last if last else _print_past)(as_json)
        return
    values = drawn(
        _count("--sample", sampling["sample"], 100), _count("--seed", sampling["seed"], 1)
    )
    if as_json:
        print_json(
            [
                {"entry": entry, "quantity": claim.field, "line": claim.place}
                for entry, claim in values
            ]
        )
        return
    print(sheet(values, with_values=with_values), end="")
    _tell_past()


def _sheet(name: str) -> str:
    try:
        return read_text(Path(name), _MOST_BYTES)
    except UnicodeDecodeError:
        printed_name = printable(shorten(name))
        raise FlopbookError(
            f"{printed_name} is not UTF-8 text; save the sheet as CSV in UTF-8"
        ) from None


def _count(option: str, text: str | None, default: int) -> int:
    if text is None:
        return default
    is_short = text.isascii() and text.isdigit() and len(text) <= len(str(_LARGEST))
    if not (is_short and int(text) > 0):
        raise UsageError(
            f"{option}: '{printable(shorten(text))}' is no whole number from 1 to {_LARGEST:,}; "
            f"write {default}"
        )
    return int(text)


def _on_record() -> tuple[Audit, ...]:
    """All audits, the oldest first. Raises FlopbookError where there is none."""
    found = audits()
    if not found:
        raise FlopbookError("no audit is on record; fill a sheet of flopbook audit")
    return found


def _print_last(as_json: bool) -> None:
    last = _on_record()[-1]
    if as_json:
        print_json(_dated_record(last))
        return
    _print_dated(last)


def _print_past(as_json: bool) -> None:
    found = _on_record()
    together = pooled(audit.score for audit in found)
    if as_json:
        each = [_dated_record(audit) for audit in found]
        print_json({"audits": each, "pooled": _record(together)})
        return
    for audit in found:
        _print_dated(audit)
        print()
    print(f"pooled      {counted(len(found), 'audit')}")
    _print_score(together, as_json=False)


def _print_dated(audit: Audit) -> None:
    print(f"audit of    {audit.date}, seed {audit.seed}")
    _print_score(audit.score, as_json=False)


def _dated_record(audit: Audit) -> dict[str, Any]:
    return {"date": str(audit.date), "seed": audit.seed, **_record(audit.score)}


def _tell_past() -> None:
    """On standard error what to expect, so that the sheet can be redirected into a file."""
    past = audits()
    if not past:
        return
    found = pooled(audit.score for audit in past)
    wrong, misleading = rate_in_words(found.wrong), rate_in_words(found.misleading)
    named = "last audit," if len(past) == 1 else f"{len(past)} audits, the last of"
    looked_up = f"{named} {past[-1].date}: {found.looked_up} values looked up"
    print(f"{looked_up}; wrong {wrong}; misleading {misleading}", file=sys.stderr)


def _print_score(found: Score, as_json: bool) -> None:
    if as_json:
        print_json(_record(found))
        return
    print(f"looked up   {found.looked_up:,}, not found {found.not_found:,}")
    print(f"wrong       {rate_in_words(found.wrong)}")
    print(f"misleading  {rate_in_words(found.misleading)}")


def _record(found: Score) -> dict[str, Any]:
    rates = {"wrong": found.wrong._asdict(), "misleading": found.misleading._asdict()}
    return {"looked_up": found.looked_up, "not_found": found.not_found, **rates}
