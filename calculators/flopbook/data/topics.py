"""The reader of topics: the tree in which references are placed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flopbook.data.records import read_checked
from flopbook.data.yaml_text import Node
from flopbook.errors import DataError, Problem, show_path

FILE = "topics.yaml"
# The tree is printed as headings of a page.
MOST_LEVELS = 3
_LISTS = ("start_here", "calculators", "chips")


@dataclass(frozen=True, slots=True)
class Topic:
    """A node of the tree of topics."""

    id: str
    title: str
    intro: str
    children: tuple[Topic, ...] = ()
    start_here: tuple[str, ...] = ()
    about: str = ""
    few: str = ""
    calculators: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    vendor: str = ""
    line: int = 0

    def walk(self) -> Iterator[Topic]:
        """This topic and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Read and check the tree of topics. Raises DataError."""
    # A tree of another form than the schema's cannot be walked.
    document = read_checked(path, "topics")
    if problems := list(_tree_problems(document.value["topics"], show_path(path), 1, set())):
        raise DataError(problems)
    return tuple(_topic(node) for node in document.value["topics"].value)


def _tree_problems(nodes: Node, file: str, level: int, ids: set[str]) -> Iterator[Problem]:
    for node in nodes.value:
        place = file, node.line, node.column
        topic_id = node.get("id")
        if topic_id in ids:
            yield Problem(*place, "duplicate", f"topic '{topic_id}'", "each id once", "rename it")
        ids.add(topic_id)
        if "children" not in node.value:
            continue
        if level >= MOST_LEVELS:
            yield Problem(*place, "depth", "a fourth level", "at most three", "move it up")
        yield from _tree_problems(node.value["children"], file, level + 1, ids)


def _topic(node: Node) -> Topic:
    """A topic and all below it; its line is that of its introduction."""
    fields: dict[str, Any] = {}
    for name, child in node.value.items():
        if name == "children":
            fields[name] = tuple(_topic(below) for below in child.value)
        else:
            fields[name] = child.plain()
    for name in _LISTS:
        fields[name] = tuple(fields.get(name, ()))
    return Topic(**fields, line=node.value["intro"].line)
