"""An answer in plain text, as a terminal and a page show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flopbook.evaluation.results import DEFAULT, GIVEN, Result, Value
from flopbook.formulas.declaration import Formula, Output
from flopbook.formulas.description import LAYER_KINDS
from flopbook.quantities.units import format_quantity, other_units

LONG = 72  # letters of an input beyond which it gets lines of its own
LONGEST_LINE = 110  # of an input on lines of its own
ORIGINS = "from"  # the line below which an answer says where each input is from
# A value with one of these has to be quoted to reach the command in one piece.
SHELL_LETTERS = frozenset(" *<>()[]{}")


def example(formula: Formula, which: int = 0) -> str:
    """A command line that works, from the formula's examples."""
    values = formula.examples[which].items()
    options = " ".join(f"--{name} {_quoted(value)}" for name, value in values)
    return f"flopbook {formula.id} {options}"


def _quoted(value: str) -> str:
    """A value as a shell takes it in one piece."""
    return f"'{value}'" if SHELL_LETTERS.intersection(value) else value


def answer(result: Result) -> str:
    """The answer for people: outputs, then the inputs with their origins, then notes."""
    specs = result.formula.outputs
    outputs = [
        (name, answer_text(value, specs[name]), specs[name].meaning)
        for name, value in result.items()
        if not specs[name].table
    ]
    inputs = [
        (name, input_text(used), _origin(used))
        for name, used in result.inputs.items()
        if not _is_idle(result.formula, name, used)
    ]
    short = [row for row in inputs if len(row[1]) <= LONG]
    # What does not fit comes first: the other numbers are of something that cannot run.
    blocks = [result.fit.text] if result.fit and result.fit.text else []
    # None below a sweep, and where all outputs are columns of tables.
    blocks += [columns(outputs)] if outputs else []
    blocks += [*_tables(result), ORIGINS]
    if short:
        blocks.append(columns(short, indent="  "))
    for row in inputs:
        if row not in short:
            blocks.append(_filled("  ".join(word for word in row if word)))
    blocks += [f"note: {note}" for note in result.shown_notes]
    return "\n".join(blocks)


def _is_idle(formula: Formula, name: str, used: Value) -> bool:
    """Whether an input speaks of a kind of layer that the model lacks: only `--json` has those."""
    return used.origin == DEFAULT and formula.inputs[name].group == LAYER_KINDS


def _filled(text: str) -> str:
    import textwrap  # few answers have so long a line

    return textwrap.fill(text, LONGEST_LINE, initial_indent="  ", subsequent_indent="      ")


def _tables(result: Result) -> list[str]:
    """Outputs that are columns of a table, a table each; a column without any value is left out."""
    outputs = result.formula.outputs
    tables = []
    for table in dict.fromkeys(spec.table for spec in outputs.values() if spec.table):
        columns_of = [name for name, spec in outputs.items() if spec.table == table]
        names = [name for name in columns_of if _has_value(result, name)]
        if not names:
            continue
        # A blank line below sets a table off from what follows.
        cells = [_cells(result[name], outputs[name].unit) for name in names]
        tables.append(columns(list(zip(*cells, strict=True)), head=names) + "\n")
    return tables


def _has_value(result: Result, name: str) -> bool:
    return name in result.outputs and set(result[name]) != {None}


def _cells(values: Sequence[Any], unit: str) -> list[str]:
    return ["" if value is None else format_value(value, unit) for value in values]


def input_text(used: Value) -> str:
    """An input's value with its unit."""
    return format_value(used.value, used.unit or "1")


def output_text(value: Any, spec: Output) -> str:
    """The value of an output: n/a where an input is missing, none where there is no such thing."""
    if value is None:
        return "n/a"
    # Infinity is "unlimited" for most outputs, and "there is none" where `absent` says so.
    if value == math.inf and spec.absent:
        return "none"
    return format_value(value, spec.unit)


def answer_text(value: Any, spec: Output) -> str:
    """The value of an output with what it is in other units that people use: 2 TJ (555.6 MWh)."""
    text = output_text(value, spec)
    if not isinstance(value, (int, float)):
        return text
    equivalents = other_units(value, spec.unit)
    return f"{text} ({equivalents})" if equivalents else text


def format_value(value: Any, unit: str) -> str:
    """A value with its unit; a word as it is; several separated by semicolons."""
    if isinstance(value, tuple):
        return "; ".join(format_value(element, unit) for element in value) or "none"
    if isinstance(value, str):
        return value
    return format_quantity(value, unit)


said = format_value  # the name under which drawings and pages import it


def _origin(used: Value) -> str:
    """Where an input is from: its source, else what supplied it; nothing where it was typed."""
    if used.source:
        return used.source
    return "" if used.origin == GIVEN else used.origin


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 problem, 2 problems."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def columns(
    rows: Sequence[Sequence[str]], indent: str = "", head: Sequence[str] | None = None
) -> str:
    """Rows as aligned columns, below a head where there is one."""
    table = [head, *rows] if head else list(rows)
    if not table:
        return ""
    # A head of other length than its rows is a mistake of ours; zip below says so.
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
