"""What is measured is what is promised.

Two thousand references that pass, and a thousand links that work.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from flopbook.data.references import read_references
from scripts.bench import library as benchlibrary
from tests.support.samples import write


def test_the_references_that_are_measured_are_sound(tmp_path: Path) -> None:
    """As many as asked for, each once, in files that the reader takes without a problem."""
    for number, text in enumerate(benchlibrary.reference_files(120)):
        write(tmp_path / f"{number}.bib", text)
    works = read_references(tmp_path)
    assert len(works) == 120 and len({work.title for work in works.values()}) == 120


def test_the_measures_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchlibrary, "LINKS", 20)
    monkeypatch.setattr(benchlibrary, "ENTRIES", 30)
    for name in [name for name in os.environ if re.fullmatch(r"(?i)\w+_proxy", name)]:
        monkeypatch.delenv(name)
    assert len(benchlibrary.link_times(1)) == 1
    assert len(benchlibrary.reference_times(2, {**os.environ, "FLOPBOOK_CACHE": ""})) == 2
