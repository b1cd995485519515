"""Commands on disks that are full and in folders with traps: nothing followed, nothing lost."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.samples import World, bib

UNTIDY = bib().replace("\n", "  \r\n")
TRAPS = {
    "entry": "accelerators/acme/two.yaml",
    "vendor folder": "accelerators/other",
    "bibliography": "bibliography/more.bib",
    "claims": "bibliography/claims/more.yaml",
    "model": "models/other.yaml",
    "page": "docs/page.md",
    "chapter": "docs/handbook/chapter.md",
    "asset": "docs/assets/style.css",
    "notebook": "calculators/notebooks/study.py",
    "link status": "bibliography/link-status.json",
    "glossary": "bibliography/glossary.yaml",
    "topics": "bibliography/topics.yaml",
}


@pytest.fixture
def repository(world: World) -> World:
    """A world that takes itself for a checkout."""
    (world.root / "pyproject.toml").touch()
    (world.root / "calculators").mkdir()
    world.models.rename(world.root / "calculators" / "models")
    world.__init__(world.root)  # type: ignore[misc]  # reads the folders anew
    return world


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("trap", TRAPS)
def test_lint_names_what_is_no_plain_file(trap: str, kind: str, world: World, cli: Any) -> None:
    secret = world.root.parent / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "one.yaml").write_text("private: 42 GB\n")
    path = world.root / TRAPS[trap]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    is_folder = trap == "vendor folder"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(secret if is_folder else secret / "one.yaml")
    world.library.forget()
    signal.alarm(20)  # a reader that waits for the writer of the pipe waits for ever
    done = cli("lint")
    signal.alarm(0)
    kinds = {"link": "a symbolic link", "pipe": "a pipe"}
    assert done.status == 1 and "private" not in done.out and "secret" not in done.out
    assert any(
        line.startswith(TRAPS[trap]) and kinds[kind] in line for line in done.out.splitlines()
    )


def test_fix_writes_through_no_link(world: World, cli: Any) -> None:
    outside = world.root.parent / "outside.bib"
    outside.write_bytes(UNTIDY.encode())
    (world.bibliography / "link.bib").symlink_to(outside)
    done = cli("lint", "--fix", "bibliography/link.bib")
    assert done.status == 2 and done.err.startswith(
        "flopbook: bibliography/link.bib is a symbolic link"
    )
    assert outside.read_bytes() == UNTIDY.encode()


def _little_space() -> None:
    """As on a full disk: files of this process end after a few bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def _on_a_full_disk(process: Any, world: World, *arguments: str) -> Any:
    environment = {"FLOPBOOK_DATA": str(world.root), "FLOPBOOK_CACHE": ""}
    # Python keeps the first bytes of what it compiled, and others would read them.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return process(*arguments, env=environment, cwd=world.root, preexec_fn=_little_space)


def test_fix_on_a_full_disk_leaves_the_file_whole(world: World, process: Any) -> None:
    path = world.bibliography / "all.bib"
    path.write_bytes(UNTIDY.encode())
    done = _on_a_full_disk(process, world, "lint", "--fix", "bibliography/all.bib")
    assert done.returncode == 2
    assert done.stderr == (
        "flopbook: bibliography/all.bib was not written: File too large; "
        "the old file is as it was\n"
    )
    assert path.read_bytes() == UNTIDY.encode()
    assert not [name for name in os.listdir(world.bibliography) if name.startswith(".")]


def test_a_vendor_that_found_no_space_can_be_written_again(repository: World, process: Any) -> None:
    words = ["new", "vendor", "bolt", "--name", "Bolt", "--website", "https://bolt.example"]
    done = _on_a_full_disk(process, repository, *words)
    assert done.returncode == 2
    assert "accelerators/bolt/vendor.yaml was not written" in done.stderr
    assert not (repository.root / "accelerators" / "bolt").exists()
    environment = {"FLOPBOOK_DATA": str(repository.root), "FLOPBOOK_CACHE": ""}
    again = process(*words, env=environment, cwd=repository.root)
    assert again.returncode == 0, again.stderr
    assert (repository.root / "accelerators" / "bolt" / "vendor.yaml").is_file()


def test_an_export_without_space_names_the_file(world: World, process: Any) -> None:
    earlier = world.root / "out" / "accelerators.json"
    earlier.parent.mkdir()
    earlier.write_text("earlier")
    done = _on_a_full_disk(process, world, "export", "out")
    assert done.returncode == 2 and "accelerators.json was not written" in done.stderr
    assert "the old file is as it was" in done.stderr and earlier.read_text() == "earlier"


def test_a_picture_without_space_leaves_none(world: World, process: Any) -> None:
    words = ("training-flops", "--params", "7B", "--sweep", "tokens=1e9,2e9", "--plot", "a.svg")
    done = _on_a_full_disk(process, world, *words)
    assert done.returncode == 2 and "a.svg was not written" in done.stderr
    assert not list(Path(world.root).glob("*svg*"))
