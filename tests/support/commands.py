"""Command lines of tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence


def with_options(base: Sequence[str], more: Sequence[str]) -> list[str]:
    """A command whose options are those of `more`, and of `base` those that are not among them.

    Options of `base` have a value each, behind the words of the command; one that comes twice
    would be refused.
    """
    first = next((n for n, word in enumerate(base) if word.startswith("--")), len(base))
    options = zip(base[first::2], base[first + 1 :: 2], strict=True)
    kept = (word for name, value in options if name not in more for word in (name, value))
    return [*base[:first], *kept, *more]


def without_numpy(command: str, given: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """A command in a new process, whose exit status says whether it loaded NumPy.

    The first of two may have to read the runs on file, and keeps them for the second.
    """
    words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    code = f"import sys; from flopbook.cli.app import run; run({[command, *words]!r}); "
    code += "sys.exit('numpy' in sys.modules)"
    program = [sys.executable, "-c", code]
    subprocess.run(program, capture_output=True, check=False)
    return subprocess.run(program, capture_output=True, check=False)
