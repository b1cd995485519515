"""What may be asked of a calculator beside its plain answer: solve it, draw it."""

from __future__ import annotations

from typing import Any, NamedTuple

from flopbook.cli.calculators import show
from flopbook.cli.parser import UsageError
from flopbook.formula import Formula


class Asked(NamedTuple):
    """The options that ask, as they were given."""

    as_json: bool
    explain: bool
    solve: str | None = None
    target: str | None = None
    timeline: bool = False
    plot: str | None = None


def ask(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    """Print what was asked for. Raises FlopbookError."""
    if asked.solve is not None or asked.target is not None:
        _check_alone(asked, "--solve", timeline=asked.timeline, plot=asked.plot is not None)
        if asked.solve is None or asked.target is None:
            wants = "--solve NAME" if asked.solve is None else "--target OUTPUT=VALUE"
            raise UsageError(f"--solve and --target belong together: {wants} is missing")
        return _solve(formula, given, asked, asked.solve, asked.target)
    _schedule(formula, given, asked)


def _check_alone(asked: Asked, flag: str, **others: bool) -> None:
    for name, used in others.items():
        if used:
            raise UsageError(f"{flag} and --{name} do not go together")


def _solve(formula: Formula, given: dict[str, Any], asked: Asked, name: str, target: str) -> None:
    from flopbook.solving import solve

    found = solve(formula.id, name, target, **given)
    if asked.as_json:
        from flopbook.cli.layout import print_json

        return print_json(found.as_json())
    print(f"{found}\n")
    show(found.result, False, asked.explain)


def _schedule(formula: Formula, given: dict[str, Any], asked: Asked) -> None:
    from flopbook.calculator import calculate
    from flopbook.cli.timeline import show as drawn
    from flopbook.cli.timeline import write_plot

    if not (asked.as_json or asked.explain):
        return print(drawn(formula.id, given, asked.timeline, asked.plot))
    if asked.timeline:
        raise UsageError("--timeline prints text of its own; leave out --json and --explain")
    write_plot(formula.id, given, str(asked.plot))
    show(calculate(formula.id, **given), asked.as_json, asked.explain)
