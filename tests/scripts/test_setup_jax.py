"""The set-up of JAX: what is wanted, what is there, what happens where it cannot be installed.

Nothing is fetched.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import jax_environment, setup_jax
from scripts.setup_env import SetupError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two locks, no environment yet, and a pip that installs nothing."""
    (tmp_path / "requirements").mkdir()
    for name in ("lock", "jax"):
        (tmp_path / "requirements" / f"{name}.txt").write_text("")
    monkeypatch.setattr(setup_jax, "ROOT", tmp_path)
    monkeypatch.setattr(setup_jax, "run_logged", lambda command, log: None)
    monkeypatch.delenv(jax_environment.VARIABLE, raising=False)
    return tmp_path


def unreachable(command: list[str], log: str) -> None:
    """A pip without a network."""
    raise SetupError("no matching distribution")


def test_it_is_made_once_and_again_when_a_lock_changes(root: Path) -> None:
    assert jax_environment.interpreter(root) is None
    assert setup_jax.set_up(root) and not setup_jax.set_up(root)
    assert jax_environment.interpreter(root) == root / ".venv-jax" / "bin" / "python"
    for name in ("lock", "jax"):
        (root / "requirements" / f"{name}.txt").write_text("changed")
        assert jax_environment.interpreter(root) is None
        assert setup_jax.set_up(root) and not setup_jax.set_up(root)


def test_its_python_sees_the_packages_of_the_one_that_made_it(root: Path) -> None:
    setup_jax.set_up(root)
    words = "import sys, flopbook, ipykernel, matplotlib; print(sys.prefix)"
    done = subprocess.run(
        [str(jax_environment.interpreter(root)), "-c", words],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
    )
    assert Path(done.stdout.strip()) == root / ".venv-jax" != Path(sys.prefix)


def test_pip_gets_the_lock_with_hashes_and_wheels_only(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(setup_jax, "run_logged", lambda command, log: asked.append(command))
    setup_jax.set_up(root)
    (command,) = asked
    assert command[command.index("--python") + 1] == str(root / ".venv-jax" / "bin" / "python")
    assert {
        "--require-hashes",
        "--no-deps",
        "--only-binary",
        str(root / "requirements" / "jax.txt"),
    } <= set(command)


@pytest.mark.parametrize("text", ["", "[]", "{", "{}"])
def test_a_spoilt_stamp_counts_as_none(root: Path, text: str) -> None:
    setup_jax.set_up(root)
    (jax_environment.folder(root) / jax_environment.STAMP).write_text(text)
    assert jax_environment.interpreter(root) is None


def test_a_stamp_without_python_counts_as_none(root: Path) -> None:
    jax_environment.folder(root).mkdir()
    (jax_environment.folder(root) / jax_environment.STAMP).write_text(
        json.dumps(jax_environment.wanted_state(root))
    )
    assert jax_environment.interpreter(root) is None


def test_what_cannot_be_installed_is_not_tried_at_each_build(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup_jax, "run_logged", unreachable)
    assert setup_jax.main([]) == 0
    first = capsys.readouterr().err
    assert (
        "no matching distribution" in first and "after 3.13" in first and "FLOPBOOK_JAX=0" in first
    )
    assert setup_jax.main([]) == 0
    assert (
        capsys.readouterr().err
        == "set-up: JAX could not be installed before; `make jax` tries again\n"
    )
    assert jax_environment.interpreter(root) is None
    (root / "requirements" / "jax.txt").write_text("another version")
    assert setup_jax.main([]) == 0 and "no matching distribution" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "wish"), [(["--run"], ""), (["--run"], "0"), ([], "1")], ids=str)
def test_who_insists_gets_an_error(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    wish: str,
) -> None:
    monkeypatch.setattr(setup_jax, "run_logged", unreachable)
    monkeypatch.setenv(jax_environment.VARIABLE, wish)
    for _ in range(2):
        assert setup_jax.main(words) == 2
        assert "no matching distribution" in capsys.readouterr().err


def test_who_does_not_want_it_does_not_get_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jax_environment.VARIABLE, "0")
    assert setup_jax.main([]) == 0 and not jax_environment.folder(root).exists()


@pytest.mark.parametrize("value", ["yes", "2", " "])
def test_another_wish_is_refused_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    monkeypatch.setenv(jax_environment.VARIABLE, value)
    assert setup_jax.main([]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"set-up: FLOPBOOK_JAX is '{value}'") and error.count("\n") == 1
    assert not jax_environment.folder(root).exists()
