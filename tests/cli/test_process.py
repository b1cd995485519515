"""The command as a process: pipes that close, full disks, terminals without letters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import references

CITED = next(key for key, item in references().items() if not item.authors.isascii())
FULL = Path("/dev/full")


def test_the_installed_command_and_the_module_are_the_same(process: Any) -> None:
    script = Path(sysconfig.get_path("scripts")) / "flopbook"
    arguments = ["bubble", "--stages", "8", "--microbatches", "32", "--json"]
    installed = subprocess.run(
        [str(script), *arguments], capture_output=True, text=True, check=False
    )
    module = process(*arguments)
    assert (
        installed.returncode == module.returncode == 0 and installed.stderr == module.stderr == ""
    )
    assert json.loads(installed.stdout) == json.loads(module.stdout)


def test_exit_status_and_streams_of_a_mistake(process: Any) -> None:
    done = process("training-flops", "--params", "70B", "--tokens", "80GB")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("flopbook: --tokens: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_the_letters_does_not_crash(encoding: str, process: Any) -> None:
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    for arguments in (["cite", CITED], ["show", "h100-sxm"], ["show", "\N{SNOWMAN}"]):
        done = process(*arguments, env=environment, errors="replace")
        assert "Traceback" not in done.stderr and done.returncode == (
            2 if "\N{SNOWMAN}" in arguments else 0
        )


def test_json_stays_json_on_a_terminal_without_the_letters(process: Any) -> None:
    done = process("cite", CITED, "--json", env={"PYTHONIOENCODING": "ascii"})
    assert done.stdout.isascii() and not done.stderr
    assert json.loads(done.stdout) == json.loads(
        process("cite", CITED, "--json", env={"PYTHONIOENCODING": "utf-8"}).stdout
    )


def test_a_reader_that_goes_away_is_no_error() -> None:
    """As `flopbook show h100-sxm --json | head -1`."""
    command = [sys.executable, "-m", "flopbook", "show", "h100-sxm", "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_said_in_one_line(process: Any) -> None:
    with FULL.open("w") as full:
        done = process("show", "h100-sxm", "--json", stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("flopbook: ") and done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="closes a stream by its number")
def test_no_output_at_all_is_no_error(process: Any) -> None:
    """As `flopbook bubble ... >&-`."""
    shell = '"$0" -m flopbook bubble --stages 8 --microbatches 32 >&-'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="closes a stream by its number")
@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_a_mistake_that_nobody_can_read_keeps_its_status(where: str) -> None:
    """Nothing of the message lands in the answer."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m flopbook show {where}', sys.executable],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_help_on_a_terminal_without_the_letters(process: Any) -> None:
    done = process(
        "min-batch", "--help", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("Usage: ")


def test_the_command_runs_without_docstrings() -> None:
    """`python -OO` strips them; the commands are still there."""
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "flopbook", "list"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout and not done.stderr


def test_the_folder_in_which_it_runs_does_not_matter(process: Any, tmp_path: Path) -> None:
    done = process("min-batch", "--chip", "h100-sxm", "--json", cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["outputs"]["tokens"]["value"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_cold_command_loads_little(process: Any) -> None:
    """NumPy and the browser's world stay out of a command that looks up one chip."""
    code = (
        "import sys; from flopbook.cli.app import run; "
        "run(['min-batch', '--chip', 'h100-sxm', '--json']); "
        "heavy = {'numpy', 'jinja2', 'jsonschema', 'matplotlib', 'asyncio', 'click'}; "
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
