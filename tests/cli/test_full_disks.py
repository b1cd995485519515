"""A disk without room: the message names the file, or the folder, that could not be written."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from flopbook.changes import revisions
from flopbook.errors import FlopbookError
from flopbook.planning.study import answer
from flopbook.planning.study_journal import opened

_CASE = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "8", "batch_tokens": "256Ki"}


def test_a_journal_on_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said `system: No space left on device`, and again on closing."""
    (tmp_path / "finished.jsonl").touch()
    full = Path("/dev/full").open("ab")  # noqa: SIM115  # closed by the journal
    monkeypatch.setattr("flopbook.planning.study_journal.open_to_grow", lambda _: full)
    message = "finished.jsonl was not written: No space left on device; the cases before are kept"
    with pytest.raises(FlopbookError, match=message), opened(tmp_path) as journal:
        journal.add("one", answer(_CASE, 1))


def test_diff_names_the_folder_for_what_it_puts_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(FlopbookError, match=r"cannot be written in /.*: No space left.*TMPDIR"):
        revisions.extracted(Path(__file__).parents[2], "HEAD", tmp_path)
