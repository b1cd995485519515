"""What `help()` and an editor show of a calculator, made from its function when somebody asks."""

from __future__ import annotations

import inspect
import math
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flopbook.formulas.declaration import Formula

WIDTH = 100


def document(formula: Formula) -> str:
    """The text of a calculator: question, inputs and outputs with units, derivation, sources, and
    an example.
    """
    inputs = [_item(name, _kind(formula, name), _meaning(formula, name)) for name in formula.inputs]
    outputs = [
        _item(name, "a word" if spec.choices else spec.unit, _choices(spec.meaning, spec.choices))
        for name, spec in formula.outputs.items()
    ]
    each = "a number or a NumPy array" if formula.printed else "a number"
    blocks = [
        formula.summary,
        formula.question,
        f"Inputs, by name; SI units, each {each}:\n" + "\n".join(inputs),
        "Returns a dict:\n" + "\n".join(outputs),
        *(
            f"{title}:\n{_indented(formula.section(title))}"
            for title in ("Derivation", "Leaves out")
        ),
        textwrap.fill(f"Sources: {', '.join(formula.sources)}", WIDTH),
        "Raises FlopbookError for values out of range.",
        _example(formula),
    ]
    return "\n\n".join(blocks)


def signature(formula: Formula) -> inspect.Signature:
    """The inputs as parameters: by keyword only, those that must be given first."""
    kind = inspect.Parameter.KEYWORD_ONLY
    found = [
        inspect.Parameter(
            name,
            kind,
            default=formula.defaults.get(name, inspect.Parameter.empty),
            annotation=float if spec.is_number else str,
        )
        for name, spec in formula.inputs.items()
    ]
    found.sort(key=lambda one: one.default is not inspect.Parameter.empty)
    return inspect.Signature(found, return_annotation=dict[str, Any])


def _kind(formula: Formula, name: str) -> str:
    spec = formula.inputs[name]
    unit = spec.unit if spec.is_number else "a text" if spec.text else "a word"
    if name not in formula.defaults:
        return unit
    default = formula.defaults[name]
    if len(str(default)) > WIDTH // 2:
        return f"{unit}, one by default"
    return f"{unit}, open by default" if default == math.inf else f"{unit}, default {default}"


def _meaning(formula: Formula, name: str) -> str:
    spec = formula.inputs[name]
    ways = [
        way
        for way, has in (("chip", spec.chip), ("model", spec.model), ("dtype", spec.dtype))
        if has
    ]
    return _choices(spec.meaning, spec.choices) + (
        f"; `calculate` takes it from {' or '.join(ways)}" if ways else ""
    )


def _choices(meaning: str, choices: tuple[str, ...]) -> str:
    return f"{meaning}: {', '.join(choices)}" if choices else meaning


def _item(name: str, kind: str, meaning: str) -> str:
    return f"    {name} ({kind})\n" + textwrap.fill(
        meaning, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8
    )


def _indented(text: str) -> str:
    parts = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(
        textwrap.fill(p, WIDTH, initial_indent="    ", subsequent_indent="    ") for p in parts
    )


def _example(formula: Formula) -> str:
    """The first example through `calculate`; what it answers is named and not printed, for data may
    change.
    """
    given = ", ".join(
        f"{key.replace('-', '_')}={value!r}" for key, value in formula.examples[0].items()
    )
    call = f"{formula.id!r}, {given}"
    if len(call) > WIDTH - 40:
        lines = textwrap.fill(
            call, WIDTH, initial_indent="    ...     ", subsequent_indent="    ...     "
        )
        call = f"\n{lines}\n    ... "
    name = next(iter(formula.outputs))
    return (
        "Example:\n    >>> from flopbook import calculate\n"
        f"    >>> answer = calculate({call})\n"
        f"    >>> answer[{name!r}] is not None, answer.formula.outputs[{name!r}].unit\n"
        f"    (True, {formula.outputs[name].unit!r})"
    )
