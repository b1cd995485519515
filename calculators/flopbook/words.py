"""An answer in plain text, as a terminal and a page show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.calculator import Result, Value
from flopbook.formula import Formula
from flopbook.units import format_quantity


def example(formula: Formula, which: int = 0) -> str:
    """A command line that works, from the formula's examples."""
    options = " ".join(f"--{name} {value}" for name, value in formula.examples[which].items())
    return f"flopbook {formula.id} {options}"


def answer(result: Result, *, binary: bool = False) -> str:
    """The answer for people: outputs first, then what went in, then what must be known; bytes `binary` if asked."""
    outputs = result.formula.outputs
    rows = [
        (name, "open" if value is None else said(value, outputs[name].unit, binary=binary), outputs[name].meaning)
        for name, value in result.items()
    ]
    inputs = [
        (name, said(item.value, item.unit or "1", binary=binary), _origin(item)) for name, item in result.inputs.items()
    ]
    blocks = [columns(rows), "from", columns(inputs, indent="  ")]
    blocks += [f"note: {note}" for note in result.notes]
    return "\n".join(blocks)


def shown(item: Value, *, binary: bool = False) -> str:
    """An input's value with its unit."""
    return said(item.value, item.unit or "1", binary=binary)


def said(value: Any, unit: str, *, binary: bool = False) -> str:
    """A value with its unit; a word as it is."""
    return str(value) if isinstance(value, str) else format_quantity(value, unit, binary=binary)


def _origin(item: Value) -> str:
    return f"{item.source}" if item.source else "" if item.origin == "given" else item.origin


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 problem, 2 problems."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def columns(rows: Sequence[Sequence[str]], indent: str = "", head: Sequence[str] | None = None) -> str:
    """Rows as aligned columns; the last column is left as it is."""
    every = [list(head), *rows] if head else list(rows)
    if not every:
        return ""
    widths = [max(len(str(row[i])) for row in every) for i in range(len(every[0]))]
    return "\n".join(
        (indent + "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in every
    )
