"""Journals: nothing finished is lost, and what no plan wrote is asked again."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import Library, using
from flopbook.errors import FlopbookError
from flopbook.planning import study_journal
from flopbook.planning.study import Answer, answer, made_with
from tests.support.studies import CASES


def _line_with(name: str, answered: Answer, **changes: Any) -> bytes:
    return json.dumps({"name": name, **answered._asdict(), **changes}).encode() + b"\n"


def _of_layout(answered: Answer, **changes: Any) -> dict[str, Any]:
    return {"layouts": [{**answered.layouts[0], **changes}]}


HOSTILE_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"seconds": math.nan},
    {"seconds": math.inf},
    {"seconds": -1.0},
    {"seconds": 10**400},
    {"bytes": 10**400},
    {"high": 10**400},
    {"seconds": "1"},
    {"seconds": True},
    {"seconds": [1]},
    {"low": 1e300},
    {"mfu": None},
    {"tp": "=cmd()"},
    {"tp": -1},
    {"tp": 1.5},
    {"schedule": "\x1b[2J"},
    {"schedule": "\ud800"},
    {"schedule": "x" * 10_000},
    {"more": 1},
)


def test_lines_that_no_plan_wrote_are_asked_again(tmp_path: Path, alone: dict[str, Answer]) -> None:
    """They ended every later run with a traceback, or put what is no number into the results."""
    name, good = next((name, one) for name, one in alone.items() if one.layouts)
    refused = next(one for one in alone.values() if not one.layouts)
    lines = [_line_with(name, good, **_of_layout(good, **change)) for change in HOSTILE_LAYOUTS]
    lines += [
        *(_line_with(name, good, layouts=odd) for odd in ([1], "abc", [[1]], [None], 5, {}, [])),
        *(_line_with(name, good, considered=odd) for odd in ({}, -1, "1", 10**400, None, True)),
        *(_line_with(name, refused, problem=odd) for odd in (5, "", "\x1b[2J", "x" * 10_000)),
        *(_line_with(odd, good) for odd in (["a"], {}, None, 1)),
        _line_with(name, good, more=1),
        b"[" * 200_000 + b"\n",
        b'{"a":' * 100_000 + b"\n",
        b'{"name": ' + b"9" * 5000 + b"}\n",
    ]
    path = tmp_path / study_journal.NAME
    for line in lines:
        path.write_bytes(line)
        with study_journal.opened(tmp_path) as journal:
            assert journal.answers == {}, line[:200]
    path.write_bytes(_line_with(name, good))
    with study_journal.opened(tmp_path) as journal:
        assert journal.answers == {name: good}


def test_a_journal_keeps_what_is_finished(tmp_path: Path, alone: dict[str, Answer]) -> None:
    """Of a line that was torn, of other parameters, or of nonsense the case is asked again."""
    folder = tmp_path / "results"
    with study_journal.opened(folder) as journal:
        for name, found in alone.items():
            journal.add(name, found)
    path = folder / study_journal.NAME
    with study_journal.opened(folder) as journal:
        assert journal.answers == alone
    whole = path.read_bytes()
    other = json.dumps({"name": "x", **answer({}, 1)._replace(made_with="0")._asdict()})
    path.write_bytes(b"nonsense\n[1]\n" + other.encode() + b"\n" + whole[:-20])
    with study_journal.opened(folder) as journal:
        assert journal.answers == dict(itertools.islice(alone.items(), CASES - 1))
        last = list(alone)[-1]
        journal.add(last, alone[last])
    with study_journal.opened(folder) as journal:
        assert journal.answers == alone


def test_answers_of_other_data_are_not_taken_for_ours(
    tmp_path: Path, alone: dict[str, Answer]
) -> None:
    """A chip whose numbers were mended is planned again."""
    root = Path(__file__).resolve().parents[2]
    for folder in ("accelerators", "bibliography", "calculators"):
        skip = shutil.ignore_patterns("flopbook", "__pycache__")
        shutil.copytree(root / folder, tmp_path / "data" / folder, ignore=skip)
    before = made_with()
    with using(Library(tmp_path / "data")):
        assert made_with() == before
    chip = tmp_path / "data" / "accelerators" / "nvidia" / "b200.yaml"
    chip.write_text(chip.read_text("utf-8") + "\n# mended\n", encoding="utf-8")
    name, found = next(iter(alone.items()))
    with study_journal.opened(tmp_path / "results") as journal:
        journal.add(name, found)
    with using(Library(tmp_path / "data")):
        assert made_with() != before
        with study_journal.opened(tmp_path / "results") as journal:
            assert journal.answers == {}
    with study_journal.opened(tmp_path / "results") as journal:
        assert journal.answers == {name: found}


def test_two_studies_do_not_write_one_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        study_journal.opened(tmp_path),
        pytest.raises(FlopbookError, match="another study writes"),
        study_journal.opened(tmp_path),
    ):
        pytest.fail("the second study was let in")
    with study_journal.opened(tmp_path) as journal:
        assert journal.answers == {}


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file", encoding="utf-8")
    with (
        pytest.raises(FlopbookError, match="was not written"),
        study_journal.opened(taken / "below"),
    ):
        pytest.fail("a file is no folder")


@pytest.mark.parametrize("kind", ["a symbolic link", "a pipe", "a folder"])
def test_a_journal_is_a_regular_file(kind: str, tmp_path: Path) -> None:
    """A pipe would wait for a reader for ever, and a link would fill what it leads to."""
    path, elsewhere = tmp_path / "results" / study_journal.NAME, tmp_path / "elsewhere"
    path.parent.mkdir()
    make: dict[str, Callable[[], None]] = {
        "a symbolic link": lambda: path.symlink_to(elsewhere),
        "a pipe": lambda: os.mkfifo(path),
        "a folder": path.mkdir,
    }
    make[kind]()
    with (
        pytest.raises(FlopbookError, match=f"was not written: it is {kind}; nothing was written"),
        study_journal.opened(path.parent),
    ):
        pytest.fail("it was opened")
    assert not elsewhere.exists()
