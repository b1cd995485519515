"""One build of a checkout at a time, and a new site in the place of the old one in one step.

A build writes beside the site, on its own file system, into a folder that no other build knows.
Whenever it ends, by a fault or from outside, the site is the old one or the new one. What a build
that was killed has left behind is removed by the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from flopbook.data.files import read_text, write_made
from flopbook.errors import FlopbookError, show_path

_HOLDER = "building"  # names the process that builds, for those who wait
_LONGEST_HOLDER = 100  # bytes
_STAGED = r"\.new-\d+"  # behind the name of a site: what a build puts there
# What of a checkout is written by people.
_SOURCES = (
    *("accelerators", "bibliography", "calculators", "docs", "requirements", "scripts", "tests"),
    *(".ci", ".git", ".github", "LICENSES"),
)
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_LIBC = ctypes.CDLL(None, use_errno=True)
# Folders that a thread holds, by device and inode: to wait for itself would be forever.
_HELD: set[tuple[int, int, int]] = set()


@contextlib.contextmanager
def alone(work: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold a work folder against other builds; who comes second waits and says for whom.

    The system gives the folder back when the process ends, however it ends.
    """
    work.mkdir(parents=True, exist_ok=True)
    with _locked(work, lambda: say(f"waiting for the build of {_holder(work)} in {work}")):
        write_made(work / _HOLDER, f"process {os.getpid()}\n")
        try:
            yield
        finally:
            (work / _HOLDER).unlink(missing_ok=True)


def _holder(work: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return read_text(work / _HOLDER, _LONGEST_HOLDER).strip() or "another process"
    return "another process"


@contextlib.contextmanager
def _locked(folder: Path, wait: Callable[[], None]) -> Iterator[None]:
    status = folder.stat()
    identity = threading.get_ident(), status.st_dev, status.st_ino
    if identity in _HELD:  # a site may lie in the work folder itself
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _HELD.add(identity)
        yield
    finally:
        _HELD.discard(identity)
        os.close(descriptor)


@contextlib.contextmanager
def staging(site: Path, say: Callable[[str], None]) -> Iterator[Path]:
    """A new folder beside a site, gone at the end unless it was put into the site's place.

    First the site is recovered if a build ended while it had no name.
    """
    site.parent.mkdir(parents=True, exist_ok=True)
    place = f"the folder {site.parent}"
    with _locked(site.parent, lambda: say(f"waiting for another build into {place}")):
        recover(site)
        staged = site.with_name(f"{site.name}.new-{os.getpid()}")
        with _gone(staged), _gone(staged):
            staged.mkdir()
            yield staged


def refuse_others(folder: Path, ours: Iterable[str], root: Path) -> None:
    """Raise FlopbookError for a folder of other things: a build replaces all that is in it.

    Those are the sources below `root` and whatever holds them, a link, and a folder with files that
    has nothing of `ours` among them.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    is_own = not folder.is_symlink() and not _has_sources(folder.resolve(), root)
    if is_own and any((folder / name).exists() for name in ours):
        return
    raise FlopbookError(
        f"{show_path(folder)} holds what no build has made, and a build would replace it; "
        "name a folder that is empty or not there"
    )


def _has_sources(folder: Path, root: Path) -> bool:
    """Whether a folder is one of the sources of a checkout, lies in one, or holds the checkout."""
    if root.is_relative_to(folder):
        return True
    return folder.is_relative_to(root) and folder.relative_to(root).parts[0] in _SOURCES


@contextlib.contextmanager
def _gone(folder: Path) -> Iterator[None]:
    """Remove a folder at the end. Two of these hold where a request to end interrupts one."""
    try:
        yield
    finally:
        _remove(folder)


def _remove(path: Path) -> None:
    """Remove a folder, or what stands in its place: to look into a pipe would wait for its writer.

    What cannot be removed stays.
    """
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def recover(site: Path) -> None:
    """Give a lone old site its name back, and remove what killed builds have left.

    To be called by one build at a time.
    """
    old, staged = _old(site), re.compile(re.escape(site.name) + _STAGED)
    if old.is_dir() and not old.is_symlink() and not site.exists():
        old.rename(site)
    for leftover in (old, *site.parent.iterdir()):
        if leftover == old or staged.fullmatch(leftover.name):
            _remove(leftover)


def _old(site: Path) -> Path:
    return site.with_name(f"{site.name}.old")


def put(staged: Path, site: Path) -> None:
    """Let a staged site and the one in its place change names; the old one is then the staged."""
    if not site.exists():
        staged.rename(site)
    elif not _exchanged(staged, site):
        # Without the call there is a moment without a site; the next build recovers from it.
        site.rename(_old(site))
        staged.rename(site)
        _old(site).rename(staged)


def _exchanged(first: Path, second: Path) -> bool:
    """Whether the system let two folders change their names in one step."""
    call = getattr(_LIBC, "renameat2", None)
    if call is None:
        return False
    names = (os.fsencode(first), os.fsencode(second))
    return bool(call(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)


class Beside:
    """A program that runs beside this one; `wait` gives its exit status and what it printed."""

    def __init__(self, process: subprocess.Popen[str], printed: IO[str]) -> None:
        self._process = process
        self._printed = printed

    def wait(self) -> tuple[int, str]:
        """Wait for its end."""
        status = self._process.wait()
        self._printed.seek(0)
        return status, self._printed.read()


@contextlib.contextmanager
def beside(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Iterator[Beside]:
    """Start a program that ends with this one, and at the latest with the block."""
    # A pipe that nobody reads would stop it once it is full.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=printed,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=end_with_parent,
        )
        try:
            yield Beside(process, printed)
        finally:
            process.kill()
            process.wait()


def end_with_parent() -> None:
    """Ask the system to end this process when its parent ends; Linux can."""
    if sys.platform == "linux":
        _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL)


@contextlib.contextmanager
def tidy_when_ended() -> Iterator[None]:
    """Let a polite request to end take the way of an exception, so that nothing is left behind.

    Only the first request does; cleaning up after it is not interrupted by a second.
    """

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may decide on signals
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
