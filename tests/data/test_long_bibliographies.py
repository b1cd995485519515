"""Bibliographies of the largest size that is read: each part of a text is looked at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.bibtex_scan import headings, tiers
from flopbook.data.bibtex_text import pieces
from flopbook.data.references import read_bib

_LONGEST_S = 20.0  # of processor time; what is read anew for each entry takes minutes
_LINE = f"{'z' * 99}\n"


def _entries(number: int, indent: str = "") -> str:
    return "".join(f"{indent}@misc{{a{index},}}\n" for index in range(number))


@pytest.mark.parametrize(
    "text",
    [
        _LINE * 42_000 + _entries(30_000),
        _LINE * 42_000 + _entries(30_000, "x "),
        _entries(30_000, "x ") + _LINE * 42_000,
    ],
    ids=["behind a long text", "inside lines", "before a long text"],
)
def test_places_of_entries_take_one_look(tmp_path: Path, text: str) -> None:
    path = tmp_path / "long.bib"
    path.write_text(text, encoding="utf-8")
    begun = time.process_time()
    entries = list(read_bib(path))
    assert time.process_time() - begun < _LONGEST_S
    assert len(entries) == 30_000
    lines = text.splitlines()
    for entry in (entries[0], entries[-1]):
        assert f"{{{entry.key}," in lines[entry.line - 1]


_LONG: dict[str, tuple[Callable[[str], Iterable[Any]], str]] = {
    "tiers behind signs": (tiers, "@ " * 100_000 + "\ntier = {vendor}," * 20_000),
    "tiers behind entries": (tiers, "@misc{a,}\n" * 50_000 + "tier = {vendor},\n" * 50_000),
    "tiers and signs": (tiers, "@misc{a,}\n" + "tier = {vendor}, @ " * 100_000),
    "headings on one line": (headings, "@misc{a,}" * 200_000),
    "headings without a key": (headings, "@misc{a" + " " * 1_000_000 + "@misc{a"),
    "entries that never close": (pieces, "@misc{a,\n" * 100_000),
    "braces that never close": (pieces, "@misc{a,{{{\n" * 100_000),
}


@pytest.mark.parametrize("case", _LONG)
def test_scans_take_one_look(case: str) -> None:
    look, text = _LONG[case]
    begun = time.process_time()
    for _ in look(text):
        pass
    assert time.process_time() - begun < _LONGEST_S / 2
