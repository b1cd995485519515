"""Finding a browser, with a made-up PATH and home; nothing is installed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from scripts import ensure_browser

BROWSER = "#!/bin/sh\necho Chromium 150.0.1\n"
STUB = "#!/bin/sh\necho 'install the snap first' >&2\nexit 1\n"
OTHER = "#!/bin/sh\necho Mozilla Firefox 150.0\n"


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, freshly loaded, with an empty PATH and home and no installer that works."""
    spec = importlib.util.spec_from_file_location(
        "ensure_browser_under_test", ensure_browser.__file__
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FLOPBOOK_CHROMIUM", raising=False)
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.setattr(module, "MAC_APPS", ())
    monkeypatch.setattr(module, "_run", lambda command: False)
    return module


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_nothing_there(browser: ModuleType) -> None:
    assert browser.find_browser() is None


@pytest.mark.parametrize(
    "name",
    [
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ],
)
def test_names_on_path(browser: ModuleType, tmp_path: Path, name: str) -> None:
    path = program(tmp_path / "bin" / name, BROWSER)
    assert browser.find_browser() == path


def test_chromium_comes_before_chrome_and_its_shell_before_both(
    browser: ModuleType, tmp_path: Path
) -> None:
    for name in ("google-chrome", "chromium", "chromium-headless-shell"):
        path = program(tmp_path / "bin" / name, BROWSER)
        assert browser.find_browser() == path


@pytest.mark.parametrize("text", [STUB, OTHER, "not a program"])
def test_a_stub_is_passed_over(browser: ModuleType, tmp_path: Path, text: str) -> None:
    program(tmp_path / "bin" / "chromium", text)
    path = program(tmp_path / "bin" / "google-chrome", BROWSER)
    assert browser.find_browser() == path


def test_variable_comes_first(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "chromium", BROWSER)
    path = program(tmp_path / "own" / "my chrome", BROWSER)
    monkeypatch.setenv("FLOPBOOK_CHROMIUM", str(path))
    assert browser.find_browser() == path


def test_a_wrong_variable_is_an_error_not_a_fallback(
    browser: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program(tmp_path / "bin" / "chromium", BROWSER)
    monkeypatch.setenv("FLOPBOOK_CHROMIUM", str(tmp_path / "missing"))
    assert browser.main([]) == 2
    assert "FLOPBOOK_CHROMIUM is " in capsys.readouterr().err


def test_newest_shell_of_playwrights_cache(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "cache"))
    program(tmp_path / "cache/chromium-1300/chrome-linux/chrome", BROWSER)
    program(tmp_path / "cache/chromium_headless_shell-999/chrome-linux/headless_shell", BROWSER)
    newest = "cache/chromium_headless_shell-1200/chrome-linux/headless_shell"
    path = program(tmp_path / newest, BROWSER)
    assert browser.find_browser() == path


def test_a_whole_browser_of_playwrights_cache_will_do(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    path = program(tmp_path / "chromium-7/chrome-linux64/chrome", BROWSER)
    assert browser.find_browser() == path


@pytest.mark.parametrize("is_known", [True, False])
def test_ci_gets_the_shell_beside_a_whole_browser(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    chrome = program(tmp_path / "bin" / "google-chrome", BROWSER)
    shell = tmp_path / "bin" / "chromium-headless-shell"
    program(tmp_path / "bin" / "apt-get", "#!/bin/sh\n")
    program(tmp_path / "bin" / "apt-cache", f"#!/bin/sh\nexit {int(not is_known)}\n")
    monkeypatch.setattr(browser, "_run", lambda command: bool(program(shell, BROWSER)))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("CI", "false")
    assert browser.ensure_browser() == chrome
    monkeypatch.setenv("CI", "true")
    assert browser.ensure_browser() == (shell if is_known else chrome)


def test_a_named_browser_is_used_on_ci_too(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path / "own" / "google-chrome", BROWSER)
    program(tmp_path / "bin" / "apt-get", "#!/bin/sh\n")
    program(tmp_path / "bin" / "apt-cache", "#!/bin/sh\n")
    monkeypatch.setenv("FLOPBOOK_CHROMIUM", str(path))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(browser, "_run", lambda command: pytest.fail(f"ran {command}"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert browser.ensure_browser() == path


def test_installs_only_when_none_is_found(
    browser: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = program(tmp_path / "bin" / "chromium", BROWSER)
    monkeypatch.setenv("CI", "false")
    monkeypatch.setattr(browser, "_run", lambda command: pytest.fail(f"ran {command}"))
    assert browser.main([]) == 0
    assert capsys.readouterr().out == f"browser: {path}\n"


def test_apt_then_playwright(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    def run(command: list[str]) -> bool:
        commands.append(" ".join(command))
        if "playwright" in command:
            program(tmp_path / "bin" / "chromium", BROWSER)
        return "playwright" in command

    program(tmp_path / "bin" / "apt-get", "#!/bin/sh\n")
    monkeypatch.setattr(browser, "_run", run)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert browser.ensure_browser() == tmp_path / "bin" / "chromium"
    assert [line.split()[-4:][0] for line in commands][-1] == "-m"
    assert any("apt-get install" in line and "chromium" in line for line in commands)


def test_apt_is_left_alone_without_the_right_to_it(
    browser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "apt-get", "#!/bin/sh\n")
    program(tmp_path / "bin" / "sudo", "#!/bin/sh\nexit 1\n")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert browser.apt_prefix() is None
    program(tmp_path / "bin" / "sudo", "#!/bin/sh\nexit 0\n")
    assert browser.apt_prefix() == ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"]


def test_says_what_to_do_when_all_fails(
    browser: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert browser.main([]) == 2
    error = capsys.readouterr().err
    assert "apt-get install chromium" in error
    assert "FLOPBOOK_CHROMIUM" in error
