"""What is said of very long names and of very many mistakes stays short."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from flopbook.changes.exported import exported
from flopbook.cli import studying
from flopbook.cli.app import run
from flopbook.cli.checking import MOST_OF_FILE, _lines
from flopbook.errors import MOST_TOLD, DataError, FlopbookError, Problem

RUN = ("--chip", "h100-sxm", "--chips", "8", "--batch-tokens", "1Mi")


@pytest.mark.parametrize("name", ["x" * 5000, "a b " * 1250, "y/" * 2000 + "z" * 300])
@pytest.mark.parametrize(
    "words",
    [
        ("params", "--config", "{}"),
        ("predict", "--config", "{}", *RUN),
        ("study", "{}"),
        ("export", "/nowhere/{}"),
        ("new", "vendor", "{}"),
    ],
)
def test_a_long_name_is_said_in_part(
    words: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([word.replace("{}", name) for word in words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and len(said) < 2100


def test_unknown_options_of_a_file_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with 20,000 of them printed 20,000 lines."""
    path = tmp_path / "study.yaml"
    path.write_text("".join(f"option-{number}: 1\n" for number in range(900)), encoding="utf-8")
    assert run(["study", str(path)]) == 2
    *told, last = capsys.readouterr().err.splitlines()
    assert len(told) == MOST_TOLD and last == "and 854 more problems"


def test_lint_prints_so_many_problems_of_a_file() -> None:
    problems = [Problem("b.yaml", n, 1, "rule", "it", "that", "mend") for n in range(350)]
    problems.insert(0, Problem("a.yaml", 1, 1, "rule", "it", "that", "mend"))
    lines = list(_lines(problems, str))
    assert len(lines) == 1 + MOST_OF_FILE + 1
    assert lines[-1] == "b.yaml: 250 more problems; --json has them all"


def test_an_error_of_few_problems_tells_all() -> None:
    problems = [Problem("a", n, 1, "rule", "it", "that", "mend") for n in range(MOST_TOLD)]
    assert "more problems" not in str(DataError(problems))
    assert len(DataError([*problems, problems[0]._replace(line=99)]).problems) == MOST_TOLD + 1


def test_progress_of_a_study_needs_no_error_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studying.sys, "stderr", None)
    studying._Progress(2, 0).end()


def test_a_table_of_an_exported_folder_is_a_file(tmp_path: Path) -> None:
    """A pipe among them kept `diff` waiting for ever."""
    for name in ("accelerators", "models", "claims", "references"):
        (tmp_path / f"{name}.json").write_text("[]")
    os.mkfifo(tmp_path / "vendors.json")
    with pytest.raises(FlopbookError, match="is no folder that flopbook export wrote"):
        exported(tmp_path)
    os.unlink(tmp_path / "vendors.json")
    (tmp_path / "vendors.json").write_text("[" * 100_000)
    with pytest.raises(FlopbookError, match="RecursionError"):
        exported(tmp_path)


def test_a_mended_file_drives_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from flopbook.cli import checking

    fixed = SimpleNamespace(file="a\x1b[2J.yaml", changes=("dates",))
    monkeypatch.setattr("flopbook.checks.fixes.fix", lambda _: [fixed])
    assert checking._mend([Path("a.yaml")]) == ["mended a\\x1b[2J.yaml: dates"]
