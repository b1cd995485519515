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
    run_beside([command], log)


def run_beside(commands: "list[list[str]]", log: str) -> None:
    """Run commands at the same time, each with its output in a log; the first has the given name.

    Prints a line now and then. Raises SetupError with the last lines of one that fails.
    """
    jobs = []  # type: list[tuple[subprocess.Popen[bytes], str]]
    for number, command in enumerate(commands, 1):
        path = log if number == 1 else "%s.%d" % (log, number)
        jobs.append((_start(command, path), path))
    _report(jobs)
    for process, path in jobs:
        if process.wait():
            with open(path, encoding="utf-8", errors="replace") as handle:
                tail = "".join(handle.readlines()[-15:])
            failed = " ".join(map(str, process.args))  # type: ignore[arg-type]
            raise SetupError(
                "%s\nThis failed: %s\nThe whole output is in %s" % (tail, failed, path)
            )


def _start(command: "list[str]", log: str) -> "subprocess.Popen[bytes]":
    with open(log, "ab") as handle:
        return subprocess.Popen(command, stdout=handle, stderr=subprocess.STDOUT, cwd=ROOT)


def _report(jobs: "list[tuple[subprocess.Popen[bytes], str]]") -> None:
    """Say how many packages are read, until all processes have ended."""
    said, started = 0, time.monotonic()
    while any(process.poll() is None for process, _ in jobs):
        time.sleep(0.2)
        read = sum(_packages_read(path) for _, path in jobs)
        if read // 30 > said:
            said = read // 30
            say("  %d packages read (%.0f s)" % (read, time.monotonic() - started))


def _packages_read(log: str) -> int:
    with open(log, encoding="utf-8", errors="replace") as handle:
        return sum(line.startswith(("Collecting ", "Processing ")) for line in handle)


def say(text: str) -> None:
    """Print a line of progress at once."""
    print(text, flush=True)


def create(root: str) -> None:
    """A fresh `.venv` with everything in the lock."""
    folder = venv_folder(root)
    say("set-up: new .venv with Python %d.%d.%d" % tuple(sys.version_info[:3]))
    subprocess.check_call([sys.executable, "-m", "venv", "--clear", folder])
    say("set-up: installing the locked packages (about 30 s from a warm cache)")
    pip = [venv_python(root), "-m", "pip", "install", "--progress-bar", "off"]
    # The lock is complete, so pip need not resolve; wheels only, so no package's build code runs.
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r"]
    # pip unpacks and compiles on one core: several share the packages among them.
    parts = divide_lock(os.path.join(root, "requirements", "lock.txt"), folder, cores())
    run_beside([pip + options + [part] for part in parts], os.path.join(folder, "install.log"))


def cores() -> int:
    """How many cores this process may use, at most four."""
    if hasattr(os, "sched_getaffinity"):
        return min(4, len(os.sched_getaffinity(0)))
    return min(4, os.cpu_count() or 1)


def divide_lock(lock: str, folder: str, count: int) -> "list[str]":
    """Write the packages of a lock into so many files, in turn; their paths come back."""
    with open(lock, encoding="utf-8") as handle:
        lines = [line for line in handle if not line.lstrip().startswith("#")]
    packages = []  # type: list[str]
    for line in lines:
        if line[0].isspace():
            packages[-1] += line
        else:
            packages.append(line)
    paths = [os.path.join(folder, "lock-%d.txt" % number) for number in range(1, count + 1)]
    for number, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as handle:
            handle.writelines(packages[number::count])
    return paths


def install_package(root: str) -> None:
    """The editable install of this checkout, without network."""
    pip = [venv_python(root), "-m", "pip", "install", "--quiet"]
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--editable", root]
    run_logged(pip + options, os.path.join(venv_folder(root), "package.log"))


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
