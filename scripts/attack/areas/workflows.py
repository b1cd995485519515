"""Patches and branches that a proposal may not be, put to the program that may write.

What is fetched from the web becomes a patch; the job that applies it takes works and the status of
links, and nothing else, whatever the patch says of itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import ROOT

NAME = "workflows"
_PROPOSALS = 60
_BRANCHES = ("papers-2026-11-22", "papers", "link-status")
_OTHER_BRANCHES = (
    *("main", "papers/../main", "papers-$(touch x)", "link-status;id", "--force", "-f", ""),
    *("refs/heads/main", "papers-2026 x", "papers\nmain", "+main", "papers-2026-11-22:main"),
)
_OTHER_FILES = (
    *(
        ".github/workflows/x.yml",
        ".ci/propose",
        "Makefile",
        "scripts/x.py",
        "accelerators/a/x.yaml",
    ),
    *("bibliography/x.py", "bibliography/claims/x.yaml", "bibliography/sub/x.bib", "x.bib"),
    *("bibliography/X.bib", "bibliography/a b.bib", "bibliography/a\nb.bib", "bibliography/.bib"),
    *(
        "bibliography/topics.yaml",
        "bibliography/schema.json",
        "bibliography/x.bib/y",
        ".gitmodules",
    ),
    *("bibliography/é.bib", 'bibliography/"x.bib', "bibliography/link-status.json.py"),
)
_GH = '#!/bin/sh\n[ "$2" = list ] && echo 0\nexit 0\n'


class Repository:
    """A small repository, its remote, and the checkout of the job that may write."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder / "work"
        (self.work / ".ci").mkdir(parents=True)
        for name in ("patch", "propose"):
            shutil.copy(ROOT / ".ci" / name, self.work / ".ci" / name)
        for name in ("bibliography/old.bib", "bibliography/link-status.json", "Makefile"):
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_text("old\n", encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.tools = folder / "tools"
        self.tools.mkdir()
        (self.tools / "gh").write_text(_GH, encoding="utf-8")
        (self.tools / "gh").chmod(0o755)

    def git(self, *words: str, folder: Path | None = None) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "core.quotePath=false"]
        done = subprocess.run(
            ["git", *names, *words],
            cwd=folder or self.work,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def patched(self, change: Callable[[Path], None]) -> Path:
        """The patch of a change to the work tree, which is then as before."""
        change(self.work)
        self.git("add", "-A", "--force")
        patch = self.folder / "changes.patch"
        patch.write_text(self.git("diff", "--binary", "--cached", "HEAD"), encoding="utf-8")
        self.git("reset", "-q", "--hard")
        self.git("clean", "-qfdx")
        return patch

    def proposed(self, branch: str, patch: Path) -> tuple[int, str]:
        """The exit status of a proposal and the branches of the remote afterwards."""
        remote, second = self.folder / "remote.git", self.folder / "other"
        for clone in (remote, second):
            shutil.rmtree(clone, ignore_errors=True)
        self.git("clone", "-q", "--bare", str(self.work), str(remote), folder=self.folder)
        self.git("clone", "-q", str(remote), str(second), folder=self.folder)
        environment = {
            "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}",
            **{"PATCH": str(patch), "GH_TOKEN": "t", "GITHUB_REPOSITORY": "acme/book"},
            **{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{remote}.insteadOf"},
            "GIT_CONFIG_VALUE_0": "https://x-access-token:t@github.com/acme/book.git",
        }
        command = [str(second / ".ci" / "propose"), branch, "New works", "A body; $(touch x)"]
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        return done.returncode, self.git("branch", "--format=%(refname)", folder=remote)


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Proposals that are refused, some that are not, and what zizmor says of the workflows."""
    if not shutil.which("git"):
        yield Attempt("git", "is not there")
        return
    repository = Repository(campaign.folder)
    for _ in range(campaign.count(_PROPOSALS)):
        yield _attempt(repository, campaign)
    command = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet", ".github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    yield Attempt("zizmor", done.stdout[-500:] if done.returncode else "")


def _attempt(repository: Repository, campaign: Campaign) -> Attempt:
    rng = campaign.rng
    branch, name = rng.choice(_BRANCHES), "bibliography/new.bib"
    change: Callable[[Path, str], None] = _written
    kind = rng.choice(("file", "file", "mode", "branch", "none"))
    if kind == "file":
        name = rng.choice(_OTHER_FILES)
    if kind == "branch":
        branch = rng.choice(_OTHER_BRANCHES)
    if kind == "mode":
        change = rng.choice(_OTHER_MODES)
    status, branches = repository.proposed(branch, repository.patched(lambda at: change(at, name)))
    title = f"{change.__name__} {name!r} on {branch!r}"
    is_taken = branches != "refs/heads/main\n"
    if kind == "none":
        return Attempt(title, "" if status == 0 and is_taken else f"exit {status}: not proposed")
    return Attempt(title, "" if status and not is_taken else f"exit {status}: {branches}")


def _written(folder: Path, name: str) -> None:
    # A folder may be where a file is, and the other way round.
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("new\n", encoding="utf-8")
    (folder / "bibliography" / "more.bib").write_text("fine\n", encoding="utf-8")


def _linked(folder: Path, name: str) -> None:
    (folder / name).symlink_to("/etc/passwd")


def _run(folder: Path, name: str) -> None:
    _written(folder, name)
    (folder / name).chmod(0o755)


def _deleted(folder: Path, _name: str) -> None:
    (folder / "bibliography" / "old.bib").unlink()


def _moved(folder: Path, name: str) -> None:
    (folder / "bibliography" / "old.bib").rename(folder / name)


_OTHER_MODES: tuple[Callable[[Path, str], None], ...] = (_linked, _run, _deleted, _moved)
