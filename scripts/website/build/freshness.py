"""Whether a built site is what a build would make now, so that it need not be built again.

Every file of the checkout counts but for tests and what is built, and whatever else a build asks:
the Python, the variables, the commit (the feed of changes is made from the history), the extras.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from flopbook.data.files import write_made
from flopbook.data.library import VARIABLE as DATA
from scripts.website.build import extras
from scripts.website.build.generator import site_url

_RECORD = "site-state.json"  # in the work folder, beside what a build makes on the way
_BUILT = ("build", "dist", "site", "tests")  # at the root; below it these are folders of sources
_COMPILED = ("__pycache__",)
_BUILT_SUFFIXES = (".egg-info", ".pyc")


def zensical_site(work: Path) -> Path:
    """Where the second generator puts its site."""
    return work / "zensical" / "site"


def note(site: Path, work: Path, sources: str, *, zensical: bool = False) -> None:
    """Remember what a site was built from, and whether Zensical built it too.

    `sources` is the hash before the build began: what was edited meanwhile is then a change.
    """
    state = {"sources": sources, "site": _site_hash(site)}
    if zensical:
        state["zensical"] = _site_hash(zensical_site(work))
    write_made(work / _RECORD, json.dumps(state, indent=1) + "\n")


def is_fresh(root: Path, site: Path, work: Path, *, zensical: bool = False) -> bool:
    """Whether neither the site nor anything that it is made from has changed since its build.

    With `zensical` the site of the second generator has to be there too.
    """
    if os.environ.get(DATA):
        return False  # data from another folder, which nobody looks at here
    try:
        state = json.loads((work / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    # The site first: it is the cheaper of the two, and mostly it is what is missing.
    if state["site"] != _site_hash(site):
        return False
    if zensical and state.get("zensical") != _site_hash(zensical_site(work)):
        return False
    return bool(state["sources"] == sources_hash(root))


def sources_hash(root: Path) -> str:
    """One hash of everything that a build of this checkout reads."""
    hasher = hashlib.sha256()
    for word in (sys.version, site_url(), _commit(root), *map(_extra_state, extras.EXTRAS)):
        hasher.update(f"{word}\0".encode())
    for path in sorted(_files(root)):
        name = path.relative_to(root).as_posix()
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        hasher.update(os.fsencode(f"{name}\0{content}\0"))  # a name may be no text
    return hasher.hexdigest()


def _extra_state(name: str) -> str:
    """A notebook is shown unexecuted where its extra is not installed."""
    extra = extras.find(name)
    return f"{name} {extra.python} {extra.wish}"


def _commit(root: Path) -> str:
    """The commit that is checked out, empty without a repository."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        # In place, so that the walk does not go into them.
        left_out = _BUILT if Path(folder) == root else ()
        folders[:] = [name for name in folders if not _is_left_out(name) and name not in left_out]
        for name in names:
            path = Path(folder, name)
            if not _is_left_out(name) and path.is_file():
                yield path


def _is_left_out(name: str) -> bool:
    return name.startswith((".", "site.")) or name in _COMPILED or name.endswith(_BUILT_SUFFIXES)


def _site_hash(site: Path) -> str:
    """One hash of the names, sizes and times of change of a site; empty where there is none."""
    if not (site / "index.html").is_file():
        return ""
    hasher = hashlib.sha256()
    for path in sorted(site.rglob("*")):
        status = path.stat()
        if path.is_file():
            name = path.relative_to(site).as_posix()
            hasher.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return hasher.hexdigest()
