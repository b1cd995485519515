"""`audit`: draw shown values for a checker, and count what the verdicts say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from flopbook.checks.audit import Score, drawn, last_audit, rate_in_words, score, sheet
from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.files import read_text
from flopbook.errors import FlopbookError, printable, shorten

_MOST_BYTES = 10_000_000


@command(
    "audit",
    Option("--sample", "sample", "Values to draw (default: 100).", "N"),
    Option("--seed", "seed", "The same seed draws the same values (default: 1).", "N"),
    Option("--with-values", "with_values", "Print the values too: no longer a blind audit."),
    Option("--score", "filled", "Count the verdicts of a filled sheet instead.", "FILE"),
    Option("--last", "last", "Give the error rate of the last audit on record."),
)
def audit_command(
    sample: str | None,
    seed: str | None,
    with_values: bool,
    filled: str | None,
    last: bool,
    as_json: bool,
) -> None:
    """Draw shown values as a sheet to look them up anew, or give the error rate of a filled one.

    The sheet is CSV: look each value up at its source and write right, misleading, wrong or
    not found under verdict.

    Example: flopbook audit --sample 200 --seed 7
    """
    if filled is not None:
        if sample or seed or with_values or last:
            raise UsageError("--score takes a filled sheet; it does not go with other options")
        _print_score(score(_sheet(filled)), as_json)
        return
    if last and (sample or seed or with_values):
        raise UsageError("--last tells of the audit on record; it does not go with other options")
    if last:
        _print_last(as_json)
        return
    values = drawn(_count("--sample", sample, 100), _count("--seed", seed, 1))
    if as_json:
        print_json(
            [
                {"entry": entry, "quantity": claim.field, "line": claim.place}
                for entry, claim in values
            ]
        )
        return
    print(sheet(values, with_values=with_values), end="")
    _tell_last()


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
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and int(text) > 0):
        raise UsageError(f"{option}: '{printable(shorten(text))}' is no count; write {default}")
    return int(text)


def _print_last(as_json: bool) -> None:
    last = last_audit()
    if last is None:
        raise FlopbookError("no audit is on record; fill a sheet of flopbook audit")
    if as_json:
        print_json({"date": str(last.date), "seed": last.seed, **_record(last.score)})
        return
    print(f"audit of    {last.date}, seed {last.seed}")
    _print_score(last.score, as_json=False)


def _tell_last() -> None:
    """On standard error what to expect, so that the sheet can be redirected into a file."""
    last = last_audit()
    if last is None:
        return
    wrong, misleading = rate_in_words(last.score.wrong), rate_in_words(last.score.misleading)
    looked_up = f"{last.score.looked_up} values looked up"
    print(
        f"last audit, {last.date}: {looked_up}; wrong {wrong}; misleading {misleading}",
        file=sys.stderr,
    )


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
