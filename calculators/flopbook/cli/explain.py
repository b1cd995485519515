"""`--explain`: the steps with the numbers put in, units, and the sources of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.data.library import reference
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.answers import LONGEST_LINE, columns, format_value, input_text
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.results import Value
from flopbook.evaluation.sensitivity import Sensitivities, Sensitivity, sensitivities
from flopbook.formulas.declaration import Formula
from flopbook.formulas.left_out import left_out


def explanation(result: Result, outputs: Sequence[str] = ()) -> str:
    """The working of an answer, for people: inputs, steps, what moves it, limits and sources.

    `outputs` are those of which it says what moves them most, else the first one.
    """
    formula = result.formula
    used = {
        key: used_value.value for key, used_value in result.inputs.items() if key in formula.inputs
    }
    values = {**formula.defaults, **used}
    steps = _steps(result, values) if formula.printed else _working(result, values)
    lines = [f"{formula.title}: {formula.summary}", ""]
    if result.fit and result.fit.text:
        lines += [result.fit.text, ""]
    lines.append("Inputs")
    lines.append(columns(_input_rows(result), indent="  "))
    lines += ["", "Steps", *_indented(steps)]
    for moves in moved(result, outputs):
        lines += ["", *_sensitivity_lines(moves)]
    lines += ["", "Leaves out", *_left_out(formula)]
    if result.shown_notes:
        lines += ["", "Notes", *_indented(result.shown_notes)]
    lines += ["", "Sources", *_indented([_source_line(key) for key in result.sources])]
    return "\n".join(lines)


def _left_out(formula: Formula) -> list[str]:
    import textwrap

    lines = (f"- {omission}" for omission in left_out(formula))
    return [
        textwrap.fill(line, LONGEST_LINE, initial_indent="  ", subsequent_indent="    ")
        for line in lines
    ]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def moved(result: Result, outputs: Sequence[str] = ()) -> list[Sensitivities]:
    """What moves these outputs. Without a name, the first one, where that can be said."""
    if outputs:
        return [sensitivities(result, name) for name in outputs]
    # Every output may be a word or open; then nothing can be told of percents.
    try:
        return [sensitivities(result)]
    except FlopbookError:
        return []


def _sensitivity_lines(moves: Sensitivities) -> list[str]:
    lines = [f"What moves {moves.output} most: for 1 % more of an input it changes by"]
    rows = [(move.name, f"{move.elasticity:+.3g} %", _corner(move)) for move in moves.inputs]
    lines.append(columns(rows, indent="  ") if rows else "  nothing")
    if moves.without_effect:
        lines.append(f"  without effect here: {', '.join(moves.without_effect)}")
    if moves.held:
        lines.append(f"  held by rules, so not moved alone: {', '.join(moves.held)}")
    return lines


def _corner(move: Sensitivity) -> str:
    if move.below is None:
        return ""
    return f"a corner: {move.below:+.3g} % below, {move.above:+.3g} % above"


def _steps(result: Result, values: dict[str, Any]) -> list[str]:
    """Each step in names, with the numbers put in, and its value."""
    from flopbook.faces.worked_steps import worked  # reads a syntax tree

    open_outputs = [name for name, value in result.items() if value is None]
    lines = []
    for step in worked(result.formula, values, open_outputs):
        value = format_value(step.value, step.unit)
        # A step without an operation is its own value: what is the same is printed once.
        first, *further = dict.fromkeys((step.expression, step.numbers, value))
        lines.append(f"{step.name} = {first}")
        lines += [f"{' ' * len(step.name)} = {line}" for line in further]
    return lines


def _working(result: Result, values: dict[str, Any]) -> list[str]:
    """The steps of ordinary Python in its own words, then what they end in."""
    assert result.formula.working is not None  # what makes it ordinary Python
    lines = result.formula.working(**values)
    for name, value in result.items():
        if value is not None:
            lines.append(f"{name} = {format_value(value, result.formula.outputs[name].unit)}")
    return lines


def _input_rows(result: Result) -> list[tuple[str, str, str]]:
    inputs = result.formula.inputs
    return [
        (name, input_text(used), _origin(used, is_input=name in inputs))
        for name, used in result.inputs.items()
    ]


def _origin(used: Value, is_input: bool) -> str:
    """Where a value is from; a chip or a model needs no origin, it is one."""
    if used.source:
        return f"{used.source} ({used.place})"
    return used.origin if is_input else ""


def _source_line(key: str) -> str:
    try:
        work = reference(key)
    except UnknownName:  # the key is better than no source
        return key
    when = f", read {work.urldate}" if work.urldate else ""
    return f"{key}: {work.authors}, {work.title} ({work.year}). {work.place}{when}"
