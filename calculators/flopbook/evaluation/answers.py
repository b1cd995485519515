"""An answer in plain text, as a terminal and a page show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flopbook.evaluation.calculator import Result, Value
from flopbook.formulas.declaration import Formula, Output
from flopbook.quantities.units import format_quantity

LONG = 72  # letters of an input beyond which it gets lines of its own


def example(formula: Formula, which: int = 0) -> str:
    """A command line that works, from the formula's examples."""
    options = " ".join(
        f"--{name} {_quoted(value)}" for name, value in formula.examples[which].items()
    )
    return f"flopbook {formula.id} {options}"


def _quoted(value: str) -> str:
    """A value as a shell takes it whole."""
    return f"'{value}'" if any(letter in " *<>()[]{}" for letter in value) else value


def answer(result: Result) -> str:
    """The answer for people: outputs first, then what went in, then what must be known."""
    outputs = result.formula.outputs
    rows = [
        (name, told(value, outputs[name]), outputs[name].meaning)
        for name, value in result.items()
        if not outputs[name].table
    ]
    inputs = [(name, shown(item), _origin(item)) for name, item in result.inputs.items()]
    long = [row for row in inputs if len(row[1]) > LONG]
    blocks = [*([columns(rows)] if rows else []), *_tables(result), "from"]
    blocks += (
        [columns([row for row in inputs if row not in long], indent="  ")]
        if len(long) < len(inputs)
        else []
    )
    blocks += [_filled("  ".join(word for word in row if word)) for row in long]
    blocks += [f"note: {note}" for note in result.notes]
    return "\n".join(blocks)


def _filled(text: str) -> str:
    import textwrap  # few answers have so long a line

    return textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="      ")


def _tables(result: Result) -> list[str]:
    """Outputs that are columns of a table, a table each; a column without any value is left out."""
    outputs = result.formula.outputs
    found = []
    for table in dict.fromkeys(spec.table for spec in outputs.values() if spec.table):
        every = [
            name for name, spec in outputs.items() if spec.table == table and name in result.outputs
        ]
        names = [name for name in every if set(result[name]) != {None}]
        if not names:
            continue
        cells = [
            ["" if v is None else said(v, outputs[name].unit) for v in result[name]]
            for name in names
        ]
        found.append(columns(list(zip(*cells, strict=True)), head=names) + "\n")
    return found


def shown(item: Value) -> str:
    """An input's value with its unit."""
    return said(item.value, item.unit or "1")


def told(value: Any, spec: Output) -> str:
    """The value of an output: open where an input is missing, none where there is no such thing."""
    if value is None:
        return "open"
    return "none" if value == math.inf and spec.absent else said(value, spec.unit)


def said(value: Any, unit: str) -> str:
    """A value with its unit; a word as it is; several one after the other."""
    if isinstance(value, tuple):
        return "; ".join(said(item, unit) for item in value) or "none"
    return str(value) if isinstance(value, str) else format_quantity(value, unit)


def _origin(item: Value) -> str:
    return f"{item.source}" if item.source else "" if item.origin == "given" else item.origin


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 problem, 2 problems."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def columns(
    rows: Sequence[Sequence[str]], indent: str = "", head: Sequence[str] | None = None
) -> str:
    """Rows as aligned columns; the last column is left as it is."""
    every = [list(head), *rows] if head else list(rows)
    if not every:
        return ""
    widths = [max(len(str(row[i])) for row in every) for i in range(len(every[0]))]
    return "\n".join(
        (
            indent
            + "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        ).rstrip()
        for row in every
    )
