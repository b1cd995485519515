"""The head of a page or a notebook is YAML of one reading: no anchors, no tags, no endless nesting.

Generators of sites and readers of notebooks read it with readers that follow anchors: a few lines
of them fill the memory, and nesting without end is a traceback. So it is read here first, as files
of data are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from flopbook.checks.rules.base import Finding, Holdings
from flopbook.data.files import MAX_PAGE_BYTES, TooLarge, read_text
from flopbook.data.yaml_text import Node, parse_yaml
from flopbook.errors import DataError, Problem, shorten, show_path

NAME = "page-head"
# As wide as any reader of heads takes it; the line of marks stays, so that lines count from it.
_HEAD = re.compile(r"\ufeff?(-{3}[ \t]*\n.*?)^(?:-{3}|\.{3})[ \t]*$", re.DOTALL | re.MULTILINE)
# In comments, below what systems and editors read of a program: the interpreter and the encoding.
_NOTEBOOK_HEAD = re.compile(
    r"(?P<above>(?:#![^\n]*\n)?(?:#[^\n]*coding[:=][^\n]*\n)?(?:#[ \t]*\n)*)"
    r"(?P<head># ?---[ \t]*\n(?:#[^\n]*\n)*?)# ?---[ \t]*$",
    re.MULTILINE,
)
_COMMENT_MARK = re.compile(r"^# ?", re.MULTILINE)
_NESTED = ("jupyter", "flopbook")  # mappings in the head of a notebook, each inside the one before
_ON_EACH_PAGE = ("title", "description")  # lists and menus show them, those of other pages too
_LONGEST = 500  # characters; ours have 200 at most
_LINE_END = re.compile(r"\r\n?")
# How generators read a head: a day of YAML 1.1 that is in no calendar leaves them without one.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check(holdings: Holdings) -> Iterator[Finding]:
    """What is wrong with the head of each page of prose, and of each notebook."""
    for path in sorted(holdings.docs.rglob("*.md")):
        yield from map(Finding, _problems(path, page_head))
    for path in sorted((holdings.docs.parent / "calculators" / "notebooks").glob("*.py")):
        yield from map(Finding, _problems(path, notebook_head))


def _problems(path: Path, read: Callable[[str, str], Node | None]) -> Iterator[Problem]:
    file = show_path(path)
    try:
        read(read_text(path, MAX_PAGE_BYTES), file)
    except DataError as error:
        yield from error.problems
    except UnicodeDecodeError as error:
        # Of a page, the rule of typed numbers says it.
        if path.suffix == ".py":
            yield _no_text(error, file)
    except TooLarge as error:
        # Of a page, the rule of files says it.
        if path.suffix == ".py":
            yield _too_long(error, file)
    except OSError:
        pass  # what no file is, the rule of files says


def head_problems(text: str, file: str) -> Iterator[Problem]:
    """Why the head of a page cannot be read, if it has one."""
    try:
        page_head(text, file)
    except DataError as error:
        yield from error.problems


def page_head(text: str, file: str) -> Node | None:
    """The head of a page; None where it has none. Raises DataError."""
    return read_head(split_page(text)[0], file)


def split_page(text: str) -> tuple[str, str]:
    """The head of a page as it is written, empty where it has none, and what stands below it."""
    lines = _LINE_END.sub("\n", text)
    head = _HEAD.match(lines)
    return (head[1], lines[head.end() :].removeprefix("\n")) if head else ("", lines)


def extra_in_head(path: Path) -> str:
    """The name of the extra that the head of a notebook asks for, or "". Raises DataError."""
    file = show_path(path)
    try:
        head = notebook_head(read_text(path, MAX_PAGE_BYTES), file)
    except UnicodeDecodeError as error:
        raise DataError([_no_text(error, file)]) from None
    except TooLarge as error:
        raise DataError([_too_long(error, file)]) from None
    return str(head.get("extra") or "") if head else ""


def _too_long(error: TooLarge, file: str) -> Problem:
    observed, expected = str(error.strerror), f"at most {MAX_PAGE_BYTES:,} bytes"
    return Problem(file, 1, 1, "size", observed, expected, "split the notebook")


def notebook_head(text: str, file: str) -> Node | None:
    """What the head of a notebook says to us; None where that is nothing. Raises DataError."""
    head = _NOTEBOOK_HEAD.match(_LINE_END.sub("\n", text))
    if head is None:
        return None
    empty = "\n" * head["above"].count("\n")
    inner = read_head(empty + _COMMENT_MARK.sub("", head["head"]), file)
    for name in _NESTED:
        inner = inner.value.get(name) if inner else None
        if inner and not isinstance(inner.value, dict):
            mend = f"write names below {name}:, or take it out"
            raise _refused(file, inner.line, f"{name}: without names", mend)
    return inner


def read_head(head: str, file: str) -> Node | None:
    """A head as read; None for one without content. Raises DataError."""
    if not head.strip("- \t\n"):
        return None
    document = parse_yaml(head, file)
    if not isinstance(document.value, dict):
        mend = "write title: and description: between the two lines of ---"
        raise _refused(file, document.line, "a head without names", mend)
    for name in _ON_EACH_PAGE:
        words = document.value.get(name)
        if words and len(str(words.value)) > _LONGEST:
            observed = f"a {name} of {len(str(words.value)):,} characters"
            raise _refused(file, words.line, observed, "shorten it", f"at most {_LONGEST}")
    try:
        yaml.load(head, _Loader)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        observed = f"a value that generators cannot read: {shorten(error)}"
        mend = "write the value between quotes"
        raise _refused(file, document.line, observed, mend, "numbers, days and text") from None
    return document


def _refused(
    file: str, line: int, observed: str, mend: str, expected: str = "a mapping"
) -> DataError:
    return DataError([Problem(file, line, 1, NAME, observed, expected, mend)])


def _no_text(error: UnicodeDecodeError, file: str) -> Problem:
    line = error.object.count(b"\n", 0, error.start) + 1
    observed = f"byte {error.object[error.start]:#04x}"
    return Problem(file, line, 1, "encoding", observed, "UTF-8 text", "save the file as UTF-8")
