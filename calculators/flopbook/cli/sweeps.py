"""`--sweep`: a table, CSV, JSON or a picture of a calculator over ranges of its inputs."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterable
from typing import Any

from flopbook.cli.files import TERMINAL, write_svg
from flopbook.cli.sweep_plot import terminal_plot
from flopbook.drawing.curves import curves_svg, plot_of
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.answers import answer, columns, counted, format_value, output_text
from flopbook.evaluation.axes import read_axis
from flopbook.evaluation.results import Result
from flopbook.evaluation.sweeping import Sweep, sweep
from flopbook.formulas.declaration import Formula

MOST_EXACT = 1e15  # below, a float that is a whole number has all its digits


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
    fixed = {name: value for name, value in given.items() if name not in names}
    return sweep(formula.id, **fixed, **dict(zip(names, axes, strict=True)))


def read_outputs(formula: Formula, text: str | None) -> list[str]:
    """Names of outputs, separated by commas. Raises UnknownName."""
    if text is None:
        return []
    names = [name.strip().replace("-", "_") for name in text.split(",")]
    for name in names:
        if name not in formula.outputs:
            raise UnknownName(f"output of {formula.id}", name, formula.outputs)
    return list(dict.fromkeys(names))


def show_sweep(grid: Sweep, outputs: list[str], form: str, plot: str | None) -> None:
    """Print a sweep as `text`, `csv` or `json`, and draw it where a plot is asked for."""
    has_file = plot is not None and plot != TERMINAL
    if plot is not None and has_file:
        write_svg(plot, lambda: curves_svg(plot_of(grid, outputs)))
    if form == "json":
        from flopbook.cli.layout import print_json

        record = grid.as_json()
        if outputs:
            record["outputs"] = {name: record["outputs"][name] for name in outputs}
        print_json(record)
        return
    if form == "csv":
        _print_csv(grid, outputs)
        return
    if plot == TERMINAL:
        if grid.misfit:
            print(grid.misfit)
        print(terminal_plot(plot_of(grid, outputs), shutil.get_terminal_size().columns))
    else:
        print(table(grid, outputs))
    if has_file:
        print(f"wrote {plot}")


def _print_csv(grid: Sweep, outputs: list[str]) -> None:
    """SI values in full, empty where there is none; the last column says why one is refused."""
    import csv

    names = [*(axis.name for axis in grid.axes), *(outputs or grid.formula.outputs)]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*names, "refused"])
    csv_columns = [list(map(_csv_cell, grid.column(name))) for name in names]
    for point, row in enumerate(zip(*csv_columns, strict=True)):
        writer.writerow([*row, grid.problems.get(point, "")])


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ""
    if value.is_integer() and abs(value) < MOST_EXACT:
        return int(value)
    return repr(value)  # as many digits as it takes to read the same float back


def table(grid: Sweep, outputs: list[str]) -> str:
    """A row for each point, then what is the same at every point and what was held."""
    names = outputs or grid.outputs()
    constants = {} if outputs else _constants(grid, names)
    # Where nothing varies, a column of equal values says more than none.
    varying = [name for name in names if name not in constants] or names
    # Numbers of points that cannot run look like all others.
    lines = [grid.misfit] if grid.misfit else []
    lines.append(_rows(grid, varying))
    if grid.problems:
        lines.append(f"{counted(len(grid.problems), 'point')} of {grid.size:,} refused")
    if len(varying) < len(names):
        lines += [f"the same at every point: {name} {text}" for name, text in constants.items()]
    inputs = answer(Result(grid.formula, grid.inputs, {}, grid.notes, grid.sources))
    return "\n".join([*lines, inputs.lstrip("\n")])


def _rows(grid: Sweep, outputs: list[str]) -> str:
    """The points as a table; outputs of a refused one are dashes, and its reason stands last."""
    swept_names = [axis.name for axis in grid.axes]
    head = [*swept_names, *outputs]
    cells = [[_cell(grid, name, value) for value in grid.column(name)] for name in head]
    rows = [list(row) for row in zip(*cells, strict=True)]
    if not grid.problems:
        return columns(rows, head=head)
    for point, row in enumerate(rows):
        # A refused point has inputs and a reason, and no outputs.
        if point in grid.problems:
            row[len(swept_names) :] = ["-"] * len(outputs)
        row.append(grid.problems.get(point, ""))
    return columns(rows, head=[*head, "refused"])


def _constants(grid: Sweep, names: list[str]) -> dict[str, str]:
    """The outputs that have the same value at every point, as text."""
    constants = {}
    for name in names:
        values = [v for point, v in enumerate(grid.column(name)) if point not in grid.problems]
        # By their text: "not a number" is not equal to itself.
        if grid.size > 1 and len(set(map(repr, values))) == 1:
            constants[name] = _cell(grid, name, values[0])
    return constants


def _cell(grid: Sweep, name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "n/a"
    if name in grid.formula.outputs:
        return output_text(value, grid.formula.outputs[name])
    return format_value(value, grid.unit(name) or "1")
