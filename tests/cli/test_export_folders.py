"""Where an export may go: nothing that somebody else wrote is replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flopbook.changes.exported import is_export
from flopbook.export import tables

_FILES = {"accelerators.json": b"[]\n", "audit.csv": b"id\n", "schema/model.json": b"{}\n"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export of three files: what is tested here is where they go."""
    monkeypatch.setattr(tables, "published", lambda: (dict(_FILES), []))


@pytest.mark.parametrize("name", ["audit.csv", "schema/model.json"])
def test_a_file_of_somebody_else_stays(
    fails: Callable[..., str], tmp_path: Path, name: str
) -> None:
    """A filled sheet of an audit that lay in the folder was replaced without a word."""
    own = tmp_path / name
    own.parent.mkdir(exist_ok=True)
    own.write_text("my verdicts\n", encoding="utf-8")
    assert fails("export", str(tmp_path)) == (
        f"{own} is there and of no earlier export, and would be replaced; "
        "name a folder that is empty or not there"
    )
    assert own.read_text(encoding="utf-8") == "my verdicts\n"
    assert not is_export(tmp_path)


def test_other_files_may_lie_beside_it(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert cli("export", str(tmp_path)).status == 0
    assert is_export(tmp_path)


def test_an_earlier_export_is_replaced_one_that_was_cut_off_too(cli: Any, tmp_path: Path) -> None:
    (tmp_path / next(iter(_FILES))).write_bytes(b"[")
    (tmp_path / "audit.csv").write_bytes(b"old\n")
    assert cli("export", str(tmp_path)).status == 0
    assert {name: (tmp_path / name).read_bytes() for name in _FILES} == _FILES


def test_the_first_file_of_an_export_is_the_one_that_marks_it(tmp_path: Path) -> None:
    from flopbook.export.records import files

    assert not is_export(tmp_path)
    (tmp_path / next(files())[0]).touch()
    assert is_export(tmp_path)
