"""The job that may write, where a program of its own fails."""

from __future__ import annotations

import shutil
from pathlib import Path

from scripts.attack.areas.workflows import Repository

_FAILING = '#!/bin/sh\ncase "$*" in *--raw*) exit 1;; esac\nexec {} "$@"\n'


def test_what_could_not_be_looked_at_is_not_proposed(tmp_path: Path) -> None:
    """A loop over nothing found nothing wrong."""
    repository = Repository(tmp_path)

    def change(folder: Path) -> None:
        (folder / "Makefile").write_text("attacked\n", encoding="utf-8")

    patch = repository.patched(change)
    git = repository.tools / "git"
    git.write_text(_FAILING.format(shutil.which("git")), encoding="utf-8")
    git.chmod(0o755)
    status, branches = repository.proposed("papers", patch)
    assert status and branches == "refs/heads/main\n"
