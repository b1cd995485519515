"""The only reader of the glossary: terms and symbols.

A term names the inputs and outputs of calculators that it stands for. One of these is the term's
where its symbol is among the term's too, for a name alone means several things: `tokens` are those
of a training run or of a batch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.records import read_checked
from flopbook.data.yaml_text import Node

FILE = "glossary.yaml"


class Term(NamedTuple):
    """An entry of the glossary.

    `chapter` is the content path, with anchor, of where it is introduced; `mark` are those of its
    names that chapters link to it; `line` is its first line in the file.
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
    document = read_checked(path, "glossary")
    return tuple(_term(node) for node in document.value["terms"].value)


def _term(node: Node) -> Term:
    fields: dict[str, Any] = {}
    for name, field in node.plain().items():
        fields[name] = tuple(field) if isinstance(field, list) else str(field)
    # Chapters link every name of a term, unless the term says which.
    fields.setdefault("mark", (fields["term"], *fields.get("also", ())))
    return Term(**fields, line=node.line)
