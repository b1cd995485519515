"""Audits: a sample of shown values to look up anew, and the error rate that verdicts give.

A checker gets conditions and source of each value, not the value itself: who has read a number
finds it again too easily. So a locator loses the numbers that would give the value away.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import random
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flopbook.data.audits import audit_sheets
from flopbook.data.claims import Claim
from flopbook.data.library import load_entries, reference
from flopbook.data.sheets import csv_safe
from flopbook.errors import FlopbookError, shorten
from flopbook.hardware.shown import chosen_claims
from flopbook.quantities.units import percent

VERDICTS = ("right", "misleading", "wrong", "not found")
COLUMNS = ("entry", "quantity", "conditions", "unit", "source", "link", "place", "verdict", "note")
HIDDEN = "..."
# Numbers of their own: neither those of names, such as H200, nor those of tables and notes.
_NUMBER = re.compile(r"(?i)(?<![\w.])(?<!table )(?<!note )(?<!section )\d[\d,.]*(?:e\d+)?")
_NUMBER_OR_WORD = re.compile(
    _NUMBER.pattern + r"|\b(?:one|two|three|four|five|six|eight|twelve|sixteen)\b"
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")  # neither a version nor a word
_SMALLEST_TOTAL = 100  # smaller numbers count pages, columns and parts
_Z = 1.959964  # 97.5 % quantile of the normal distribution, for intervals of 95 %


class AuditedValue(NamedTuple):
    """A value that pages and commands show for an entry."""

    entry: str
    claim: Claim

    @property
    def conditions(self) -> str:
        """What the value holds for, in words."""
        named = self.claim.conditions | {"per": self.claim.per}
        return ", ".join(f"{name} {word}" for name, word in named.items() if word)

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the value from all others of the sheet."""
        return self.entry, self.claim.field, self.conditions


class ErrorRate(NamedTuple):
    """A share of audited values with its 95 % interval (Wilson's, which holds for few cases)."""

    cases: int
    share: float
    low: float
    high: float


class Score(NamedTuple):
    """What the verdicts of an audit say; what was not found counts in no rate."""

    looked_up: int
    not_found: int
    wrong: ErrorRate
    misleading: ErrorRate


class Audit(NamedTuple):
    """An audit on record: its day, the seed of its sample, and what it found."""

    date: datetime.date
    seed: int
    score: Score


def shown_values() -> list[AuditedValue]:
    """All numbers that are shown of accelerators, one for each quantity, in a fixed order."""
    values = []
    for entry in load_entries().values():
        chosen = chosen_claims(entry)
        for claim in entry.claims:
            if id(claim) in chosen and isinstance(claim.value, (int, float)):
                values.append(AuditedValue(entry.id, claim))
    return sorted(values, key=lambda shown: (shown.key, shown.claim.source))


def drawn(number: int, seed: int) -> list[AuditedValue]:
    """A sample without repetition; the same seed draws the same from the same data.

    Raises FlopbookError where more are asked for than there are.
    """
    values = shown_values()
    if number > len(values):
        raise FlopbookError(f"--sample {number:,} is more than the {len(values):,} values shown")
    return random.Random(seed).sample(values, number)


def sheet(values: Iterable[AuditedValue], *, with_values: bool = False) -> str:
    """A table in CSV for a checker, who fills in the verdict and a note."""
    columns = (*COLUMNS, "value") if with_values else COLUMNS
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for shown in values:
        writer.writerow({name: csv_safe(text) for name, text in _row(shown).items()})
    return out.getvalue()


def _row(shown: AuditedValue) -> dict[str, str]:
    claim = shown.claim
    return {
        "entry": shown.entry,
        "quantity": claim.field,
        "conditions": shown.conditions,
        "unit": claim.unit,
        "source": claim.source,
        "link": reference(claim.source).link,
        # A quote holds the value.
        "place": blind_place(claim.locator, claim.value) or "a quoted passage",
        "verdict": "",
        "note": "",
        "value": f"{claim.value:.10g}" if isinstance(claim.value, (int, float)) else "",
    }


def blind_place(locator: str, value: object) -> str:
    """Where to look, without the numbers that tell the value or stand behind a colon."""
    head, colon, tail = locator.rpartition(": ")

    def hide(number: re.Match[str]) -> str:
        return HIDDEN if _tells(number.group(), value) else number.group()

    return _NUMBER.sub(hide, head) + colon + _NUMBER_OR_WORD.sub(HIDDEN if colon else hide, tail)


def _tells(number: str, value: object) -> bool:
    """Whether a printed number is the value, in any unit, or a multiple such as that of a rack."""
    if not isinstance(value, (int, float)):
        return False
    if _digits(number) == _digits(f"{value:.10g}"):
        return True
    plain = number.replace(",", "").rstrip(".")
    if value <= 0 or not _DECIMAL.fullmatch(plain):
        return False
    total = float(plain)
    return total >= _SMALLEST_TOTAL and (total / value).is_integer()


def _digits(number: str) -> str:
    """The figures that a number keeps in any unit: 1.2e12, 1,200 and 1.2 have the same."""
    return number.lower().partition("e")[0].replace(",", "").replace(".", "").strip("0")


def audits() -> tuple[Audit, ...]:
    """All audits on record, the oldest first.

    Their values need not be shown any more: those that were wrong have been mended. Raises
    FlopbookError as `score` does.
    """
    return tuple(
        Audit(sheet.date, sheet.seed, _scored(sheet.text, None)) for sheet in audit_sheets()
    )


def pooled(scores: Iterable[Score]) -> Score:
    """Several audits counted as one, of samples drawn apart. Raises ValueError without any.

    A value that two samples hold counts twice, as often as it was looked up.
    """
    of_each = tuple(scores)
    looked_up = sum(of_one.looked_up for of_one in of_each)
    if not looked_up:
        raise ValueError("no audit to pool")
    return Score(
        looked_up,
        sum(of_one.not_found for of_one in of_each),
        rate(sum(of_one.wrong.cases for of_one in of_each), looked_up),
        rate(sum(of_one.misleading.cases for of_one in of_each), looked_up),
    )


def score(text: str) -> Score:
    """What a filled sheet says.

    Raises FlopbookError with line and words for a sheet that lacks columns, an unknown verdict, a
    verdict that is left open, and a value that is not shown (any more).
    """
    return _scored(text, {shown.key for shown in shown_values()})


def check_form(text: str) -> None:
    """Raise FlopbookError, as `score` does, for a sheet that cannot be counted.

    Its values may be shown no more.
    """
    _scored(text, None)


def _scored(text: str, known: set[tuple[str, str, str]] | None) -> Score:
    rows = csv.DictReader(io.StringIO(text))
    try:
        missing = {"entry", "quantity", "conditions", "verdict"} - set(rows.fieldnames or ())
    except csv.Error as error:
        raise FlopbookError(f"line 1: {shorten(error)}") from None
    if missing:
        raise FlopbookError(f"the sheet has no column {' and '.join(sorted(missing))}")
    try:
        verdicts = [_verdict(row, rows.line_num, known) for row in rows]
    except csv.Error as error:
        raise FlopbookError(f"line {rows.line_num}: {shorten(error)}") from None
    looked_up = sum(verdict != "not found" for verdict in verdicts)
    if not looked_up:
        raise FlopbookError("the sheet has no value that was found; nothing to count")
    return Score(
        looked_up,
        len(verdicts) - looked_up,
        rate(verdicts.count("wrong"), looked_up),
        rate(verdicts.count("misleading"), looked_up),
    )


def _verdict(row: Mapping[str, str], line: int, known: set[tuple[str, str, str]] | None) -> str:
    key = (row["entry"] or "", row["quantity"] or "", (row["conditions"] or "").removeprefix("'"))
    if known is not None and key not in known:
        raise FlopbookError(f"line {line}: {shorten(' '.join(key))} is not shown (any more)")
    verdict = (row["verdict"] or "").strip().lower()
    if verdict not in VERDICTS:
        written = f"'{shorten(verdict)}'" if verdict else "no verdict"
        raise FlopbookError(f"line {line}: found {written}, expected {', '.join(VERDICTS)}")
    return verdict


def rate(cases: int, of: int) -> ErrorRate:
    """A share with Wilson's score interval of 95 %, as shares (1)."""
    share = cases / of
    weight = _Z**2 / of
    middle = (share + weight / 2) / (1 + weight)
    half = _Z * math.sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    return ErrorRate(cases, share, max(0.0, middle - half), min(1.0, middle + half))


def rate_in_words(rate: ErrorRate) -> str:
    """`1, 0.5 % (95 % interval 0.1 to 2.8 %)`."""
    interval = f"95 % interval {100 * rate.low:.1f} to {percent(rate.high, 1)}"
    return f"{rate.cases:,}, {percent(rate.share, 1)} ({interval})"
