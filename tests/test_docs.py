"""The documents print what the commands print, and prose types no hardware numbers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from flopbook.cli.app import run

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
QUOTED = re.compile(r'```python title="([^"]+)"\n(.*?)```', re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def sessions() -> list[tuple[str, str, str]]:
    """Document, command and output of every console block with a flopbook command."""
    found = []
    for path in DOCUMENTS:
        for block in CONSOLE.findall(path.read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if command.startswith("flopbook ") and output.strip() and "{{" not in output:
                    found.append((path.name, command, output))
    return found


@pytest.mark.parametrize(("document", "command", "output"), sessions())
def test_printed_output_is_real(
    document: str,
    command: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A console block shows what the command prints today, in a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(shlex.split(command)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == output.rstrip(
        "\n"
    ).splitlines()


def test_readme_shows_one_calculator_and_stays_one_screen() -> None:
    """The README is one screen: what it is, the two commands, real output."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50
    assert any(document == "README.md" for document, _, _ in sessions())


def quotations() -> list[tuple[str, str]]:
    """File and text of every block of our code that a page of prose quotes."""
    return [
        quoted for path in DOCUMENTS for quoted in QUOTED.findall(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("file", "block"), quotations())
def test_quoted_code_is_in_its_file(file: str, block: str) -> None:
    """Line by line: a quotation may leave lines out."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    places = [lines.index(line) for line in block.splitlines()]
    assert places == sorted(places)


def test_the_picture_of_the_readme_is_what_the_command_draws(tmp_path: Path) -> None:
    """The one picture that is kept: a page on a code host cannot run the command that draws it."""
    drawn = tmp_path / "drawn.svg"
    assert run(["roofline", "--chip", "h100-sxm", "--plot", str(drawn)]) == 0
    kept = ROOT / "docs" / "assets" / "readme.svg"
    assert kept.read_text(encoding="utf-8") == drawn.read_text(encoding="utf-8")
    assert "docs/assets/readme.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
