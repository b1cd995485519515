"""The reader of topics: the tree in which references are placed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flopbook.data.folders import schema_paths
from flopbook.data.schema import check, load_schema, text_problems
from flopbook.data.yaml_text import Node, read_yaml
from flopbook.errors import DataError, Problem, show_path

FILE = "topics.yaml"


@dataclass(frozen=True, slots=True)
class Topic:
    """A node of the tree of topics."""

    id: str
    title: str
    intro: str
    children: tuple[Topic, ...] = ()
    start_here: tuple[str, ...] = ()
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
    data = read_yaml(path)
    file = show_path(path)
    problems = [
        *check(data, load_schema(schema_paths()["topics"]), file),
        *text_problems(data, file),
    ]
    if problems:
        raise DataError(problems)
    problems = list(_tree_problems(data.value["topics"], file, 1, set()))
    if problems:
        raise DataError(problems)
    return tuple(_topic(node) for node in data.value["topics"].value)


def _tree_problems(nodes: Node, file: str, depth: int, seen: set[str]) -> Iterator[Problem]:
    for node in nodes.value:
        topic_id = node.get("id")
        if topic_id in seen:
            yield Problem(
                file,
                node.line,
                node.column,
                "duplicate",
                f"topic '{topic_id}'",
                "each id once",
                "rename it",
            )
        seen.add(topic_id)
        if "children" in node.value:
            if depth >= 3:
                yield Problem(
                    file,
                    node.line,
                    node.column,
                    "depth",
                    "a fourth level",
                    "at most three",
                    "move it up",
                )
            yield from _tree_problems(node.value["children"], file, depth + 1, seen)


def _topic(node: Node) -> Topic:
    """A topic and all below it; its line is that of its introduction."""
    raw = {name: child.plain() for name, child in node.value.items() if name != "children"}
    lists = {name: tuple(raw.pop(name, ())) for name in ("start_here", "calculators", "chips")}
    children = (
        tuple(_topic(child) for child in node.value["children"].value)
        if "children" in node.value
        else ()
    )
    return Topic(**raw, **lists, children=children, line=node.value["intro"].line)
