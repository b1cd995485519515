"""Files: plain ones inside the root are read, and written whole or not at all."""

from __future__ import annotations

import ast
import errno
import os
import re
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data import files
from flopbook.data.files import (
    NotRead,
    TooLarge,
    confine,
    read_bytes,
    read_text,
    write_all,
    write_bytes,
    write_made,
    write_new,
    write_text,
)
from flopbook.errors import FlopbookError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A confined root beside a secret that is none of its business."""
    (tmp_path / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "folder" / "file").write_text("inside")
    confine(root)
    return root


def _socket(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "link out of the root": (lambda path: path.symlink_to("../secret"), "a symbolic link"),
    "link inside of the root": (lambda path: path.symlink_to("folder/file"), "a symbolic link"),
    "link to nothing": (lambda path: path.symlink_to("nothing"), "a symbolic link"),
    "link to itself": (lambda path: path.symlink_to(path), "a symbolic link"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "a symbolic link"),
    "pipe": (os.mkfifo, "a pipe"),
    "folder": (Path.mkdir, "a folder"),
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_not_read(kind: str, root: Path) -> None:
    make, observed = NO_FILES[kind]
    path = root / "entry.yaml"
    make(path)
    with pytest.raises(NotRead) as refusal:
        read_bytes(path)
    assert refusal.value.strerror == observed


def test_a_socket_and_a_device_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    _socket(Path("entry"))
    with pytest.raises(OSError, match=r"."):
        read_bytes(Path("entry"))
    with pytest.raises(NotRead, match="a device"):
        read_bytes(Path("/dev/zero"))


def test_no_folder_on_the_way_is_a_link(root: Path) -> None:
    (root / "way").symlink_to("folder")
    with pytest.raises(NotRead, match=r"a symbolic link on its way: .*way"):
        read_bytes(root / "way" / "file")
    with pytest.raises(FlopbookError, match="way/file was not written: it is a symbolic link"):
        write_text(root / "way" / "file", "")
    assert read_text(root / "folder" / "file") == "inside"


def test_the_way_to_the_root_may_lead_through_links(root: Path) -> None:
    link = root.parent / "elsewhere"
    link.symlink_to(root)
    confine(link)
    assert read_text(link / "folder" / "file") == "inside"


def test_a_user_may_name_a_link_outside_of_a_root(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("config.json")
    assert read_text(tmp_path / "link.json") == "{}"


def test_dots_lead_to_no_other_root(root: Path) -> None:
    (root / "way").symlink_to("../secret")
    with pytest.raises(NotRead):
        read_bytes(root / "folder" / ".." / "way")


def test_the_size_is_bounded(root: Path) -> None:
    path = root / "file"
    path.write_bytes(bytes(1000))
    assert len(read_bytes(path, 1000)) == 1000
    with pytest.raises(TooLarge, match="1,000 bytes"):
        read_bytes(path, 999)


def test_a_file_that_says_it_is_empty_is_bounded_too() -> None:
    """Files of the kernel have no size until they are read."""
    with pytest.raises(TooLarge, match="more than 10 bytes"):
        read_bytes(Path("/proc/self/status"), 10)


@given(st.text(st.characters(codec="utf-8")))
def test_line_ends_are_read_as_by_python(text: str) -> None:
    path = Path(os.environ["FLOPBOOK_CACHE"]) / f"lines-{os.getpid()}"
    path.write_bytes(text.encode())
    assert read_text(path) == path.read_text(encoding="utf-8")


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    write_bytes(path, b"new")
    assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_mode_that_the_user_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


FAULTS = {
    "full": (errno.ENOSPC, "No space left on device"),
    "read-only": (errno.EROFS, "Read-only file system"),
    "broken": (errno.EIO, "Input/output error"),
}


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod", "link"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_disk_that_fails_leaves_the_old_file_whole(
    fault: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, words = FAULTS[fault]

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, words)

    path = tmp_path / "all.bib"
    path.write_text("old")
    new = tmp_path / "deep" / "er" / "new.yaml"
    monkeypatch.setattr(os, step, fail)
    if step != "link":
        with pytest.raises(FlopbookError, match=rf"all\.bib was not written: {words}; the old"):
            write_text(path, "new")
    # A new file is linked, without links it is renamed, and it has no permissions to keep.
    if step == "fsync":
        with pytest.raises(FlopbookError, match=rf"new\.yaml was not written: {words}; nothing"):
            write_new(new, "new")
        assert not new.parent.parent.exists()
    monkeypatch.undo()
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["all.bib"]
    write_new(new, "again")
    assert new.read_text() == "again"


def test_a_new_file_takes_the_place_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_new(path, "first")
    with pytest.raises(FlopbookError, match="file is there already; nothing was written"):
        write_new(path, "second")

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FlopbookError, match="is there already"):
        write_new(path, "third")
    write_new(tmp_path / "other", "fourth")
    assert path.read_text() == "first" and (tmp_path / "other").read_text() == "fourth"
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


@pytest.mark.parametrize("confined", [True, False])
def test_nothing_is_written_through_a_link(confined: bool, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "root" / "link"
    target.write_text("mine")
    link.parent.mkdir()
    link.symlink_to(target)
    if confined:
        confine(link.parent)
    for write in (write_text, write_new):
        with pytest.raises(FlopbookError, match=r"link (was not written|is there already)"):
            write(link, "theirs")
    assert target.read_text() == "mine" and link.is_symlink()


def test_nothing_is_written_into_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FlopbookError, match="pipe was not written: it is a pipe"):
        write_text(tmp_path / "pipe", "text")


def test_several_files_are_each_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, {"a": b"1", "deep/b": b"2"})
    assert (tmp_path / "deep" / "b").read_bytes() == b"2"
    (tmp_path / "c").mkdir()
    with pytest.raises(FlopbookError, match="c was not written: it is a folder"):
        write_all(tmp_path, {"a": b"3", "c": b"4"})
    with pytest.raises(FlopbookError, match="a is no folder; nothing"):
        write_all(tmp_path, {"a/b": b"5"})
    assert (tmp_path / "a").read_bytes() == b"3"


def test_a_file_that_grows_keeps_what_it_held(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "lines"
    for line in (b"1\n", b"2\n"):
        with files.open_to_grow(path) as file:
            file.write(line)
    assert path.read_bytes() == b"1\n2\n"
    with pytest.raises(FlopbookError, match=r"lines is no folder|below was not written"):
        files.open_to_grow(path / "below")


def test_a_draft_with_a_long_name_fits(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_text(path, "text")
    assert files.read_text(path) == "text"


# What may write by itself: the writer, programs that run before the package is there, and those
# that fill folders of their own, gone at the end.
OWN_WRITERS = (
    "calculators/flopbook/data/files.py",
    "calculators/flopbook/changes/revisions.py",
    "calculators/flopbook/export/tables.py",
    "scripts/setup_env.py",
    "scripts/setup_jax.py",
    "scripts/jax_environment.py",
    "scripts/bench/",
    "scripts/attack/",
)


def _writes(call: ast.Call) -> bool:
    """Whether a call writes a file by itself, or opens one to be written."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ("write_text", "write_bytes"):
        return isinstance(call.func, ast.Attribute)
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
    is_open = name in ("open", "fdopen")
    return is_open and any(re.fullmatch(r"[wax]b?\+?", str(text)) for text in texts)


def test_every_file_is_written_by_the_one_writer() -> None:
    paths = [*(ROOT / "calculators" / "flopbook").rglob("*.py"), *(ROOT / "scripts").rglob("*.py")]
    writers = []
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        nodes = () if name.startswith(OWN_WRITERS) else ast.walk(ast.parse(path.read_text()))
        calls = (node for node in nodes if isinstance(node, ast.Call))
        writers += [f"{name}:{call.lineno}" for call in calls if _writes(call)]
    assert not writers


def test_what_is_made_is_whole_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "page.html"
    write_made(path, "old")
    assert path.read_text() == "old" and stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask()

    def full(*_: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_move", full)
    with pytest.raises(FlopbookError, match=r"page\.html was not written: No space left"):
        write_made(path, b"new")
    assert path.read_text() == "old" and os.listdir(path.parent) == ["page.html"]


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_is_made_may_lie_behind_a_link(tmp_path: Path) -> None:
    """A folder for builds on another disk is linked to by whoever builds."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "build").symlink_to(tmp_path / "disk")
    confine(tmp_path)
    write_made(tmp_path / "build" / "docs" / "index.md", "text")
    assert (tmp_path / "disk" / "docs" / "index.md").read_text() == "text"
