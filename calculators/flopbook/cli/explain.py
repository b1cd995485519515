"""`--explain`: the steps with the numbers put in, units, and the sources of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.data.library import reference
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.answers import columns, said, shown
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.sensitivity import Sensitivities, sensitivities


def explanation(result: Result, outputs: Sequence[str] = ()) -> str:
    """The whole working of an answer, for people; what moves these outputs, or its first one, most."""
    formula = result.formula
    values = {
        **formula.defaults,
        **{n: v.value for n, v in result.inputs.items() if n in formula.inputs},
    }
    lines = [f"{formula.title}: {formula.summary}", "", "Inputs"]
    lines.append(columns(_inputs(result), indent="  "))
    lines += ["", "Steps"]
    lines += [f"  {line}" for line in (_steps if formula.printed else _told)(result, values)]
    for found in moved(result, outputs):
        lines += ["", *_sensitivities(found)]
    lines += [
        "",
        "Leaves out",
        *(f"  {line}" for line in formula.section("Leaves out").splitlines()),
    ]
    if result.notes:
        lines += ["", "Notes", *(f"  {note}" for note in result.notes)]
    lines += ["", "Sources", *(f"  {_source(key)}" for key in result.sources)]
    return "\n".join(lines)


def moved(result: Result, outputs: Sequence[str] = ()) -> list[Sensitivities]:
    """What moves the outputs that were asked for. Without a name, that of the first one, if it can
    be said.
    """
    if outputs:
        return [sensitivities(result, name) for name in outputs]
    try:
        return [sensitivities(result)]
    except FlopbookError:
        return []


def _sensitivities(found: Sensitivities) -> list[str]:
    lines = [f"What moves {found.output} most: for 1 % more of an input it changes by"]
    rows = []
    for one in found.inputs:
        corner = (
            ""
            if one.below is None
            else f"a corner: {one.below:+.3g} % below, {one.above:+.3g} % above"
        )
        rows.append((one.name, f"{one.elasticity:+.3g} %", corner))
    lines.append(columns(rows, indent="  ") if rows else "  nothing")
    if found.without_effect:
        lines.append(f"  without effect here: {', '.join(found.without_effect)}")
    if found.held:
        lines.append(f"  held by rules, so not moved alone: {', '.join(found.held)}")
    return lines


def _steps(result: Result, values: dict[str, Any]) -> list[str]:
    """Each step in names, with the numbers put in, and its value."""
    from flopbook.faces.worked_steps import worked

    lines = []
    for step in worked(
        result.formula, values, [name for name, value in result.items() if value is None]
    ):
        first, *more = dict.fromkeys((step.expression, step.numbers, said(step.value, step.unit)))
        lines += [f"{step.name} = {first}", *(f"{' ' * len(step.name)} = {line}" for line in more)]
    return lines


def _told(result: Result, values: dict[str, Any]) -> list[str]:
    """The steps of ordinary Python in its own words, then what they end in."""
    assert result.formula.working is not None
    outputs = result.formula.outputs
    ends = [
        f"{name} = {said(value, outputs[name].unit)}"
        for name, value in result.items()
        if value is not None
    ]
    return [*result.formula.working(**values), *ends]


def _inputs(result: Result) -> list[tuple[str, str, str]]:
    rows = []
    for name, item in result.inputs.items():
        origin = (
            f"{item.source} ({item.place})"
            if item.source
            else item.origin
            if name in result.formula.inputs
            else ""
        )
        rows.append((name, shown(item), origin))
    return rows


def _source(key: str) -> str:
    try:
        item = reference(key)
    except UnknownName:
        return key
    when = f", read {item.urldate}" if item.urldate else ""
    return f"{key}: {item.authors}, {item.title} ({item.year}). {item.link}{when}"
