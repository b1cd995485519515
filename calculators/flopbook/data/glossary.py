"""The only reader of the glossary: terms and symbols.

A term names the inputs and outputs of calculators that it stands for. One of these is the term's
where its symbol is among the term's too, for a name alone means several things: `tokens` are those
of a training run or of a batch.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from flopbook.data.folders import schema_paths
from flopbook.data.schema import check, load_schema, text_problems
from flopbook.data.yaml_text import Node, read_yaml
from flopbook.errors import DataError, show_path

FILE = "glossary.yaml"


class Term(NamedTuple):
    """An entry of the glossary. `chapter` is the content path, with anchor, of where it is
    introduced.

    `mark` are those of its names that chapters link to it; `line` is its first line in the file.
    """

    id: str
    term: str
    meaning: str
    unit: str
    chapter: str
    also: tuple[str, ...] = ()
    mark: tuple[str, ...] = ()
    symbol: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    elsewhere: str = ""
    see_also: tuple[str, ...] = ()
    line: int = 1


def read_glossary(path: Path) -> tuple[Term, ...]:
    """Read and check all terms, in the order of their ids. Raises DataError."""
    data, file = read_yaml(path), show_path(path)
    schema = load_schema(schema_paths()["glossary"])
    if problems := [*check(data, schema, file), *text_problems(data, file)]:
        raise DataError(problems)
    return tuple(_term(node) for node in data.value["terms"].value)


def _term(node: Node) -> Term:
    raw = {
        key: tuple(value) if isinstance(value, list) else str(value)
        for key, value in node.plain().items()
    }
    raw.setdefault("mark", (raw["term"], *raw.get("also", ())))
    return Term(**raw, line=node.line)
