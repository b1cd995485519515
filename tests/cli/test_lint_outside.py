"""`flopbook lint FILE` of a file that no check looks at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("options", [[], ["--fix"]])
def test_a_file_outside_the_library_is_not_called_free_of_problems(
    fails: Callable[..., str], tmp_path: Path, options: list[str]
) -> None:
    """It was: `no problems`, though nothing had read it."""
    file = tmp_path / "chip.yaml"
    file.write_text("id: acme/x1\nclaims: 7\n", encoding="utf-8")
    said = fails("lint", *options, str(file))
    assert said.startswith(f"{file} lies outside ")
    assert said.endswith("put it there, or name the folder of your data by FLOPBOOK_DATA")
    assert file.read_text(encoding="utf-8") == "id: acme/x1\nclaims: 7\n"


def test_a_link_that_leads_outside_is_outside(
    fails: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chip.yaml"
    file.touch()
    monkeypatch.chdir(tmp_path)
    assert "lies outside" in fails("lint", "chip.yaml")
