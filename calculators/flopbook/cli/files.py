"""Writes a picture that was asked for, all of it or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from flopbook.errors import FlopbookError, shorten

TERMINAL = "-"  # the file of --plot that is none: the picture is printed


def write_svg(plot: str, make: Callable[[], str]) -> None:
    """Write the picture that `make` draws to the file `plot`.

    Raises FlopbookError for another kind of file and for a folder that does not exist.
    """
    import tempfile  # takes long to import, and few answers are drawn into a file

    path = Path(plot)
    if path.suffix.lower() != ".svg":
        raise FlopbookError(f"--plot writes SVG: '{shorten(plot)}' does not end in .svg")
    if not path.parent.is_dir():
        raise FlopbookError(f"--plot: there is no folder '{shorten(str(path.parent))}'")
    text = make()  # before the file: what cannot be drawn leaves none behind
    # In the same folder, so that replacing the file is one step and never half of it.
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".svg")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        Path(draft).chmod(0o644)  # mkstemp lets only its owner read
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
