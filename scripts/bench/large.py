"""A library ten times as large as ours: how long its checks take, and how much memory.

Two thousand products and ten thousand works, made of our own under other names, in a repository of
their own, so that what changed can be asked, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import library
from scripts.bench.library import reference_files
from scripts.bench.processes import COMMAND, ROOT
from scripts.bench.results import Counted, Result, Timed

ENTRIES, REFERENCES, POINTS = 2_000, 10_000, 100_000
_PLACES = ("accelerators", "bibliography", "calculators/models", "calculators/runs")
_SWEEP = (
    *("sharded-matmul", "--product", "A[I, J_X] * B[J_X, K] -> C[I, K]"),
    *("--dims", "I=4096,J=8192,K=1024", "--mesh", "X=4", "--chip", "google/tpu-v5p"),
)
_ID = re.compile(r"^id: .*$", re.MULTILINE)
# What a copy may not have, since it names one product: other names, and what contains it.
_NAMES = re.compile(
    r"^(?:aliases|device_names|contains|variant_of):.*\n(?:[ -].*\n)*", re.MULTILINE
)
_MEASURED = """
import resource, subprocess, sys
process = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.stderr.buffer.write(process.stderr)
"""


class Measured(NamedTuple):
    """A command that ran: exit status, seconds of processor, megabytes at most, complaints."""

    status: int
    seconds: float
    megabytes: float
    error: str


def large(_: int) -> Iterator[Result]:
    """Checks of a large library, once with nothing kept and once again; a large sweep."""
    with large_library() as root, tempfile.TemporaryDirectory() as kept:
        environment = {"FLOPBOOK_DATA": str(root), "FLOPBOOK_CACHE": kept}
        runs = [
            ("lint, nothing kept", "10 s", ("lint",)),
            ("lint again", "10 s", ("lint",)),
            ("diff HEAD, one entry changed", "3 s", ("diff", "HEAD")),
        ]
        size = f"{ENTRIES:,} entries, {REFERENCES:,} works"
        for name, budget, command in runs:
            yield from _lines(f"{name}", budget, measured(command, root, environment))
        yield Counted("measured on", size)
    sweep = (*_SWEEP, "--sweep", f"latency=1e-9:1e-5:lin:{POINTS}", "--json")
    yield from _lines(f"sharded-matmul, {POINTS:,} points", "2 s", measured(sweep, ROOT, {}))


def _lines(name: str, budget: str, run: Measured) -> Iterator[Result]:
    yield Timed(name, [run.seconds], budget, "s")
    yield Counted(f"{name}: memory", f"{run.megabytes:,.0f} MB of 500")
    if run.status == 2:
        yield Counted(f"{name}: refused", run.error.strip()[:200])


def measured(
    command: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    program: tuple[str, ...] = (COMMAND,),
) -> Measured:
    """Run a command of ours, or another program, in a process of its own.

    The memory is that of the largest process of all that it started.
    """
    process = subprocess.run(
        [sys.executable, "-c", _MEASURED, *program, *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    status, seconds, kilobytes = process.stdout.split()
    return Measured(int(status), float(seconds), float(kilobytes) / 1000, process.stderr)


@contextmanager
def large_library() -> Iterator[Path]:
    """The root of a large library, one entry of it changed since its only commit."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for place in _PLACES:
            if (ROOT / place).is_dir():
                shutil.copytree(ROOT / place, root / place)
        shutil.copy(ROOT / "pyproject.toml", root)
        _add_entries(root / "accelerators")
        for number, text in enumerate(reference_files(REFERENCES)):
            (root / "bibliography" / f"large-{number}.bib").write_text(text, encoding="utf-8")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(root)]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "large"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        changed = next((root / "accelerators").glob("*/large-0.yaml"))
        text = changed.read_text(encoding="utf-8")
        changed.write_text(f"{text.rstrip()}\n# read again\n", encoding="utf-8")
        yield root


def _add_entries(accelerators: Path) -> None:
    """Copies of our entries under ids of their own, until there are enough of them."""
    ids = library().entry_ids
    for number in range(ENTRIES - len(ids)):
        entry_id = ids[number % len(ids)]
        vendor = entry_id.partition("/")[0]
        text = library().entry_path(entry_id).read_text(encoding="utf-8")
        text = _NAMES.sub("", _ID.sub(f"id: {vendor}/large-{number}", text, count=1))
        path = accelerators / vendor / f"large-{number}.yaml"
        path.write_text(text, encoding="utf-8")
