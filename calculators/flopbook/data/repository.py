"""Where the data lives: in a checkout of the repository, or in an installed package."""

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
CLONE = (
    "this is an installed package, which is read-only: "
    "clone the repository, then run this in the clone"
)
# An address of git over https or ssh: host, then path; a name and password are left behind.
_REMOTE = re.compile(
    r"(?:https?://(?:[^/@]*@)?|ssh://git@|git@)([\w.-]+(?::\d+)?)[:/]([\w./-]+?)(?:\.git)?/?"
)

_SHA = re.compile(r"[0-9a-f]{40,64}")


def checkout() -> Path | None:
    """The root of the checkout that the data is read from; None for an installed package."""
    root = library().root
    has_data = all((root / place).is_dir() for place in PLACES)
    return root if has_data and (root / "pyproject.toml").is_file() else None


def repository_path(path: Path) -> str:
    """A file's place in the repository, also of one that came with an installed package."""
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
        why = "the package has none, and there is no remote"
        raise FlopbookError(f"the address of the repository is not known: {why}")
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
    for name in ("Repository", "Source", "Homepage"):
        if name in named:
            return _web(named[name])
    return ""


def _remote_address() -> str:
    root = checkout()
    if root is None:
        return ""
    try:
        return _web(git(root, "remote", "get-url", "origin").decode().strip())
    except FlopbookError:
        return ""


def _web(address: str) -> str:
    """The web address of a repository; empty for one that has none."""
    match = _REMOTE.fullmatch(address)
    return f"https://{match[1]}/{match[2]}" if match else ""


# Messages in English, and no waiting for a password. What a partial clone lacks is not fetched:
# its configuration would choose the program that fetches.
_SURROUNDINGS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the line before
}


def git(root: Path, *words: str, given: bytes = b"") -> bytes:
    """What a git command prints; `given` is what it reads.

    Raises FlopbookError, in one line, when git is missing or refuses.
    """
    command = ["git", "-C", str(root), *words]
    environment = os.environ | _SURROUNDINGS
    try:
        process = subprocess.run(
            command, input=given, capture_output=True, env=environment, check=False
        )
    except OSError as error:
        raise FlopbookError(f"git cannot be run ({error.strerror}); install it") from None
    if process.returncode != 0:
        message = _last_line(process.stderr) or f"status {process.returncode}"
        if "promisor" in message:
            message = f"a partial clone lacks files of this revision; clone it whole ({message})"
        raise FlopbookError(printable(f"git {words[0]}: {shorten(message, 160)}"))
    return process.stdout


def _last_line(output: bytes) -> str:
    """What git gives up with; hints stand before it."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else ""


def commit(root: Path, revision: str) -> str:
    """The commit that a revision names. Raises FlopbookError when there is none."""
    words = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        sha = git(root, "rev-parse", *words).decode().strip()
        if _SHA.fullmatch(sha):  # of ^main git prints what to leave out
            return sha
    except FlopbookError as error:
        if str(error).startswith("git cannot"):
            raise
    if not _is_repository(root):
        where = printable(str(root))
        raise FlopbookError(f"{where} is no git repository; compare with an exported folder")
    name = printable(shorten(revision))
    revisions = "a revision of this repository, fetched already"
    raise FlopbookError(f"'{name}' is neither {revisions}, nor an exported folder")


def _is_repository(root: Path) -> bool:
    try:
        return bool(git(root, "rev-parse", "--git-dir"))
    except FlopbookError:
        return False
