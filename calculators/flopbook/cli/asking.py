"""What may be asked of a calculator beside its plain answer: solve it, sweep it, draw it."""

from __future__ import annotations

from typing import Any, NamedTuple

from flopbook.cli.calculators import refuse_binary, show
from flopbook.cli.parser import UsageError
from flopbook.drawing.pictures import DRAWINGS
from flopbook.formulas.declaration import Formula


class Asked(NamedTuple):
    """The options that ask, as they were given."""

    as_json: bool
    explain: bool
    solve: str | None = None
    target: str | None = None
    sweep: list[str] | None = None
    outputs: str | None = None
    csv: bool = False
    picture: bool = False  # the calculator's own, printed
    plot: str | None = None


def ask(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    """Print what was asked for. Raises FlopbookError."""
    if asked.sweep is not None:
        _refuse(formula, asked, "sweep", "solve", "target", "picture", "explain")
        _sweep(formula, given, asked)
    elif asked.solve is not None or asked.target is not None:
        _refuse(formula, asked, "solve", "picture", "plot", "csv", "outputs")
        _solve(formula, given, asked)
    elif (
        asked.outputs is not None
        and asked.explain
        and not asked.csv
        and asked.plot is None
        and not asked.picture
    ):
        _explain(formula, given, asked)
    elif (
        asked.csv
        or asked.outputs is not None
        or (asked.plot is not None and formula.id not in DRAWINGS)
    ):
        flag = "csv" if asked.csv else "outputs" if asked.outputs is not None else "plot"
        also = ", or --explain" if flag == "outputs" else ""
        raise UsageError(f"--{flag} shows a sweep: give --sweep NAME=VALUES as well{also}")
    else:
        _picture(formula, given, asked)


def _refuse(formula: Formula, asked: Asked, flag: str, *others: str) -> None:
    """Raise UsageError for options that ask for something else."""
    for name in others:
        if getattr(asked, name) not in (None, False):
            other = DRAWINGS[formula.id].flag if name == "picture" else name
            raise UsageError(f"--{flag} and --{other} do not go together")


def _sweep(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.cli.files import TERMINAL
    from flopbook.cli.sweeps import read_outputs, swept
    from flopbook.cli.sweeps import show as show_sweep

    if asked.csv and asked.as_json:
        raise UsageError("--csv and --json do not go together")
    if asked.plot == TERMINAL and (asked.csv or asked.as_json):
        raise UsageError("--plot - prints text of its own; leave out --csv and --json")
    if asked.csv or asked.plot not in (None, TERMINAL):
        refuse_binary("csv" if asked.csv else "plot FILE")
    form = "json" if asked.as_json else "csv" if asked.csv else "text"
    outputs = read_outputs(formula, asked.outputs)
    show_sweep(swept(formula, given, asked.sweep or []), outputs, form, asked.plot)


def _explain(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.cli.sweeps import read_outputs
    from flopbook.evaluation.calculator import calculate

    show(calculate(formula.id, **given), asked.as_json, True, read_outputs(formula, asked.outputs))


def _solve(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    if asked.solve is None or asked.target is None:
        wants = "--solve NAME" if asked.solve is None else "--target OUTPUT=VALUE"
        raise UsageError(f"--solve and --target belong together: {wants} is missing")
    from flopbook.evaluation.solving.solver import solve

    found = solve(formula.id, asked.solve, asked.target, **given)
    if asked.as_json:
        from flopbook.cli.explain import moved
        from flopbook.cli.layout import print_json

        more = (
            {"sensitivities": [one.as_json() for one in moved(found.result)]}
            if asked.explain
            else {}
        )
        return print_json(found.as_json() | more)
    print(f"{found}\n")
    return show(found.result, False, asked.explain)


def _picture(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.cli.drawing import show as drawn
    from flopbook.cli.drawing import write_plot
    from flopbook.cli.files import TERMINAL
    from flopbook.evaluation.calculator import calculate

    if asked.plot == TERMINAL:
        if asked.as_json or asked.explain:
            raise UsageError("--plot - prints text of its own; leave out --json and --explain")
        return print(drawn(formula.id, given, True, None))
    if not (asked.as_json or asked.explain):
        return print(drawn(formula.id, given, asked.picture, asked.plot))
    if asked.picture:
        flag = DRAWINGS[formula.id].flag
        raise UsageError(f"--{flag} prints text of its own; leave out --json and --explain")
    result = calculate(formula.id, **given)
    write_plot(formula.id, given, str(asked.plot))
    return show(result, asked.as_json, asked.explain)
