"""The site that browser tests look at: built once for a run, beside the tests that need none.

Nothing is built where the site of the sources as they are is there already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folder of this run, for the workers that pytest starts.
VARIABLE = "FLOPBOOK_TEST_SITE"
# Nothing else takes as long: a cold build on a busy machine of two cores.
LONGEST_S = 1200


def start(folder: Path) -> None:
    """Put a new build into `folder/site` and `folder/zensical/site`, in a thread, once."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(folder / "started", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    threading.Thread(target=_build, args=(folder,), daemon=True).start()


def _build(folder: Path) -> None:
    """Build where `make site` builds, which then has nothing left to do, and keep the result.

    Files are linked, not copied: no program writes into a file of a site, it replaces it.
    """
    # As `make site` does: pages show other things where JAX is installed.
    _run("scripts.setup_jax")
    built = _run("scripts.build_site", "--zensical")
    if built.returncode == 0:
        shutil.copytree(ROOT / "site", folder / "site", copy_function=_link)
        zensical = ROOT / "build" / "zensical" / "site"
        shutil.copytree(zensical, folder / "zensical" / "site", copy_function=_link)
    text = f"{built.returncode}\n{built.stdout}{built.stderr}"
    (folder / "log.partial").write_text(text, encoding="utf-8")
    (folder / "log.partial").rename(folder / "log")


def _run(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def log_of(folder: Path) -> str:
    """What the build said, its exit status in the first line, once it has ended.

    Raises TimeoutError.
    """
    deadline = time.monotonic() + LONGEST_S
    while not (folder / "log").exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no site within {LONGEST_S} s")
        time.sleep(0.1)
    return (folder / "log").read_text(encoding="utf-8")
