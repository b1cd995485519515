"""What `help()` and an editor show of a calculator, made from its function when somebody asks."""

from __future__ import annotations

import inspect
import math
import textwrap
from typing import Any

from flopbook.formulas.description import Description, Input

WIDTH = 100
# A default that is longer, such as a list of kernels, would bury what the input means.
LONGEST_DEFAULT = WIDTH // 2
# What an example's call leaves for `answer = calculate()` around it; longer ones get own lines.
LONGEST_CALL = WIDTH - 40


def document(formula: Description) -> str:
    """Question, inputs and outputs with units, derivation, sources, and an example."""
    inputs = [
        _entry(name, _kind(formula, name), _meaning(formula, name)) for name in formula.inputs
    ]
    outputs = [
        _entry(name, "a word" if spec.choices else spec.unit, _choices(spec.meaning, spec.choices))
        for name, spec in formula.outputs.items()
    ]
    each = "a number or a NumPy array" if formula.printed else "a number"
    sections = [
        f"{title}:\n{_indented(formula.section(title))}" for title in ("Derivation", "Leaves out")
    ]
    blocks = [
        formula.summary,
        formula.question,
        f"Inputs, by name; SI units, each {each}:\n" + "\n".join(inputs),
        "Returns a dict:\n" + "\n".join(outputs),
        *sections,
        textwrap.fill(f"Sources: {', '.join(formula.sources)}", WIDTH),
        "Raises FlopbookError for values out of range.",
        _example(formula),
    ]
    return "\n\n".join(blocks)


def signature(formula: Description) -> inspect.Signature:
    """The inputs as parameters: by keyword only, those that must be given first."""
    parameters = [_parameter(formula, name) for name in formula.inputs]
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    return inspect.Signature(parameters, return_annotation=dict[str, Any])


def _parameter(formula: Description, name: str) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=formula.defaults.get(name, inspect.Parameter.empty),
        annotation=float if formula.inputs[name].is_number else str,
    )


def _kind(formula: Description, name: str) -> str:
    """Unit and default of an input, as its entry has them in brackets."""
    unit = _unit(formula.inputs[name])
    if name not in formula.defaults:
        return unit
    default = formula.defaults[name]
    if len(str(default)) > LONGEST_DEFAULT:
        return f"{unit}, one by default"
    if default == math.inf:  # a limit that nobody set
        return f"{unit}, open by default"
    return f"{unit}, default {default}"


def _unit(spec: Input) -> str:
    """The unit of an input, or what it is instead of a number."""
    if spec.is_number:
        return spec.unit
    return "a text" if spec.text else "a word"


def _meaning(formula: Description, name: str) -> str:
    """What an input is, its choices, and what `calculate` can look it up in."""
    spec = formula.inputs[name]
    fields = {"chip": spec.chip, "model": spec.model, "dtype": spec.dtype}
    origins = [origin for origin, field in fields.items() if field]
    text = _choices(spec.meaning, spec.choices)
    if not origins:
        return text
    return f"{text}; `calculate` takes it from {' or '.join(origins)}"


def _choices(meaning: str, choices: tuple[str, ...]) -> str:
    return f"{meaning}: {', '.join(choices)}" if choices else meaning


def _entry(name: str, kind: str, meaning: str) -> str:
    """Name and kind on a line, the meaning indented below."""
    indent = " " * 8
    text = textwrap.fill(meaning, WIDTH, initial_indent=indent, subsequent_indent=indent)
    return f"    {name} ({kind})\n{text}"


def _indented(text: str) -> str:
    """Paragraphs of a docstring, wrapped again to this width."""
    indent = " " * 4
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(
        textwrap.fill(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent)
        for paragraph in paragraphs
    )


def _example(formula: Description) -> str:
    """The first example through `calculate`.

    What it answers is named and not printed, because data may change.
    """
    options = ", ".join(
        f"{key.replace('-', '_')}={value!r}" for key, value in formula.examples[0].items()
    )
    call = f"{formula.id!r}, {options}"
    if len(call) > LONGEST_CALL:
        indent = "    ...     "
        lines = textwrap.fill(call, WIDTH, initial_indent=indent, subsequent_indent=indent)
        call = f"\n{lines}\n    ... "
    output, spec = next(iter(formula.outputs.items()))
    return (
        "Example:\n    >>> from flopbook import calculate\n"
        f"    >>> answer = calculate({call})\n"
        f"    >>> answer[{output!r}] is not None, answer.formula.outputs[{output!r}].unit\n"
        f"    (True, {spec.unit!r})"
    )
