"""`--sweep`: a table, CSV, JSON or a picture of a calculator over ranges of its inputs."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterable
from typing import Any

from flopbook.cli.files import TERMINAL, write_svg
from flopbook.drawing.curves import Plot, curves_svg, plot_of
from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.answers import answer, columns, counted, said, told
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.sweeping import Sweep, read_axis, sweep
from flopbook.formulas.declaration import Formula

MOST_ROWS = 48  # of a plot in a terminal
NARROWEST = 20


def swept(formula: Formula, given: dict[str, Any], texts: Iterable[str]) -> Sweep:
    """The sweep that the options ask for. Raises FlopbookError."""
    axes = [read_axis(formula, text) for text in texts]
    names = [axis.name for axis in axes]
    for name in names:
        flag = name.replace("_", "-")
        if given.get(name) is not None:
            raise FlopbookError(f"--{flag} is given and swept: leave one of the two out")
        if names.count(name) > 1:
            raise FlopbookError(f"--sweep {flag} is given twice")
    return sweep(
        formula.id,
        **{name: value for name, value in given.items() if name not in names},
        **_named(axes),
    )


def _named(axes: Iterable[Any]) -> dict[str, Any]:
    return {axis.name: axis for axis in axes}


def read_outputs(formula: Formula, text: str | None) -> list[str]:
    """Names of outputs, separated by commas. Raises UnknownName."""
    names = [name.strip().replace("-", "_") for name in text.split(",")] if text is not None else []
    for name in names:
        if name not in formula.outputs:
            raise UnknownName(f"output of {formula.id}", name, formula.outputs)
    return list(dict.fromkeys(names))


def show(found: Sweep, outputs: list[str], form: str, plot: str | None) -> None:
    """Print a sweep as `text`, `csv` or `json`, and draw it where a plot is asked for."""
    if plot is not None and plot != TERMINAL:
        write_svg(plot, lambda: curves_svg(plot_of(found, outputs)))
    if form == "json":
        from flopbook.cli.layout import print_json

        return print_json(_chosen(found.as_json(), outputs))
    if form == "csv":
        return _csv(found, outputs)
    print(
        terminal_plot(plot_of(found, outputs), _width())
        if plot == TERMINAL
        else table(found, outputs)
    )
    if plot not in (None, TERMINAL):
        print(f"wrote {plot}")
    return None


def _chosen(record: dict[str, Any], outputs: list[str]) -> dict[str, Any]:
    if outputs:
        record["outputs"] = {name: record["outputs"][name] for name in outputs}
    return record


def _width() -> int:
    return shutil.get_terminal_size().columns


def _csv(found: Sweep, outputs: list[str]) -> None:
    """SI values in full, empty where there is none; the last column says why a point is refused."""
    import csv

    names = [*(axis.name for axis in found.axes), *(outputs or found.formula.outputs)]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*names, "refused"])
    lists = [[_plain(value) for value in found.column(name)] for name in names]
    for point, row in enumerate(zip(*lists, strict=True)):
        writer.writerow([*row, found.problems.get(point, "")])


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return (
            ""
            if math.isnan(value)
            else int(value)
            if value.is_integer() and abs(value) < 1e15
            else repr(value)
        )
    return "" if value is None else value


def table(found: Sweep, outputs: list[str]) -> str:
    """A row for each point; outputs that are the same at every point stand below, as does what was
    held.
    """
    names = outputs or found.outputs()
    same = (
        {}
        if outputs
        else {name: value for name in names if (value := _constant(found, name)) is not None}
    )
    shown = [name for name in names if name not in same] or names
    swept_names = [axis.name for axis in found.axes]
    cells = [
        [_cell(found, name, value) for value in found.column(name)]
        for name in (*swept_names, *shown)
    ]
    rows = [list(row) for row in zip(*cells, strict=True)]
    head = [*swept_names, *shown]
    if found.problems:
        head.append("refused")
        for point, row in enumerate(rows):
            row.append(found.problems.get(point, ""))
            if point in found.problems:
                row[len(swept_names) : -1] = ["-"] * len(shown)
    lines = [columns(rows, head=head)]
    if found.problems:
        lines.append(f"{counted(len(found.problems), 'point')} of {found.size:,} refused")
    if len(shown) < len(names):
        lines += [f"the same at every point: {name} {value}" for name, value in same.items()]
    rest = answer(Result(found.formula, found.inputs, {}, found.notes, found.sources)).lstrip("\n")
    return "\n".join([*lines, rest])


def _constant(found: Sweep, name: str) -> str | None:
    values = [
        value for point, value in enumerate(found.column(name)) if point not in found.problems
    ]
    return (
        _cell(found, name, values[0])
        if found.size > 1 and len(set(map(repr, values))) == 1
        else None
    )


def _cell(found: Sweep, name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "open"
    outputs = found.formula.outputs
    return told(value, outputs[name]) if name in outputs else said(value, found.unit(name) or "1")


def terminal_plot(plot: Plot, width: int) -> str:
    """A row for each point, the value marked between the lowest and the highest; a letter for each
    line.
    """
    values = plot.values()
    low, high = min(values), max(values)
    rows = _rows(plot)
    labels = [said(row[0], plot.axis.unit or "1") for row in rows]
    label = max(map(len, (*labels, plot.axis.name)))
    single = len(plot.lines) == 1
    texts = ["" if not single or row[1][0] is None else said(row[1][0], plot.unit) for row in rows]
    room = max(NARROWEST, min(100, width - label - 3 - max(map(len, texts)) - 1))
    scale = Scale(low, high, 0, room - 1, plot.log) if low < high else None
    lines = [plot.title, f"{plot.axis.name.rjust(label)} |{_ends(plot, low, high, room)}|"]
    for name, text, (_, heights) in zip(labels, texts, rows, strict=True):
        track = [" "] * room
        for number, height in enumerate(heights):
            if height is not None:
                place = round(scale.at(height)) if scale else room // 2
                track[place] = (
                    "*" if single else chr(ord("a") + number) if track[place] == " " else "+"
                )
        lines.append(f"{name.rjust(label)} |{''.join(track)}| {text}".rstrip())
    if not single:
        lines.append(
            ", ".join(f"{chr(ord('a') + n)} {line.name}" for n, line in enumerate(plot.lines))
            + ", + several"
        )
    if len(rows) < len(plot.lines[0].points):
        lines.append(
            f"{len(rows)} of {len(plot.lines[0].points):,} points are shown; --plot FILE.svg shows more"
        )
    return "\n".join(lines)


def _rows(plot: Plot) -> list[tuple[Any, list[float | None]]]:
    count = len(plot.lines[0].points)
    step = math.ceil(count / MOST_ROWS)
    return [
        (plot.lines[0].points[n][0], [line.points[n][1] for line in plot.lines])
        for n in range(0, count, step)
    ]


def _ends(plot: Plot, low: float, high: float, room: int) -> str:
    left, right = said(low, plot.unit), said(high, plot.unit)
    middle = "logarithmic" if plot.log and room > len(left) + len(right) + 13 else ""
    return f"{left}{middle.center(room - len(left) - len(right))}{right}"[
        : max(room, len(left) + len(right))
    ]
