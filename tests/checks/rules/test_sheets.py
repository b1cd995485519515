"""Sheets of audits are read by lint too: a broken one stopped the build with a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flopbook.checks.rules import sheets, stray
from flopbook.checks.rules.base import Holdings
from flopbook.cli.app import run
from flopbook.data.files import confine
from flopbook.data.library import library

HEAD = b"entry,quantity,conditions,verdict\n"
SOUND = HEAD + b"acme/one,peak,,right\n"


def problems(folder: Path) -> list[str]:
    holdings = Holdings(library=library(), accelerators=folder)
    return [str(finding.problem) for finding in sheets.check(holdings)]


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """The place of a sheet in a confined folder of accelerators."""
    confine(tmp_path)
    (tmp_path / "audits").mkdir()
    return tmp_path / "audits" / "2026-11-22-seed-9.csv"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe", "utf-8"),
        (b"", "no column"),
        (HEAD + b"acme/one,peak,,maybe\n", "line 2: found 'maybe'"),
        (HEAD + b"acme/one\n", "line 2: found no verdict"),
        (HEAD + b'"' + b"x" * 200_000 + b'",,,right\n', "line 1: field larger than"),
        (b'"' + b"x" * 200_000 + b'"\n', "line 1: field larger than"),
        (HEAD, "nothing to count"),
    ],
)
def test_a_sheet_that_cannot_be_counted_is_found(content: bytes, told: str, sheet: Path) -> None:
    sheet.write_bytes(content)
    (message,) = problems(sheet.parents[1])
    assert "2026-11-22-seed-9.csv:1:1: audit: " in message and told in message


def test_a_sheet_is_a_plain_file(sheet: Path) -> None:
    os.mkfifo(sheet)
    assert "found a pipe" in problems(sheet.parents[1])[0]
    sheet.unlink()
    sheet.symlink_to("/dev/zero")
    assert "found a symbolic link" in problems(sheet.parents[1])[0]


def test_a_sound_sheet_is_left(sheet: Path) -> None:
    sheet.write_bytes(SOUND)
    assert problems(sheet.parents[1]) == []


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ('"=HYPERLINK(""https://evil.example"")"', "audit"),
        ("+1+cmd|' /C calc'!A0", "audit"),
        ("-2+3", "audit"),
        ("@SUM(1)", "audit"),
        ("\t=1", "audit"),
        ("\uff1d1+1", "audit"),
        ("<script>attacked()</script>", "markup"),
        ("{{ attacked }}", "markup"),
        ("\x1b[2J", "control-character"),
        ("\u202eevil", "control-character"),
        ("x" * 2000, "audit"),
    ],
)
def test_cells_are_text_that_nothing_runs(cell: str, rule: str, sheet: Path) -> None:
    """Whatever stood in a note was merged, and waited for a spreadsheet."""
    head = HEAD.replace(b"\n", b",note\n")
    sheet.write_bytes(head + b"acme/one,peak,,right," + cell.encode() + b"\n")
    messages = problems(sheet.parents[1])
    assert messages and all(f":2:1: {rule}: " in message for message in messages)
    assert all(message.isprintable() and len(message) < 400 for message in messages)


@pytest.mark.parametrize("cell", ["-5", "+3.5 %", "'=1+1", "a = b", "-1,200 GB/s", ""])
def test_numbers_and_quoted_formulas_are_left(cell: str, sheet: Path) -> None:
    head = HEAD.replace(b"\n", b",note\n")
    sheet.write_bytes(head + f'acme/one,peak,,right,"{cell}"\n'.encode())
    assert problems(sheet.parents[1]) == []


def test_a_filled_sheet_in_another_encoding_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended with a traceback."""
    (tmp_path / "filled.csv").write_bytes(b"entry\xff")
    assert run(["audit", "--score", str(tmp_path / "filled.csv")]) == 2
    assert "is not UTF-8 text" in capsys.readouterr().err


def test_no_names_of_a_linked_folder_are_told(tmp_path: Path) -> None:
    """Lint listed every file of /etc where a folder of a vendor was a link to it."""
    (tmp_path / "accelerators").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.key").write_text("x")
    (tmp_path / "accelerators" / "acme").symlink_to("../elsewhere")
    holdings = Holdings(
        library=library(), accelerators=tmp_path / "accelerators", docs=tmp_path / "docs"
    )
    messages = [str(finding.problem) for finding in stray.check(holdings)]
    assert len(messages) == 1 and "a symbolic link" in messages[0] and "secret" not in messages[0]
