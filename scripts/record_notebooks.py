"""Run the notebooks that need PyTorch, and record what comes out.

Needs a Python that has PyTorch; everything else it takes from `.venv`. Each notebook asserts its
own claims, so a run that ends is a test passed. Exit status: 0; 1 when a notebook fails; 2 when
there is no PyTorch or no such notebook.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

from flopbook.data.files import write_text
from scripts.website.build import extras, notebooks, recordings

ROOT = Path(__file__).resolve().parents[1]
VERSION = "import sys, torch; print(torch.__version__, sys.version.split()[0])"
HELP = "name a Python that has PyTorch: make torch TORCH_PYTHON=/path/to/python"


class NoTorch(RuntimeError):
    """A Python without PyTorch, or none at all; says what to do."""


def environment() -> dict[str, str]:
    """What lets another Python find the package and the packages of this one."""
    below = [str(ROOT / "calculators"), sysconfig.get_path("purelib")]
    return {"PYTHONPATH": os.pathsep.join(below), "PYTHONWARNINGS": "ignore"}


def software(python: Path) -> str:
    """The versions of PyTorch and Python, in words. Raises NoTorch."""
    try:
        process = subprocess.run(
            [str(python), "-c", VERSION],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | environment(),
        )
    except (OSError, subprocess.CalledProcessError):
        raise NoTorch(f"{python} cannot import torch: {HELP}") from None
    torch, version = process.stdout.split()
    return f"PyTorch {torch.partition('+')[0]} and Python {version}"


def wanted(names: list[str]) -> list[Path]:
    """The notebooks to run, all recorded ones or those named. Raises NoTorch for another name."""
    recorded = {
        path.stem: path
        for path in notebooks.sources()
        if extras.extra_of(path) in recordings.RECORDED
    }
    unknown = [name for name in names if name not in recorded]
    if unknown:
        raise NoTorch(f"no recorded notebook '{unknown[0]}'; there are {', '.join(recorded)}")
    return [recorded[name] for name in names] if names else list(recorded.values())


def record(path: Path, python: Path, made: dict[str, str]) -> None:
    """Run one notebook and write its recording. Raises NotebookError."""
    import nbformat

    os.environ.update(environment())
    executed = nbformat.reads(notebooks.execute(path, python), as_version=4)  # type: ignore[no-untyped-call]
    write_text(recordings.place(path), recordings.recording(executed, made))


def main(arguments: list[str] | None = None) -> int:
    """Run and record; see the exit status above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these notebooks alone")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="the Python that has PyTorch"
    )
    options = parser.parse_args(arguments)
    try:
        machine = f"{os.cpu_count()} cores of a {platform.machine()} processor"
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        origin = {"date": today, "machine": machine, "software": software(options.python)}
        for path in wanted(options.names):
            print(f"{path.stem}: running", flush=True)
            record(path, options.python, origin)
    except NoTorch as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    except notebooks.NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
