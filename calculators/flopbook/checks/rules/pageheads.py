"""The head of a page is YAML of one reading: no anchors, no tags, no nesting without end.

Generators of sites read it with readers that follow anchors: a few lines of them fill the memory,
and nesting without end is a traceback. So it is read here first, as files of data are.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Finding, Holdings
from flopbook.data.files import MAX_PAGE_BYTES, read_text
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError, Problem, show_path

NAME = "page-head"
# As wide as any reader of heads takes it; the line of marks stays, so that lines count from it.
_HEAD = re.compile(r"\ufeff?(-{3}[ \t]*\n.*?)^(?:-{3}|\.{3})[ \t]*$", re.DOTALL | re.MULTILINE)
_LINE_END = re.compile(r"\r\n?")


def check(holdings: Holdings) -> Iterator[Finding]:
    """What is wrong with the head of each page of prose."""
    for path in sorted(holdings.docs.rglob("*.md")):
        # What no file is, the rule of files says; what is no text, the rule of typed numbers.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = read_text(path, MAX_PAGE_BYTES)
            yield from map(Finding, head_problems(text, show_path(path)))


def head_problems(text: str, file: str) -> Iterator[Problem]:
    """Why the head of a page cannot be read, if it has one."""
    head = _HEAD.match(_LINE_END.sub("\n", text))
    if head is None or not head[1].strip("- \t\n"):
        return
    try:
        document = parse_yaml(head[1], file)
    except DataError as error:
        yield from error.problems
        return
    if not isinstance(document.value, dict):
        mend = "write title: and description: between the two lines of ---"
        yield Problem(file, document.line, 1, NAME, "a head without names", "a mapping", mend)
