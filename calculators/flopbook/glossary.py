"""The only reader of the glossary: terms and symbols, and the calculators that use each.

A term names the inputs and outputs of calculators that it stands for. One of these is the term's where its symbol is
among the term's too, for a name alone means several things: `tokens` are those of a training run or of a batch.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.documents import Node, read_yaml
from flopbook.formula import Input, Output
from flopbook.formulas import formulas
from flopbook.problems import DataError, show_path
from flopbook.schema import check, load_schema, text_problems
from flopbook.tiers import BIBLIOGRAPHY

FILE = "glossary.yaml"
_WORD = r"\text{"  # an input that is one of several words has its name for a symbol


class Term(NamedTuple):
    """An entry of the glossary. `chapter` is the content path, with anchor, of where it is introduced.

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

    def has(self, name: str, spec: Input | Output) -> bool:
        """Whether this input or output of a calculator is what the term means."""
        return name in self.names and (spec.symbol in self.symbol or spec.symbol.startswith(_WORD))


@functools.cache
def glossary(root: Path = BIBLIOGRAPHY) -> tuple[Term, ...]:
    """All terms, in the order of their ids. Raises DataError."""
    path = root / FILE
    data, file = read_yaml(path), show_path(path)
    schema = load_schema(BIBLIOGRAPHY / "glossary.schema.json")
    if problems := [*check(data, schema, file), *text_problems(data, file)]:
        raise DataError(problems)
    return tuple(_term(node) for node in data.value["terms"].value)


def _term(node: Node) -> Term:
    raw = {key: tuple(value) if isinstance(value, list) else str(value) for key, value in node.plain().items()}
    raw.setdefault("mark", (raw["term"], *raw.get("also", ())))
    return Term(**raw, line=node.line)


def quantities() -> Iterator[tuple[str, str, Input | Output]]:
    """Every input and output of every calculator: calculator, name and what is declared of it."""
    for formula in formulas().values():
        for name, spec in (*formula.inputs.items(), *formula.outputs.items()):
            yield formula.id, name, spec


@functools.cache
def uses() -> dict[str, dict[str, tuple[str, ...]]]:
    """Term -> calculators that take or give it -> the names that it has there."""
    found: dict[str, dict[str, tuple[str, ...]]] = {term.id: {} for term in glossary()}
    for calculator, name, spec in quantities():
        for term in glossary():
            if term.has(name, spec):
                known = found[term.id].get(calculator, ())
                found[term.id][calculator] = (*known, *(() if name in known else (name,)))
    return found


def term_of(name: str, spec: Input | Output) -> Term | None:
    """The term that an input or output of a calculator stands for: one with its symbol, else one that names it."""
    found = [term for term in glossary() if term.has(name, spec)]
    return min(found, key=lambda term: (spec.symbol not in term.symbol, bool(term.symbol)), default=None)
