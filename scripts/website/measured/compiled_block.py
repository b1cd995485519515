"""A feed-forward block as XLA compiled it for one of four devices (`scripts/record_hlo.py`)."""

from __future__ import annotations

import functools
from pathlib import Path

from flopbook.data.files import read_text

FILE = Path(__file__).with_name("compiled_block.txt")
# Tokens, and the sides of the first matrix of the block.
ROWS, WIDTH, WIDE = 4096, 2048, 8192


@functools.cache
def compiled_block() -> tuple[str, tuple[str, ...]]:
    """With what and when it was compiled; its instructions in their order."""
    head, *lines = read_text(FILE).splitlines()
    return head, tuple(lines)


def listing() -> str:
    """The instructions with their numbers, as a block of code on a page."""
    _, lines = compiled_block()
    numbered = (f"{number:2} {line}" for number, line in enumerate(lines, 1))
    return "\n".join(["```text", *numbered, "```"])


def made_with() -> str:
    """Program and machine, and the day on which it was compiled."""
    return compiled_block()[0]
