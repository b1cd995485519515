"""Make `.venv-jax` ready: the packages of `.venv`, and on top those of requirements/jax.txt.

Two notebooks need JAX. It takes half a gigabyte, so it has a lock and a folder of its own. The
variable FLOPBOOK_JAX says how much it is wanted: 0 leaves it out, 1 fails where it cannot be
installed, and without a value the site then shows these notebooks unexecuted. Run by the Python of
`.venv`. Exit status: 0; 1 when a notebook fails; 2 when a person has to mend something.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from scripts.jax_environment import (
    FAILED,
    STAMP,
    VARIABLE,
    folder,
    holds_wanted_state,
    interpreter,
    note_state,
    wish,
)
from scripts.setup_env import SetupError, run_logged, say

ROOT = Path(__file__).resolve().parents[1]
HELP = f"""\
JAX could not be installed: it may have no package for this computer, or for a Python after 3.13.
All else works without it. {VARIABLE}=0 stops asking; `make jax` tries again."""


def create(root: Path) -> None:
    """A fresh environment. Raises SetupError when the packages cannot be installed."""
    place = folder(root)
    subprocess.check_call([sys.executable, "-m", "venv", "--clear", "--without-pip", str(place)])
    (packages,) = place.glob("lib/python*/site-packages")
    # A line of a .pth file that begins with import is run: the packages of .venv stay in reach.
    below = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "flopbook-below.pth").write_text(below, encoding="utf-8")
    # The pip of .venv installs into the new environment, which needs none of its own.
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install"]
    pip += ["--progress-bar", "off"]
    lock = str(root / "requirements" / "jax.txt")
    run_logged(
        [*pip, "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", lock],
        str(place / "install.log"),
    )


def set_up(root: Path, *, again: bool = True) -> bool:
    """Bring the environment up to date; whether there was something to do. Raises SetupError.

    What failed once is tried again only if told so: without a network an attempt can take a minute.
    """
    if interpreter(root):
        return False
    if not again and holds_wanted_state(root, FAILED):
        raise SetupError("JAX could not be installed before; `make jax` tries again")
    started = time.monotonic()
    say("set-up: installing JAX into .venv-jax (about 20 s from a warm cache, 530 MB)")
    try:
        create(root)
    except SetupError as error:
        note_state(root, FAILED)
        raise SetupError(f"{error}\n{HELP}") from None
    note_state(root, STAMP)
    say(f"set-up: .venv-jax is ready ({time.monotonic() - started:.0f} s)")
    return True


def run_notebooks() -> int:
    """Execute the notebooks that need JAX into the cache of the build; 0, or 1 when one fails."""
    from scripts.website.build.extras import ExtraError
    from scripts.website.build.notebooks import NotebookError, execute_all

    try:
        execute_all(lambda text: say(f"  {text}"), only="jax")
    except (ExtraError, NotebookError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Set up and, if asked, run; see the exit status above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--run", action="store_true", help="insist on JAX, and execute the notebooks that need it"
    )
    options = parser.parse_args(arguments)
    if options.run:
        os.environ[VARIABLE] = "1"
    try:
        if wish() != "0":
            set_up(ROOT, again=wish() == "1")
    except (SetupError, subprocess.CalledProcessError) as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 2 if os.environ.get(VARIABLE) else 0
    return run_notebooks() if options.run else 0


if __name__ == "__main__":
    sys.exit(main())
