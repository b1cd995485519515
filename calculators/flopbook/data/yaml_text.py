"""Reads YAML into values that remember their place.

Contributed files are untrusted, and their errors must name a line. So this reads the event stream
of the C parser and builds mappings, lists and scalars that carry line and column. Anchors, tags,
duplicate keys, deep nesting and large files are refused (no YAML bombs), and scalars follow
YAML 1.2: under YAML 1.1 the sparsity `2:4` would be the number 124 and `no` a boolean.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from flopbook.data.files import MAX_YAML_BYTES, TooLarge, read_text
from flopbook.data.grouped_digits import is_group
from flopbook.errors import DataError, Problem, shorten, show_path

MAX_DEPTH = 12
MAX_KEYS = 1000  # of one mapping; ours have a hundred at most, and each unknown one takes a search

# The parser in C where PyYAML was built with it; the one in Python reads the same, slowly.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Line and column, both from 1.
Place = tuple[int, int]
_START: Place = (1, 1)


class Node:
    """A YAML value and its place: `value` is a scalar, a list of Nodes or a dict of str to Node.

    A mapping has the places of its keys in `key_marks`.
    """

    __slots__ = ("column", "key_marks", "line", "value")

    def __init__(
        self, value: Any, line: int, column: int, key_marks: dict[str, Place] | None = None
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
        if not isinstance(self.value, dict) or key not in self.value:
            return None
        return self.value[key].plain()


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
        return read_text(path, MAX_YAML_BYTES)
    except TooLarge as error:
        raise _too_large(name, str(error.strerror)) from None
    except OSError as error:
        reason = error.strerror or "an error"
        raise _error(name, _START, "read", reason, "a readable file", "check the path") from None
    except UnicodeDecodeError as error:
        observed = f"byte {error.object[error.start]:#04x}"
        place = _place_after(error.object[: error.start].split(b"\n"))
        mend = "save the file as UTF-8"
        raise _error(name, place, "encoding", observed, "UTF-8 text", mend) from None


def parse_yaml(text: str, name: str) -> Node:
    """Parse YAML text; `name` is the file name that errors show."""
    if len(text) > MAX_YAML_BYTES:
        raise _too_large(name, f"{len(text):,} characters")
    try:
        return _Builder(name, _Loader(text).get_event).build()
    except yaml.reader.ReaderError:
        observed = "a control character or one that YAML does not allow"
        place = _unreadable(text)
        raise _error(name, place, "yaml", observed, "printable text", "retype the line") from None
    except yaml.YAMLError as error:
        observed = getattr(error, "problem", None) or "text that does not parse"
        observed = shorten(observed).removeprefix("found ")
        mend = _MENDS.get(observed, "check quotes and indentation")
        observed = _FINDINGS.get(observed, observed)
        raise _error(name, _mark(error), "yaml", observed, "well-formed YAML", mend) from None
    except (RecursionError, MemoryError, OverflowError, ValueError) as error:
        observed, mend = shorten(error) or type(error).__name__, "check the file"
        raise _error(name, _START, "yaml", observed, "well-formed YAML", mend) from None


# What the parser says of a mistake that people make -> what they see of it, and what mends it.
_FINDINGS = {
    "could not find expected ':'": "a line without ': ' behind its name",
    "did not find expected ',' or '}'": "a '{' without its '}', or no comma or quote",
    "did not find expected ',' or ']'": "a '[' without its ']', or no comma or quote",
    "did not find expected key": "a line that belongs to nothing above it",
    "mapping values are not allowed in this context": "a second ': ' in one line",
}
_MENDS = {
    "could not find expected ':'": "write NAME: VALUE, with a space behind the colon",
    "did not find expected ',' or '}'": "look here and in the lines above",
    "did not find expected ',' or ']'": "look here and in the lines above",
    "did not find expected key": "indent it like the lines beside it, and close quotes above",
    "mapping values are not allowed in this context": "put a text that has a colon in it in quotes",
}
# The character set of YAML, production c-printable, without the byte order mark.
_READABLE = re.compile(
    r"[\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)


def _unreadable(text: str) -> Place:
    """The place of the first character outside YAML's character set."""
    has_byte_order_mark = text.startswith("\ufeff")
    match = _READABLE.match(text, int(has_byte_order_mark))
    assert match is not None  # the pattern matches nothing at all, too
    return _place_after(text[: match.end()].split("\n"))


def _place_after(lines: list[str] | list[bytes]) -> Place:
    """The place right behind these lines."""
    return len(lines), len(lines[-1]) + 1


def _mark(error: yaml.YAMLError) -> Place:
    """Where the parser stumbled, or where what it was in the middle of began."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return _START
    return mark.line + 1, mark.column + 1


def _place(event: Any) -> Place:
    """Where a parser saw the event begin."""
    return event.start_mark.line + 1, event.start_mark.column + 1


def _too_large(name: str, size: str) -> DataError:
    return _error(name, _START, "size", size, f"at most {MAX_YAML_BYTES:,}", "split the file")


def _error(
    name: str, place: Place, rule: str, observed: str, expected: str, mend: str
) -> DataError:
    return DataError([Problem(name, *place, rule, observed, expected, mend)])


class _Builder:
    """Turns the event stream into Nodes: a mapping or list reads its events until its end.

    Depth is bounded, so it costs little of Python's stack. `next_event` gives the events in order,
    and None behind the last.
    """

    def __init__(self, name: str, next_event: Callable[[], Any]) -> None:
        self.name = name
        self._next = next_event

    def build(self) -> Node:
        """The only value of the only document. Raises DataError and yaml.YAMLError."""
        root: Node | None = None
        while (event := self._next()) is not None:
            if isinstance(event, yaml.NodeEvent):
                root = self._value(event, 0)
            elif isinstance(event, yaml.DocumentStartEvent) and root is not None:
                expected = "one document per file"
                raise self._refusal(_place(event), "documents", "a second document", expected)
        if root is None:
            mend = "fill the file in from the template"
            raise _error(self.name, _START, "empty", "no content", "a mapping", mend)
        return root

    def _value(self, event: Any, depth: int) -> Node:
        """The value that begins with this event, inside of so many mappings and lists."""
        if event.anchor is not None or getattr(event, "tag", None) is not None:
            self._refuse_indirection(event)
        if isinstance(event, yaml.ScalarEvent):
            mark: Any = event.start_mark  # optional by its type only: a parser sets it
            return Node(_scalar(event), mark.line + 1, mark.column + 1)
        if depth >= MAX_DEPTH:
            observed = f"nesting deeper than {MAX_DEPTH}"
            raise self._refusal(_place(event), "depth", observed, "a flat entry")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, depth + 1)
        children = []
        while not isinstance(child := self._next(), yaml.SequenceEndEvent):
            children.append(self._value(child, depth + 1))
        return Node(children, *_place(event))

    def _mapping(self, start: Any, depth: int) -> Node:
        values: dict[str, Node] = {}
        marks: dict[str, Place] = {}
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent) or key.tag or key.anchor:
                self._refuse_key(key)
            name = key.value
            place = _place(key)
            if name in values:
                raise self._repeated(name, place)
            if len(values) >= MAX_KEYS:
                observed = f"more than {MAX_KEYS:,} names in one mapping"
                raise self._refusal(place, "keys", observed, "fewer")
            marks[name] = place
            values[name] = self._value(self._next(), depth)
        return Node(values, *_place(start), marks)

    def _refuse_key(self, event: Any) -> None:
        """Refuse all but plain text, and text that says with `!` that it is text."""
        self._refuse_indirection(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refusal(_place(event), "keys", "a key that is not text", "a name")

    def _refuse_indirection(self, event: Any) -> None:
        """Anchors and aliases make small files large; tags make objects of text."""
        anchor = event.anchor
        if anchor is not None:
            observed = f"anchor or alias '{shorten(anchor)}'"
            raise self._refusal(_place(event), "anchors", observed, "each value written out")
        tag = getattr(event, "tag", None)  # an alias has none
        # "!" only says that a scalar is text.
        if tag not in (None, "!"):
            raise self._refusal(_place(event), "tags", f"tag '{shorten(tag)}'", "plain values")

    def _repeated(self, name: str, place: Place) -> DataError:
        observed = f"'{shorten(name)}' twice"
        expected = "each key once"
        if not is_group(name):
            mend = "remove one of the two"
        else:  # of a number such as 1,000,000
            expected += ", and numbers without commas between their digits"
            mend = "rewrite this line"
        return _error(self.name, place, "duplicate-key", observed, expected, mend)

    def _refusal(self, place: Place, rule: str, observed: str, expected: str) -> DataError:
        return _error(self.name, place, rule, observed, expected, "rewrite this line")


_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}
_LONGEST_WORD = max(map(len, _WORDS))
# No number or date of the data is longer; reading digits without end as a number takes long.
_LONGEST_NUMBER = 40


def _scalar(event: yaml.ScalarEvent) -> Any:
    """YAML 1.2 core scalars, plus ISO dates; quoted text is always text."""
    text: str = event.value
    is_plain = event.implicit[0]
    if not is_plain:
        return text
    if len(text) <= _LONGEST_WORD and (word := text.lower()) in _WORDS:
        return _WORDS[word]
    return _number_or_date(text) if _is_like_a_number(text) else text


def _is_like_a_number(text: str) -> bool:
    begins_and_ends_like_one = text[0] in "+-.0123456789" and text[-1] in ".0123456789"
    return begins_and_ends_like_one and len(text) <= _LONGEST_NUMBER and text.isascii()


def is_number(text: str) -> bool:
    """Whether YAML reads this as a number where it stands without quotes.

    >>> is_number("33.5"), is_number("1e15"), is_number("2:4"), is_number("")
    (True, True, False, False)
    """
    return (
        bool(text) and _is_like_a_number(text) and isinstance(_number_or_date(text), (int, float))
    )


def _number_or_date(text: str) -> int | float | datetime.date | str:
    """A whole number, a decimal or an ISO date; any other, such as the sparsity 2:4, is text."""
    if "_" in text:  # a number to Python and to YAML 1.1, text to every other reader
        return text
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    # fromisoformat alone would read 2026-W01 and 20261121, too.
    if len(text) == 10 and text[4] == text[7] == "-" and text.replace("-", "").isdigit():
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:  # 30 February
            return text
    return text
