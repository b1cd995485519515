"""Where the data lives: in a checkout of the repository, which can be edited, or in an installed
package.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

from flopbook.data.library import library
from flopbook.errors import FlopbookError, printable, shorten

# Where the data lies in a checkout of the repository.
PLACES = ("accelerators", "bibliography", "calculators/models")
CLONE = "this is an installed package, which is read-only: clone the repository, then run this in the clone"


def checkout() -> Path | None:
    """The root of the checkout that the data is read from; None for an installed package."""
    root = library().root
    whole = all((root / place).is_dir() for place in PLACES)
    return root if whole and (root / "pyproject.toml").is_file() else None


def repository_path(path: Path) -> str:
    """A file's place in the repository, whether it was read from a checkout or an installed package."""
    books = library()
    folders = {
        "accelerators": books.accelerators,
        "bibliography": books.bibliography,
        "calculators/models": books.models,
        "calculators/flopbook": Path(__file__).parents[1],
    }
    for place, folder in folders.items():
        if path.is_relative_to(folder):
            return f"{place}/{path.relative_to(folder).as_posix()}"
    return path.name


def edit_url(path: Path, branch: str = "main") -> str:
    """The web page on which a file of the repository is edited.

    Raises FlopbookError when no address is known.
    """
    address = _address()
    if not address:
        raise FlopbookError(
            "the address of the repository is not known: the package has none, and there is no remote"
        )
    return f"{address}/edit/{branch}/{repository_path(path)}"


def repository_address() -> str:
    """The web address of the repository, empty where none is known."""
    return _address()


@functools.cache
def _address() -> str:
    """The web address of the repository, empty where none is known; asking git takes long."""
    return _packaged_address() or _remote_address()


def _packaged_address() -> str:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("flopbook").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return _web(
        next((named[name] for name in ("Repository", "Source", "Homepage") if name in named), "")
    )


def _remote_address() -> str:
    root = checkout()
    try:
        return _web(git(root, "remote", "get-url", "origin").decode().strip()) if root else ""
    except FlopbookError:
        return ""


def _web(address: str) -> str:
    """The web address of a repository, without a name or password in it; empty for one that has
    none.
    """
    found = re.fullmatch(
        r"(?:https?://(?:[^/@]*@)?|ssh://git@|git@)([\w.-]+(?::\d+)?)[:/]([\w./-]+?)(?:\.git)?/?",
        address,
    )
    return f"https://{found[1]}/{found[2]}" if found else ""


def git(root: Path, *words: str) -> bytes:
    """What a git command prints.

    Raises FlopbookError, in one line, when git is missing or refuses.
    """
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, env=environment, check=False
        )
    except OSError as error:
        raise FlopbookError(f"git cannot be run ({error.strerror}); install it") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
            f"status {done.returncode}"
        ]
        raise FlopbookError(
            printable(f"git {words[0]}: {shorten(said[-1].removeprefix('fatal: '), 160)}")
        )
    return done.stdout


def commit(root: Path, revision: str) -> str:
    """The commit that a revision names. Raises FlopbookError when there is none."""
    try:
        words = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return git(root, "rev-parse", *words).decode().strip()
    except FlopbookError as error:
        if str(error).startswith("git cannot"):
            raise
        if not _is_repository(root):
            raise FlopbookError(
                f"{printable(str(root))} is no git repository; compare with an exported folder"
            ) from None
        name = printable(shorten(revision))
        raise FlopbookError(
            f"'{name}' is neither a revision of this repository, fetched already, nor an exported folder"
        ) from None


def _is_repository(root: Path) -> bool:
    try:
        return bool(git(root, "rev-parse", "--git-dir"))
    except FlopbookError:
        return False
