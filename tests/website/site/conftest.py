"""The built site, once for all workers, served with compression on the loopback address, and a
browser per worker.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.weigh import served
from tests.support.forming import Forms

ROOT = Path(__file__).resolve().parents[3]

WAIT_S = 240


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder with `site` (MkDocs) and `zensical/site`: the first worker that asks builds, the
    others wait for it.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "flopbook-site"
    shared.mkdir(exist_ok=True)
    try:
        os.close(os.open(shared / "lock", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return _built_by_another(shared)
    folders = ["--site", str(shared / "site"), "--work", str(shared)]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.build_site", *folders, "--zensical"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    (shared / "log.partial").write_text(
        f"{done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8"
    )
    (shared / "log.partial").rename(shared / "log")
    return _built_by_another(shared)


def _built_by_another(shared: Path) -> Path:
    """Wait until the log is there; the test fails with it when the build failed."""
    for _ in range(WAIT_S * 10):
        if (shared / "log").exists():
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"no site within {WAIT_S} s")
    log = (shared / "log").read_text(encoding="utf-8")
    if not log.startswith("0\n"):
        pytest.fail(f"the site does not build:\n{log}")
    return shared


@pytest.fixture(scope="session")
def site(built: Path) -> Path:
    """The site as MkDocs built it."""
    return built / "site"


@pytest.fixture(scope="session")
def base(site: Path) -> Iterator[str]:
    """The address at which the site is served."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def forms(surf: Any, base: str) -> Iterator[Forms]:
    """The forms of all calculators, each in a tab that is kept."""
    kept = Forms(surf, base)
    yield kept
    kept.close()


COPIED = (
    "accelerators",
    "bibliography",
    "calculators",
    "docs",
    "scripts",
    "requirements",
    "mkdocs.yml",
    "pyproject.toml",
)
# Python runs this before anything else: the package and its data come from the copy, not from the
# installed place.
REDIRECT = """import sys
from importlib.util import spec_from_file_location
FOLDERS = {folders!r}
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        folder = FOLDERS.get(name)
        return folder and spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
sys.meta_path.insert(0, Finder)
"""


@pytest.fixture
def tree(tmp_path: Path, built: Path) -> Path:
    """A copy of what a build needs, which a test may break; notebooks come from the cache of the
    first build.
    """
    copy = tmp_path / "repo"
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "kernel-ipc-*", ".*")
    copy.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=skip)
        else:
            shutil.copy2(ROOT / name, copy / name)
    shutil.copytree(ROOT / "build" / "notebook-cache", copy / "build" / "notebook-cache")
    packages = tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]["package-dir"]
    folders = {name: str(copy / folder) for name, folder in packages.items()}
    (tmp_path / "redirect").mkdir()
    (tmp_path / "redirect" / "sitecustomize.py").write_text(
        REDIRECT.format(folders=folders), encoding="utf-8"
    )
    return copy
