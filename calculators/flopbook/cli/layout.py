"""JSON and help for terminals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flopbook.cli.parser import Command

WIDEST = 108  # longer lines are hard to read
NARROWEST = 60  # narrower ones leave no room beside the options
_NAMES = 30  # an option longer than this has its meaning on the next line

HELP_ROW = ("-h, --help", "Show this help.")


def print_json(value: Any) -> None:
    """Print JSON: letters as they are, or escaped where the output's encoding lacks them.

    What a terminal acts on is escaped, too: some of it comes from files that commands are given.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not text.replace("\n", "").isprintable():
        text = "".join(map(_shown_in_json, text))
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print(text)


def _shown_in_json(letter: str) -> str:
    """A character as it is, or the escape by which JSON means it."""
    return letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]


def help_text(command: Command) -> str:
    """The help of a command: usage, what it does, its options, an example to be copied."""
    rows = [(f"{option.flag} {option.metavar}".strip(), option.text) for option in command.options]
    usage = f"flopbook {command.name} [OPTIONS] {command.argument}".strip()
    sections = {"Options": [*rows, HELP_ROW]}
    return page(usage, command.paragraphs, sections, f"Example: {command.example}")


def page(
    usage: str,
    paragraphs: Iterable[str],
    sections: Mapping[str, Sequence[tuple[str, str]]],
    last: str,
) -> str:
    """A page of help, as wide as the terminal but not wider than people can read.

    The last line stays one line at any width: it is there to be copied.
    """
    import shutil  # takes long to import, and answers are not laid out

    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns - 2))
    blocks = [f"Usage: {usage}", *(_wrapped(text, width, "  ") for text in paragraphs)]
    for title, rows in sections.items():
        blocks.append("\n".join([f"{title}:", *_definitions(rows, width)]))
    return "\n\n".join([*blocks, f"  {last}"])


def _definitions(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Names on the left, meanings beside them."""
    longest = max(len(name) for name, _ in rows)
    indent = 2 + min(_NAMES, longest) + 2
    lines = []
    for name, text in rows:
        head, block = f"  {name}", _wrapped(text, width, " " * indent)
        # At least two blanks between a name and its meaning.
        if len(head) < indent - 1:
            lines.append(head + block[len(head) :])
        else:
            lines.append(f"{head}\n{block}")
    return lines


def _wrapped(text: str, width: int, indent: str) -> str:
    """Text in lines; names with hyphens stay in one piece, to be searched and copied."""
    import textwrap

    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
