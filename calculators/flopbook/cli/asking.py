"""What may be asked of a calculator beside its plain answer: solve it, sweep it, draw it."""

from __future__ import annotations

from typing import Any, NamedTuple

from flopbook.cli.answering import refuse_binary, show
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
    # From here on nothing is swept, and these need a sweep.
    elif asked.csv:
        raise _sweep_needed("csv")
    elif asked.outputs is not None:
        _explain_outputs(formula, given, asked)
    elif asked.plot is not None and formula.id not in DRAWINGS:
        raise _sweep_needed("plot")
    else:
        _picture(formula, given, asked)


def _sweep_needed(flag: str) -> UsageError:
    also = ", or --explain" if flag == "outputs" else ""
    return UsageError(f"--{flag} shows a sweep: give --sweep NAME=VALUES as well{also}")


def _refuse(formula: Formula, asked: Asked, flag: str, *others: str) -> None:
    """Raise UsageError for options that ask for something else."""
    for name in others:
        if getattr(asked, name) in (None, False):  # not given
            continue
        other_flag = DRAWINGS[formula.id].flag if name == "picture" else name
        raise UsageError(f"--{flag} and --{other_flag} do not go together")


def _sweep(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.cli.files import TERMINAL
    from flopbook.cli.sweeps import read_outputs, show_sweep, swept

    if asked.csv and asked.as_json:
        raise UsageError("--csv and --json do not go together")
    if asked.plot == TERMINAL and (asked.csv or asked.as_json):
        raise UsageError("--plot - prints text of its own; leave out --csv and --json")
    if asked.csv:
        refuse_binary("csv")
    elif asked.plot not in (None, TERMINAL):
        refuse_binary("plot FILE")
    form = "text"
    if asked.as_json:
        form = "json"
    elif asked.csv:
        form = "csv"
    outputs = read_outputs(formula, asked.outputs)
    show_sweep(swept(formula, given, asked.sweep or []), outputs, form, asked.plot)


def _explain_outputs(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    """The explanation of an answer, with what moves the outputs that were named."""
    if not asked.explain or asked.plot is not None or asked.picture:
        raise _sweep_needed("outputs")
    from flopbook.cli.sweeps import read_outputs
    from flopbook.evaluation.calculator import calculate

    show(calculate(formula.id, **given), asked.as_json, True, read_outputs(formula, asked.outputs))


def _solve(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    if asked.solve is None or asked.target is None:
        missing = "--solve NAME" if asked.solve is None else "--target OUTPUT=VALUE"
        raise UsageError(f"--solve and --target belong together: {missing} is missing")
    from flopbook.evaluation.solving.solver import solve

    solution = solve(formula.id, asked.solve, asked.target, **given)
    if not asked.as_json:
        print(f"{solution}\n")
        show(solution.result, False, asked.explain)
        return
    from flopbook.cli.explain import moved
    from flopbook.cli.layout import print_json

    record = solution.as_json()
    if asked.explain:
        record["sensitivities"] = [moves.as_json() for moves in moved(solution.result)]
    print_json(record)


def _picture(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.cli.drawing import answer_with_picture, write_plot
    from flopbook.cli.files import TERMINAL
    from flopbook.evaluation.calculator import calculate

    explains = asked.as_json or asked.explain
    if asked.plot == TERMINAL:
        if explains:
            raise UsageError("--plot - prints text of its own; leave out --json and --explain")
        print(answer_with_picture(formula.id, given, True, None))
        return
    if not explains:
        print(answer_with_picture(formula.id, given, asked.picture, asked.plot))
        return
    if asked.picture:
        flag = DRAWINGS[formula.id].flag
        raise UsageError(f"--{flag} prints text of its own; leave out --json and --explain")
    # The answer first: where there is none, no file is written.
    result = calculate(formula.id, **given)
    write_plot(formula.id, given, str(asked.plot))
    show(result, asked.as_json, asked.explain)
