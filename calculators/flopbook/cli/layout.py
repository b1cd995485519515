"""JSON and help for terminals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from flopbook.cli.parser import Command

_WIDEST, _NARROWEST = (
    108,
    60,
)  # longer lines are hard to read; narrower ones leave no room beside the options
_LEFT = 30  # an option longer than this has its meaning on the next line

HELP_ROW = ("-h, --help", "Show this help.")


def print_json(value: Any) -> None:
    """Print JSON: letters as they are, or escaped where the output's encoding does not have them."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print(text)


def help_text(command: Command) -> str:
    """The help of a command: usage, what it does, its options, an example in one line that can be
    copied.
    """
    rows = [(f"{option.flag} {option.metavar}".strip(), option.text) for option in command.options]
    usage = f"flopbook {command.name} [OPTIONS] {command.argument}".strip()
    return page(
        usage, command.paragraphs, {"Options": [*rows, HELP_ROW]}, f"Example: {command.example}"
    )


def page(
    usage: str, paragraphs: Iterable[str], sections: dict[str, Sequence[tuple[str, str]]], last: str
) -> str:
    """A page of help, as wide as the terminal but not wider than people can read.

    The last line stays one line at any width: it is there to be copied.
    """
    import shutil

    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns - 2))
    blocks = [f"Usage: {usage}", *(_wrapped(text, width, "  ") for text in paragraphs)]
    for title, rows in sections.items():
        blocks.append("\n".join([f"{title}:", *_definitions(rows, width)]))
    return "\n\n".join([*blocks, f"  {last}"])


def _definitions(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Names on the left, meanings beside them."""
    left = 2 + min(_LEFT, max(len(name) for name, _ in rows)) + 2
    lines = []
    for name, text in rows:
        block = _wrapped(text, width, " " * left)
        head = f"  {name}"
        lines.append(head + block[len(head) :] if len(head) < left - 1 else f"{head}\n{block}")
    return lines


def _wrapped(text: str, width: int, indent: str) -> str:
    """Text in lines; names with hyphens stay whole, so that they can be searched and copied."""
    import textwrap

    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
