"""The picture of an answer: in the terminal below it, or as the file of `--plot`."""

from __future__ import annotations

from typing import Any

from flopbook.cli.files import write_svg
from flopbook.drawing.pictures import DRAWINGS, Picture, picture
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import calculate, resolved

WIDEST = 400  # columns; beyond them a picture is no longer seen at once


def answer_with_picture(name: str, given: dict[str, Any], asked: bool, plot: str | None) -> str:
    """The text of the answer, with the picture where it was asked for or always is.

    Writes the file of `--plot`. Raises FlopbookError.
    """
    import shutil  # takes long to import, and few answers have a picture

    drawn = _draw(name, given)
    blocks = [_answer_text(name, given, drawn), drawn.words]
    if asked or not DRAWINGS[name].flag:
        blocks.append(drawn.text(min(WIDEST, shutil.get_terminal_size().columns)))
    if plot is not None:
        blocks.append(_write(drawn, plot))
    return "\n\n".join(block for block in blocks if block)


def write_plot(name: str, given: dict[str, Any], plot: str) -> None:
    """Only the file, for `--json` and `--explain`."""
    _write(_draw(name, given), plot)


def _draw(name: str, given: dict[str, Any]) -> Picture:
    inputs = resolved(name, **given)
    return picture(name, {key: used.value for key, used in inputs.items()})


def _answer_text(name: str, given: dict[str, Any], drawn: Picture) -> str:
    """The answer, or why there is no closed form for what was counted and drawn all the same."""
    try:
        return answer(calculate(name, **given))
    except FlopbookError as error:
        if not drawn.words:  # nothing was counted either
            raise
        return f"no closed form here: {str(error).partition(';')[0]}"


def _write(drawn: Picture, plot: str) -> str:
    write_svg(plot, lambda: drawn.svg(True))
    return f"wrote {plot}"
