#!/usr/bin/env python3
"""Make `.venv` ready: locked dependencies, then this package as an editable install.

Run by every target of the Makefile with whatever `python3` the machine has, so it
uses the standard library only and keeps to a syntax that an old Python can read.
It does nothing when `.venv` already fits the lock, pyproject.toml and Python.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MINIMUM = (3, 11)
CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3.14")


class SetupError(Exception):
    """A problem that the person at the terminal has to mend; its text says how."""


def venv_folder(root: str) -> str:
    """The folder of the virtual environment."""
    return os.path.join(root, ".venv")


def venv_python(root: str) -> str:
    """The Python inside the virtual environment."""
    return os.path.join(venv_folder(root), "bin", "python")


def digest(path: str) -> str:
    """SHA-256 of a file, or "absent"."""
    if not os.path.exists(path):
        return "absent"
    with open(path, "rb") as handle:
        return hashlib.sha256(handle.read()).hexdigest()


def wanted_state(root: str) -> "dict[str, str]":
    """What an up-to-date `.venv` was made from."""
    return {
        "place": os.path.realpath(root),
        "lock": digest(os.path.join(root, "requirements", "lock.txt")),
        "pyproject": digest(os.path.join(root, "pyproject.toml")),
    }


def stamp_path(root: str) -> str:
    """Where the stamp of the last set-up lies."""
    return os.path.join(venv_folder(root), "flopbook-setup.json")


def read_stamp(root: str) -> "dict[str, str]":
    """The state that the last finished set-up left, or {} where there is none."""
    try:
        with open(stamp_path(root), encoding="utf-8") as handle:
            state = json.load(handle)
    except (OSError, ValueError):
        return {}
    if not isinstance(state, dict) or not os.path.exists(venv_python(root)):
        return {}
    return state


def write_stamp(root: str, state: "dict[str, str]") -> None:
    """Remember what was set up."""
    with open(stamp_path(root), "w", encoding="utf-8") as handle:
        json.dump(state, handle, indent=1, sort_keys=True)


def newer_python() -> "str | None":
    """The path of another Python on PATH that is new enough, or None."""
    for name in CANDIDATES:
        path = shutil.which(name)
        test = "import sys; sys.exit(sys.version_info[:2] < %r)" % (MINIMUM,)
        if path and subprocess.call([path, "-c", test], stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def check_python(version: "tuple[int, ...]" = ()) -> None:
    """Stop unless this Python is new enough and can make virtual environments."""
    major, minor = version[:2] if version else sys.version_info[:2]
    if (major, minor) < MINIMUM:
        raise SetupError(
            "Python 3.11 or newer is needed, and %s is %d.%d. Install one, "
            "or name it: make PYTHON=/path/to/python3.12" % (sys.executable, major, minor)
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SetupError(
            "This Python lacks the venv module. "
            "On Debian or Ubuntu: sudo apt-get install python3-venv"
        ) from error


def run_logged(command: "list[str]", log: str) -> None:
    """Run a command with its output in a log, printing a line now and then."""
    names, started = 0, time.monotonic()
    with open(log, "a", encoding="utf-8") as handle:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT
        )
        for raw in process.stdout or ():
            line = raw.decode("utf-8", "replace")
            handle.write(line)
            if line.startswith(("Collecting ", "Processing ")):
                names += 1
                if names % 30 == 0:
                    say("  %d packages read (%.0f s)" % (names, time.monotonic() - started))
            elif line.startswith("Installing collected"):
                say("  unpacking %d packages (%.0f s)" % (names, time.monotonic() - started))
        code = process.wait()
    if code:
        with open(log, encoding="utf-8") as handle:
            tail = "".join(handle.readlines()[-15:])
        raise SetupError(
            "%s\nThis failed: %s\nThe whole output is in %s" % (tail, " ".join(command), log)
        )


def say(text: str) -> None:
    """Print a line of progress at once."""
    print(text, flush=True)


def create(root: str) -> None:
    """A fresh `.venv` with everything in the lock."""
    folder = venv_folder(root)
    say("set-up: new .venv with Python %d.%d.%d" % tuple(sys.version_info[:3]))
    subprocess.check_call([sys.executable, "-m", "venv", "--clear", folder])
    say("set-up: installing the locked packages (about 40 s from a warm cache)")
    pip = [venv_python(root), "-m", "pip", "install", "--progress-bar", "off"]
    lock = os.path.join("requirements", "lock.txt")
    # The lock is complete, so pip need not resolve; wheels only, so no package's build code runs.
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", lock]
    run_logged(pip + options, os.path.join(folder, "install.log"))


def install_package(root: str) -> None:
    """The editable install of this checkout, without network."""
    pip = [venv_python(root), "-m", "pip", "install", "--quiet"]
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--editable", root]
    run_logged(pip + options, os.path.join(venv_folder(root), "install.log"))


def set_up(root: str) -> str:
    """Bring `.venv` up to date; return what was done: "nothing", "package" or "all"."""
    state, stamp = wanted_state(root), read_stamp(root)
    if stamp == state:
        return "nothing"
    started = time.monotonic()
    # Packages of another lock, or paths of another folder, are not mended but made anew.
    fresh = any(stamp.get(key) != state[key] for key in ("place", "lock"))
    if fresh:
        check_python()
        create(root)
        write_stamp(root, dict(state, pyproject="not yet"))
    if state["pyproject"] != "absent":
        install_package(root)
    write_stamp(root, state)
    say("set-up: .venv is ready (%.0f s)" % (time.monotonic() - started))
    return "all" if fresh else "package"


def main(arguments: "list[str] | None" = None) -> int:
    """Set up; 0 when `.venv` is ready, 2 when a person has to mend something."""
    argparse.ArgumentParser(prog="setup_env", description=__doc__).parse_args(arguments)
    if sys.version_info[:2] < MINIMUM:
        newer = newer_python()
        if newer:
            os.execv(newer, [newer, os.path.abspath(__file__)])
    try:
        set_up(ROOT)
    except SetupError as error:
        print("set-up: %s" % error, file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print("set-up: this failed: %s" % " ".join(map(str, error.cmd)), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
