"""Commands that write, each on a disk of its own that fills up, in a mount namespace of its own.

`python -m scripts.attack.small_disk FOLDER SEED COUNT` prints a line of JSON for each attempt; exit
status 77 where no disk can be mounted.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import Library, using
from scripts.attack.campaign import Attempt
from scripts.attack.shell import Reply, asked

NOT_MOUNTED = 77
_BLOCK = 4096
_DISK_BYTES = 24 * 1024 * 1024
_UNTIDY = """@misc{{doe2020thing{0},  title = {{A thing {0}}},   author={{Doe, Jane}},
  year = 2020,url = {{https://example.com/{0}}}, type = {{blog}},
  urldate = {{2026-01-01}}, keywords = {{roofline}}, annote = {{Says what a thing is, and when.}} }}

"""
_STUDY = "model: llama-3-8b\nchip: h100-sxm\nchips: 8\nbatch-tokens: 256Ki\nprice: 2USD/h\n"
_NEW = ("--kind", "package", "--status", "announced", "--source", "nvidia2022h100", "--name", "N")
# What writes: its words, and the folder of the disk that it writes to.
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("lint", "--fix", "{root}/bibliography/untidy.bib"),
    ("new", "vendor", "acme", "--name", "Acme", "--website", "https://acme.example/"),
    ("new", "chip", "nvidia/new", *_NEW),
    ("new", "reference", "2601.00001", "--topic", "roofline", "--offline"),
    ("new", "calculator", "new-thing", "--section", "Rooflines"),
    ("export", "{disk}/out"),
    ("study", "{disk}/study.yaml"),
    (
        *("ridge-point", "--chip", "h100-sxm", "--sweep", "bandwidth=1TB/s:4TB/s"),
        *("--plot", "{disk}/a.svg"),
    ),
)


class _Disk(NamedTuple):
    """A place for a small disk, and what stands on it before each attempt."""

    place: Path
    source: Path

    @contextlib.contextmanager
    def mounted(self, state: str, free_bytes: int) -> Iterator[None]:
        """The disk as it was, with so much room, or read-only."""
        options = f"size={_DISK_BYTES}"
        if state == "few names":
            count = sum(1 for _ in self.source.rglob("*")) + 2 + free_bytes // _BLOCK
            options += f",nr_inodes={count}"
        _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.place))
        try:
            shutil.copytree(self.source, self.place, dirs_exist_ok=True)
            if state == "full":
                _fill(self.place / "ballast", free_bytes)
            if state == "read-only":
                _run("mount", "-o", "remount,ro", str(self.place))
            yield
        finally:
            _run("umount", str(self.place))

    def contents(self) -> dict[str, bytes]:
        """Name -> bytes of every file of the data, and names of folders."""
        found = {}
        for path in self.place.rglob("*"):
            name = path.relative_to(self.place).as_posix()
            if name.partition("/")[0] not in ("ballast", "tmp", "kept"):
                found[name] = path.read_bytes() if path.is_file() else b""
        return found


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _fill(path: Path, free_bytes: int) -> None:
    """Write a file that leaves so much room on its disk."""
    status = os.statvfs(path.parent)
    room = status.f_bavail * status.f_frsize - free_bytes
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(room, 1))


def attempts(folder: Path, seed: int, count: int) -> Iterator[Attempt]:
    """So many commands, each on a disk in some state."""
    rng = random.Random(seed)
    disk = _Disk(folder / "disk", folder / "source")
    disk.place.mkdir()
    (disk.source / "study.yaml").write_text(_STUDY, encoding="utf-8")
    root = disk.source / "checkout"
    (root / "bibliography" / "untidy.bib").write_text(_untidy(), encoding="utf-8")
    for name in ("tmp", "kept"):
        (disk.source / name).mkdir()
    os.environ |= {"TMPDIR": str(disk.place / "tmp"), "FLOPBOOK_CACHE": str(disk.place / "kept")}
    whole: dict[tuple[str, ...], tuple[Reply, dict[str, bytes]]] = {}
    for _ in range(count):
        command = rng.choice(_COMMANDS)
        state = rng.choice(("full", "full", "full", "few names", "read-only"))
        free = rng.choice((0, 1, 2, 3, 5, 10, 40, 200, 600)) * _BLOCK
        if command not in whole:
            with disk.mounted("roomy", 0):
                before = disk.contents()
                whole[command] = (_asked(command, disk), disk.contents())
        with disk.mounted(state, free):
            title = f"{' '.join(command[:2])} on a disk that is {state}, {free:,} bytes"
            try:
                reply = _asked(command, disk)
            except Exception as error:
                yield Attempt(title, f"{type(error).__name__}: {error}")
                continue
            after = disk.contents()
        yield Attempt(title, _fault(reply, before, after, whole[command]))


def _untidy() -> str:
    return "".join(map(_UNTIDY.format, string.ascii_lowercase))


def _asked(command: tuple[str, ...], disk: _Disk) -> Reply:
    places = {"disk": str(disk.place), "root": str(disk.place / "checkout")}
    with using(Library(disk.place / "checkout")):
        return asked(*(word.format(**places) for word in command))


def _fault(
    reply: Reply,
    before: dict[str, bytes],
    after: dict[str, bytes],
    whole: tuple[Reply, dict[str, bytes]],
) -> str:
    done, wanted = whole
    for name, content in after.items():
        # A journal grows line by line; its last line may be torn, and is left out when it is read.
        grows = name.endswith(".jsonl") and wanted[name].startswith(content)
        if content not in (before.get(name), wanted.get(name)) and not grows:
            return f"{name} is neither the old one nor the new one: {reply.error[-300:]}"
    if lost := before.keys() - after.keys():
        return f"lost {sorted(lost)}"
    if reply.status == done.status:
        return "" if after == wanted else f"says that all is well: {reply.output[-300:]}"
    if reply.status != 2 or not reply.error.startswith("flopbook: "):
        return f"exit {reply.status}: {reply.error[-300:]}"
    return "" if len(reply.error.splitlines()) == 1 else f"says {reply.error!r}"


def main() -> int:
    """Print the attempts."""
    folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    try:
        for attempt in attempts(folder, seed, count):
            print(json.dumps([attempt.what, attempt.failure]), flush=True)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return NOT_MOUNTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
