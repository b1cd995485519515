"""Find a Chromium or Chrome for the browser tests, or install one.

Order: the variable FLOPBOOK_CHROMIUM, the PATH, the usual macOS places, Playwright's
own cache. Chromium's headless shell comes before whole browsers: it has the same engine
and takes some 40 % less processor time, since it draws no window. If there is none of
them: apt-get, where that is allowed without a question, else `playwright install
chromium`. Prints the path it found.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VARIABLE = "FLOPBOOK_CHROMIUM"
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
CACHE_PATTERNS = (
    "chromium_headless_shell-*/chrome-*/*headless*shell",
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)
HELP = f"""No Chromium or Chrome was found, and none could be installed here.
Do one of these, then run the command again:
  - Debian:        sudo apt-get install chromium-headless-shell
  - other systems: .venv/bin/python -m playwright install --with-deps chromium
  - any browser:   export {VARIABLE}=/path/to/chrome"""


class BrowserError(Exception):
    """No usable browser; the text says what to do."""


@cache
def works(path: Path) -> bool:
    """Whether the file is a browser that starts (a stub that only advertises a package is not)."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(re.search(r"chrom", done.stdout, re.IGNORECASE))


def playwright_cache() -> Path:
    """The folder where Playwright keeps the browsers it has downloaded."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if named not in ("", "0"):  # 0 means inside the Python package, where we do not look
        return Path(named)
    cache_folder = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / cache_folder / "ms-playwright"


def _revision(path: Path) -> int:
    """Playwright's revision number in a path such as chromium-1234/chrome-linux/chrome."""
    numbers = re.findall(r"chromium[a-z_]*-(\d+)", str(path))
    return int(numbers[-1]) if numbers else 0


def candidates() -> Iterator[Path]:
    """Every place a browser may be, best first."""
    for name in NAMES:
        if path := shutil.which(name):
            yield Path(path)
    if sys.platform == "darwin":
        yield from map(Path, MAC_APPS)
    for pattern in CACHE_PATTERNS:
        yield from sorted(playwright_cache().glob(pattern), key=_revision, reverse=True)


def find_browser() -> Path | None:
    """The browser to use, or None. A FLOPBOOK_CHROMIUM that does not work is a BrowserError."""
    if named := os.environ.get(VARIABLE):
        if works(Path(named)):
            return Path(named)
        raise BrowserError(
            f"{VARIABLE} is {named!r}, and that does not start as a Chromium or Chrome."
        )
    return next((path for path in candidates() if works(path)), None)


def _run(command: list[str]) -> bool:
    print("browser:", " ".join(command), flush=True)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=900, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def apt_prefix() -> list[str] | None:
    """What goes before apt-get for root, or with a sudo that needs no password; else None."""
    if not shutil.which("apt-get"):
        return None
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if os.geteuid() == 0:
        return environment
    if not shutil.which("sudo"):
        return None
    trial = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n", *environment] if trial.returncode == 0 else None


def install_with_apt() -> bool:
    """Debian's package, with a font so that pages have text of a real width.

    Where apt-get knows no headless shell, the whole browser.
    """
    prefix = apt_prefix()
    if prefix is None:
        return False
    install = [*prefix, "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
    _run([*prefix, "apt-get", "update", "-qq"])
    return any(_run([*install, name, "fonts-liberation"]) for name in (SHELL, "chromium"))


def add_shell() -> None:
    """Install the headless shell beside a whole browser, where apt-get knows it already."""
    prefix = apt_prefix()
    if prefix and _is_known_to_apt(SHELL):
        _run([*prefix, "apt-get", "install", "-y", "-qq", "--no-install-recommends", SHELL])


def _is_known_to_apt(package: str) -> bool:
    if not shutil.which("apt-cache"):
        return False
    asked = subprocess.run(["apt-cache", "show", package], capture_output=True, check=False)
    return asked.returncode == 0


def install_with_playwright() -> bool:
    """Playwright's own download."""
    return _run([sys.executable, "-m", "playwright", "install", "chromium"])


def ensure_browser() -> Path:
    """The browser to use, installed if need be.

    A machine of CI, which nobody else uses, gets the headless shell beside a whole browser.
    """
    browser = find_browser()
    is_whole = browser is not None and browser.name in NAMES and browser.name != SHELL
    if is_whole and os.environ.get("CI") == "true" and not os.environ.get(VARIABLE):
        add_shell()
        browser = find_browser()
    if browser:
        return browser
    print("browser: none found, installing one (one or two minutes)", flush=True)
    for install in (install_with_apt, install_with_playwright):
        if install():
            works.cache_clear()
            if browser := find_browser():
                return browser
    raise BrowserError(HELP)


def main(arguments: list[str] | None = None) -> int:
    """Print the browser's path; 2 with what to do when there is none."""
    parser = argparse.ArgumentParser(
        prog="ensure_browser",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(arguments)
    try:
        print(f"browser: {ensure_browser()}")
    except BrowserError as error:
        print(f"browser: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
