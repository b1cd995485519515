"""`audit`: draw shown values for a checker, and count what the verdicts say."""

from __future__ import annotations

from pathlib import Path

from flopbook.checks.audit import ErrorRate, Score, drawn, score, sheet
from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.files import read_text
from flopbook.errors import printable, shorten

_MOST_BYTES = 10_000_000


@command(
    "audit",
    Option("--sample", "sample", "Values to draw (default: 100).", "N"),
    Option("--seed", "seed", "The same seed draws the same values (default: 1).", "N"),
    Option("--with-values", "with_values", "Print the values too: no longer a blind audit."),
    Option("--score", "filled", "Count the verdicts of a filled sheet instead.", "FILE"),
)
def audit_command(
    sample: str | None,
    seed: str | None,
    with_values: bool,
    filled: str | None,
    as_json: bool,
) -> None:
    """Draw shown values as a sheet to look them up anew, or give the error rate of a filled one.

    The sheet is CSV: look each value up at its source and write right, misleading, wrong or
    not found under verdict.

    Example: flopbook audit --sample 200 --seed 7
    """
    if filled is not None:
        if sample or seed or with_values:
            raise UsageError("--score takes a filled sheet; it does not go with --sample or --seed")
        _print_score(score(read_text(Path(filled), _MOST_BYTES)), as_json)
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


def _count(option: str, text: str | None, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and int(text) > 0):
        raise UsageError(f"{option}: '{printable(shorten(text))}' is no count; write {default}")
    return int(text)


def _print_score(found: Score, as_json: bool) -> None:
    if as_json:
        rates = {"wrong": found.wrong._asdict(), "misleading": found.misleading._asdict()}
        print_json({"looked_up": found.looked_up, "not_found": found.not_found, **rates})
        return
    print(f"looked up   {found.looked_up:,}, not found {found.not_found:,}")
    print(f"wrong       {_in_words(found.wrong)}")
    print(f"misleading  {_in_words(found.misleading)}")


def _in_words(rate: ErrorRate) -> str:
    interval = f"95 % interval {100 * rate.low:.1f} to {100 * rate.high:.1f} %"
    return f"{rate.cases:,}, {100 * rate.share:.1f} % ({interval})"
