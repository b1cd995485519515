"""Reads YAML into values that remember their place.

Contributed files are untrusted, and their errors must name a line. So this reads the
event stream of the C parser and builds mappings, lists and scalars that carry line and
column. Anchors, tags, duplicate keys, deep nesting and large files are refused
(no YAML bombs), and scalars follow YAML 1.2: under YAML 1.1 the sparsity `2:4` would be the
number 124 and `no` a boolean.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from flopbook.errors import DataError, Problem, shorten, show_path

MAX_BYTES = 1_000_000
MAX_DEPTH = 12

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Node:
    """A YAML value and its place: `value` is a scalar, a list of Nodes or a dict of str to Node."""

    __slots__ = ("column", "key_marks", "line", "value")

    def __init__(
        self,
        value: Any,
        line: int,
        column: int,
        key_marks: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        self.value, self.line, self.column, self.key_marks = value, line, column, key_marks

    def plain(self) -> Any:
        """The value without places, as ordinary Python lists, dicts and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def get(self, key: str) -> Any:
        """The plain value under a key, or None."""
        node = self.value.get(key) if isinstance(self.value, dict) else None
        return None if node is None else node.plain()


def named_children(node: Node) -> Iterator[tuple[str, Node]]:
    """The values directly inside a mapping or a list, with their key; a list's have none."""
    if isinstance(node.value, dict):
        yield from node.value.items()
    elif isinstance(node.value, list):
        yield from (("", child) for child in node.value)


def read_yaml(path: Path) -> Node:
    """Read one YAML file. Raises DataError with the place of what is wrong with it."""
    return parse_yaml(_read_text(path), show_path(path))


def _read_text(path: Path) -> str:
    name = show_path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _error(
                name,
                (1, 1),
                "size",
                f"{path.stat().st_size:,} bytes",
                f"at most {MAX_BYTES:,}",
                "split the file",
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise _error(
            name, (1, 1), "read", error.strerror or "an error", "a readable file", "check the path"
        ) from None
    except UnicodeDecodeError as error:
        before = error.object[: error.start].split(b"\n")
        found = f"byte {error.object[error.start]:#04x}"
        place = len(before), len(before[-1]) + 1
        raise _error(
            name, place, "encoding", found, "UTF-8 text", "save the file as UTF-8"
        ) from None


def parse_yaml(text: str, name: str) -> Node:
    """Parse YAML text; `name` is the file name that errors show."""
    if len(text) > MAX_BYTES:
        raise _error(
            name,
            (1, 1),
            "size",
            f"{len(text):,} characters",
            f"at most {MAX_BYTES:,}",
            "split the file",
        )
    try:
        return _Builder(name).build(yaml.parse(text, Loader=_Loader))
    except yaml.reader.ReaderError:
        line, column = _unreadable(text)
        found = "a control character or one that YAML does not allow"
        raise _error(
            name, (line, column), "yaml", found, "printable text", "retype the line"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        found = shorten(getattr(error, "problem", None) or "text that does not parse").removeprefix(
            "found "
        )
        raise _error(
            name, (line, column), "yaml", found, "well-formed YAML", "check quotes and indentation"
        ) from None
    except (RecursionError, ValueError) as error:
        raise _error(
            name, (1, 1), "yaml", shorten(error), "well-formed YAML", "check the file"
        ) from None


_READABLE = r"[\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"


def _unreadable(text: str) -> tuple[int, int]:
    """Line and column of the first character outside YAML's character set."""
    start = text.startswith("\ufeff")
    before = text[: re.compile(_READABLE).match(text, start).end()].split("\n")  # type: ignore[union-attr]
    return len(before), len(before[-1]) + 1


def _error(
    name: str, place: tuple[int, int], rule: str, found: str, expected: str, mend: str
) -> DataError:
    return DataError([Problem(name, *place, rule, found, expected, mend)])


class _Builder:
    """Turns the event stream into Nodes with an explicit stack, so depth costs no recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stack: list[
            tuple[Node, str | None, bool]
        ] = []  # container, pending key, expects a key
        self.root: Node | None = None

    def build(self, events: Iterator[Any]) -> Node:
        for event in events:
            self._take(event)
        if self.root is None:
            raise _error(
                self.name,
                (1, 1),
                "empty",
                "no content",
                "a mapping",
                "fill the file in from the template",
            )
        return self.root

    def _take(self, event: Any) -> None:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if getattr(event, "anchor", None) is not None:
            self._refuse(
                line,
                column,
                "anchors",
                f"anchor or alias '{shorten(event.anchor)}'",
                "each value written out",
            )
        if isinstance(event, yaml.events.NodeEvent) and getattr(event, "tag", None) not in (
            None,
            "!",
        ):
            self._refuse(line, column, "tags", f"tag '{shorten(event.tag)}'", "plain values")
        if isinstance(event, yaml.ScalarEvent):
            self._add(Node(_scalar(event), line, column), event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(Node({}, line, column, {}), line, column)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(Node([], line, column), line, column)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self.stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            self._refuse(line, column, "documents", "a second document", "one document per file")

    def _open(self, node: Node, line: int, column: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self._refuse(line, column, "depth", f"nesting deeper than {MAX_DEPTH}", "a flat entry")
        self._add(node, None)
        self.stack.append((node, None, isinstance(node.value, dict)))

    def _add(self, node: Node, event: Any) -> None:
        if not self.stack:
            self.root = node
            return
        parent, key, wants_key = self.stack[-1]
        if isinstance(parent.value, list):
            parent.value.append(node)
        elif wants_key:
            name = event.value if event is not None else None
            if name is None:
                self._refuse(node.line, node.column, "keys", "a key that is not text", "a name")
            if name in parent.value:
                self._refuse(
                    node.line,
                    node.column,
                    "duplicate-key",
                    f"'{shorten(name)}' twice",
                    "each key once",
                )
            parent.key_marks[name] = (node.line, node.column)  # type: ignore[index]
            self.stack[-1] = (parent, name, False)
        else:
            parent.value[key] = node
            self.stack[-1] = (parent, None, True)

    def _refuse(self, line: int, column: int, rule: str, found: str, expected: str) -> None:
        raise _error(self.name, (line, column), rule, found, expected, "rewrite this line")


_INT = re.compile(r"[-+]?\d[\d_]*$", re.ASCII)
_FLOAT = re.compile(
    r"[-+]?(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][-+]?\d+)?$|[-+]?\d[\d_]*\.(?:[eE][-+]?\d+)?$", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$", re.ASCII)
_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}


def _scalar(event: Any) -> Any:
    """YAML 1.2 core scalars, plus ISO dates; quoted text is always text."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if (
        text[0] in "+-.0123456789"
        and text[-1] in ".0123456789"
        and len(text) <= 40
        and text.isascii()
    ):
        return _number_or_date(text)
    return text


def _number_or_date(text: str) -> Any:
    """A whole number, a decimal or an ISO date; any other text, such as the sparsity 2:4, stays
    text.
    """
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    if len(text) == 10 and text[4] == text[7] == "-" and text.replace("-", "").isdigit():
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:  # 30 February
            return text
    return text
