"""Sheets of audits: every one on record is whole, and a misnamed one is refused."""

from __future__ import annotations

import csv
import datetime
import io

import pytest

from flopbook.checks.audit import VERDICTS
from flopbook.checks.lint import lint
from flopbook.data.audits import audit_sheets, joined
from flopbook.errors import DataError
from tests.support.samples import World

FILLED = "entry,quantity,conditions,verdict\na/b,peak,,right\n"


def test_every_sheet_on_record_says_what_was_found_and_where() -> None:
    sheets = audit_sheets()
    assert sheets and all(sheet.date <= datetime.date.today() for sheet in sheets)
    for sheet in sheets:
        for row in csv.DictReader(io.StringIO(sheet.text)):
            is_found = row["verdict"] != "not found"
            assert row["verdict"] in VERDICTS and row["source"] and row["link"], row
            assert bool(row["found"]) == bool(row["read_in"]) == is_found, row
            assert row["note"] or row["verdict"] in ("right", "not found"), row


def test_sheets_come_in_the_order_of_their_days(world: World) -> None:
    for name in ("2026-12-01-seed-3", "2026-02-03-seed-77"):
        world.write(f"accelerators/audits/{name}.csv", FILLED)
    listed = [(str(sheet.date), sheet.seed, sheet.text) for sheet in audit_sheets()]
    assert listed == [("2026-02-03", 77, FILLED), ("2026-12-01", 3, FILLED)]


def test_sheets_joined_keep_every_row_and_say_of_which_audit_it_is(world: World) -> None:
    world.write("accelerators/audits/2026-02-03-seed-7.csv", FILLED)
    later = "entry,quantity,conditions,verdict,note\nc/d,power,,wrong,twice\n"
    world.write("accelerators/audits/2026-12-01-seed-3.csv", later)
    rows = list(csv.DictReader(io.StringIO(joined(audit_sheets()))))
    assert [(row["date"], row["seed"], row["entry"], row["note"]) for row in rows] == [
        ("2026-02-03", "7", "a/b", ""),
        ("2026-12-01", "3", "c/d", "twice"),
    ]
    assert list(rows[0])[:3] == ["date", "seed", "entry"]


def test_without_an_audit_there_is_no_sheet(world: World) -> None:
    world.write("accelerators/prices.yaml", "prices: []\n")
    assert audit_sheets() == ()


@pytest.mark.parametrize("name", ["notes", "2026-13-01-seed-1", "2026-12-01", "x2026-12-01-seed-1"])
def test_a_misnamed_sheet_is_refused_with_its_file(world: World, name: str) -> None:
    world.write(f"accelerators/audits/{name}.csv", FILLED)
    with pytest.raises(DataError, match=f"{name}.csv:1:1: audit: found the name {name}"):
        audit_sheets()
    (message,) = (str(problem) for problem in lint() if f"{name}.csv" in problem.file)
    assert "file: found" in message and "such as 2026-11-23-seed-2311.csv" in message
