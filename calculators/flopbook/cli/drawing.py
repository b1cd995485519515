"""The picture of an answer: in the terminal below it, or as the file of `--plot`."""

from __future__ import annotations

from typing import Any

from flopbook.cli.files import write_svg
from flopbook.drawing.pictures import DRAWINGS, Picture, picture
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import calculate, resolved

_WIDEST = 400


def show(name: str, given: dict[str, Any], asked: bool, plot: str | None) -> str:
    """The text of the answer, with the picture where it was asked for or always is; writes the file
    of `--plot`.
    """
    import shutil

    drawn = _drawn(name, given)
    blocks = [_closed(name, given, drawn), drawn.words]
    if asked or not DRAWINGS[name].flag:
        blocks.append(drawn.text(min(_WIDEST, shutil.get_terminal_size().columns)))
    if plot is not None:
        blocks.append(_write(drawn, plot))
    return "\n\n".join(block for block in blocks if block)


def write_plot(name: str, given: dict[str, Any], plot: str) -> None:
    """Only the file, for `--json` and `--explain`."""
    _write(_drawn(name, given), plot)


def _drawn(name: str, given: dict[str, Any]) -> Picture:
    return picture(name, {key: item.value for key, item in resolved(name, **given).items()})


def _closed(name: str, given: dict[str, Any], drawn: Picture) -> str:
    """The answer, or why there is no closed form for what was counted and drawn all the same."""
    try:
        return answer(calculate(name, **given))
    except FlopbookError as error:
        if not drawn.words:
            raise
        return f"no closed form here: {str(error).partition(';')[0]}"


def _write(drawn: Picture, plot: str) -> str:
    write_svg(plot, lambda: drawn.svg(True))
    return f"wrote {plot}"
