"""The one way to a file: what is read of it, and how it is written.

Contributed data is untrusted, so a file is read only if it is a regular one, and never through a
symbolic link inside a confined root: a link would publish whatever it points at. How much is read
is bounded while reading, for a size that is asked for first may be another one a moment later.

A file is written beside its place, flushed to the disk and moved there in one step, so that a full
disk or a lost process leaves the old one whole.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from flopbook.errors import FlopbookError, printable, show_path

# What is read of a file at most: more than the largest of the project, and less where data is
# parsed, which takes many times the memory of its text.
MAX_BYTES = 50_000_000
MAX_YAML_BYTES = 1_000_000
MAX_BIB_BYTES = 5_000_000
MAX_PAGE_BYTES = 250_000  # four times our longest
_CHUNK_BYTES = 1 << 20
_CONFINED: set[str] = set()
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# Neither wait for the writer of a pipe, nor follow a link put here since it was looked at.
_CAREFUL = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class NotRead(OSError):
    """A file that is not read for what it is; `strerror` says why, as found in its place."""

    def __init__(self, observed: str, path: Path) -> None:
        super().__init__(errno.EPERM, observed, str(path))


class TooLarge(NotRead):
    """A file of more bytes than its reader takes."""


def confine(root: Path) -> None:
    """From now on, read and write nothing below this folder through a symbolic link.

    The way to the folder itself may lead through links: whoever named it knows where it lies.
    """
    _CONFINED.add(os.path.abspath(root))


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError, mostly NotRead."""
    is_confined = refuse_links(path)
    try:
        handle = os.open(path, _CAREFUL | (_NO_LINK if is_confined else 0))
    except OSError as error:
        if error.errno == errno.ENXIO:  # how a socket is refused
            raise NotRead(_kind(path.stat().st_mode), path) from None
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise NotRead(_kind(status.st_mode), path)
    with os.fdopen(handle, "rb", buffering=0) as file:
        if status.st_size > most:
            raise TooLarge(f"{status.st_size:,} bytes", path)
        content = bytearray()
        while chunk := _chunk(file, path):
            content += chunk
            if len(content) > most:
                raise TooLarge(f"more than {most:,} bytes", path)
    return bytes(content)


def _chunk(file: io.FileIO, path: Path) -> bytes:
    """The next bytes; a disk that fails while they are read does not say of which file."""
    try:
        return file.read(_CHUNK_BYTES)
    except OSError as error:
        error.filename = str(path)
        raise


def read_or_nothing(path: Path, most: int = MAX_BYTES) -> bytes:
    """The content of a file; nothing of one that cannot be read, which lint speaks of."""
    try:
        return read_bytes(path, most)
    except OSError:
        return b""


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a file in UTF-8, every kind of line end as one line feed.

    Raises OSError as `read_bytes` does, UnicodeDecodeError for other bytes.
    """
    text = read_bytes(path, most).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def refuse_links(path: Path) -> bool:
    """True when a path lies in a confined root. Raises NotRead for a link below that root."""
    place = os.path.abspath(path)
    roots = [root for root in _CONFINED if place.startswith(root + os.sep)]
    if not roots:
        return False
    root = max(roots, key=len)
    for name in place[len(root) + 1 :].split(os.sep):
        root = os.path.join(root, name)
        try:
            mode = os.lstat(root).st_mode
        except OSError:  # whoever opens it says what is wrong
            return True
        if stat.S_ISLNK(mode):
            where = "" if root == place else f" on its way: {show_path(Path(root))}"
            raise NotRead(f"a symbolic link{where}", path)
    return True


def _kind(mode: int) -> str:
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "no regular file")


def kind_of(path: Path) -> str:
    """What a path is that is neither a regular file nor a folder; empty for those two."""
    mode = os.lstat(path).st_mode
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else _kind(mode)


def write_bytes(path: Path, content: bytes) -> None:
    """Write or replace a file: all of it, or nothing. Raises FlopbookError."""
    _written(path, content, replace=True)


def write_text(path: Path, text: str) -> None:
    """Write or replace a text file in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


def write_made(path: Path, content: bytes | str) -> None:
    """Write or replace a file that a program makes, with its folders: all of it, or nothing.

    It is not flushed to the disk, for what is lost is made again, and its place may be reached
    through links, for whoever builds has named it. Raises FlopbookError.
    """
    content_bytes = content.encode("utf-8") if isinstance(content, str) else content
    _made_folders(path)
    _written(path, content_bytes, replace=True, is_made=True)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there, with the folders that lead to it.

    Raises FlopbookError when it is there, or cannot be written: nothing is left behind then.
    """
    new_folders = _made_folders(path)
    try:
        _written(path, text.encode("utf-8"), replace=False)
    except BaseException:
        for folder in new_folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def open_to_grow(path: Path) -> IO[bytes]:
    """Open a file that only grows, line by line, with the folders that lead to it.

    What it held stays; whoever reads it leaves out a last line that was torn. Raises FlopbookError
    for a link, for what is no regular file, and where it cannot be written.
    """
    _made_folders(path)
    try:
        if not refuse_links(path) and path.is_symlink():
            raise NotRead("a symbolic link", path)
        if path.exists() and not path.is_file():
            raise NotRead(_kind(path.stat().st_mode), path)
        return path.open("ab")
    except OSError as error:
        raise _not_written(path, error, "nothing was written") from None


def _made_folders(path: Path) -> list[Path]:
    """The folders that had to be made for a file, the innermost first."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FlopbookError(f"{show_path(path.parent)} is no folder; nothing was written") from None
    except OSError as error:
        raise _not_written(path, error, "nothing was written") from None
    return missing


def _written(path: Path, content: bytes, *, replace: bool, is_made: bool = False) -> None:
    state = "the old file is as it was" if replace and path.exists() else "nothing was written"
    try:
        if not is_made and not refuse_links(path) and path.is_symlink():
            raise NotRead("a symbolic link", path)
        if path.exists() and not path.is_file():
            raise NotRead(_kind(path.stat().st_mode), path)
        draft = str(path.with_name(f".{path.name[:80]}-{os.urandom(6).hex()}"))
        handle = os.open(draft, _DRAFT, 0o666)  # less what the user takes from new files
        try:
            with os.fdopen(handle, "wb") as file:
                _keep_mode(path, handle)
                file.write(content)
                if not is_made:
                    file.flush()
                    os.fsync(handle)
            _move(draft, path, replace=replace)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        if not is_made:
            _flush_folder(path.parent)
    except FileExistsError:
        raise FlopbookError(f"{show_path(path)} is there already; nothing was written") from None
    except OSError as error:
        raise _not_written(path, error, state) from None


def _not_written(path: Path, error: OSError, state: str) -> FlopbookError:
    reason = f"it is {error.strerror}" if isinstance(error, NotRead) else error.strerror
    message = f"{show_path(path)} was not written: {reason or error}; {state}"
    return FlopbookError(printable(message))


def _keep_mode(path: Path, handle: int) -> None:
    """Give a draft the permissions of the old file, where there is one."""
    with contextlib.suppress(FileNotFoundError):
        os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))


def _move(draft: str, path: Path, *, replace: bool) -> None:
    """Give the draft its name; unlike a rename, a hard link takes no other file's place."""
    if replace:
        os.replace(draft, path)
        return
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a filesystem without hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, "is there already", str(path)) from None
        os.rename(draft, path)
        return
    os.unlink(draft)


def _flush_folder(folder: Path) -> None:
    """Make the new name last, too, where a folder can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_all(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write files below a folder, each of them whole. Raises FlopbookError naming the first."""
    paths = []
    for name, content in contents.items():
        path = folder / name
        _made_folders(path)
        write_bytes(path, content)
        paths.append(path)
    return paths
