"""Writes a picture that was asked for, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flopbook.data.files import write_text
from flopbook.errors import FlopbookError, shorten

TERMINAL = "-"  # the file of --plot that is none: the picture is printed


def write_svg(plot: str, make: Callable[[], str]) -> None:
    """Write the picture that `make` draws to the file `plot`.

    Raises FlopbookError for another kind of file and for a folder that does not exist.
    """
    path = Path(plot)
    if path.suffix.lower() != ".svg":
        raise FlopbookError(f"--plot writes SVG: '{shorten(plot)}' does not end in .svg")
    if not path.parent.is_dir():
        raise FlopbookError(f"--plot: there is no folder '{shorten(str(path.parent))}'")
    text = make()  # before the file: what cannot be drawn leaves none behind
    write_text(path, text + "\n")
