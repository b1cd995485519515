"""The head of an entry is read with those of its vendor, and is what the whole index has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flopbook.data import vendor_heads
from flopbook.data.index import read_heads
from flopbook.data.library import Library, library, load_head, using
from flopbook.hardware.servers import servers_of
from flopbook.prediction import known_runs


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> tuple[Library, list[str]]:
    """A library of which nothing was read yet, and the vendors whose heads it reads."""
    asked: list[str] = []

    def read(path_of: Any, ids: Sequence[str], vendor: str = "") -> dict[str, Any]:
        asked.append(vendor)
        return read_heads(path_of, ids, vendor)

    monkeypatch.setattr(vendor_heads, "read_heads", read)
    return Library(library().root), asked


def test_the_servers_of_a_chip_need_the_heads_of_its_maker(
    books: tuple[Library, list[str]],
) -> None:
    fresh, asked = books
    with using(fresh):
        found = servers_of("nvidia/h100-sxm")
    assert asked == ["nvidia"] and "heads" not in vars(fresh)
    assert found == servers_of("nvidia/h100-sxm") and found


def test_a_second_vendor_reads_all(books: tuple[Library, list[str]]) -> None:
    fresh, asked = books
    for entry_id in ("nvidia/h100-sxm", "amd/mi300x", "google/tpu-v5p", "nvidia/h200-sxm"):
        with using(fresh):
            head = load_head(entry_id)
        assert head == library().heads[entry_id]
    assert asked == ["nvidia"] and "heads" in vars(fresh)
    fresh.forget()
    with using(fresh):
        assert load_head("amd/mi300x").id == "amd/mi300x"
    assert asked == ["nvidia", "amd"]


def test_kept_runs_are_made_again_when_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "law.py"
    code.write_text("one", encoding="utf-8")
    monkeypatch.setattr(known_runs, "_CODE", tmp_path)
    before = known_runs._state()
    assert known_runs._state() == before
    facts = code.stat()
    os.utime(code, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1_000_000))
    assert known_runs._state() != before
