"""Prints the answer of a calculator: as text, as JSON, or worked through."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.cli.parser import UsageError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import Result
from flopbook.quantities.units import BINARY


def show(result: Result, as_json: bool, explain: bool, outputs: Sequence[str] = ()) -> None:
    """Print an answer as it was asked for.

    `outputs` are those of which an explanation says what moves them.
    """
    if as_json:
        from flopbook.cli.layout import print_json

        record = result.as_json()
        if explain:
            from flopbook.cli.explain import moved

            record["sensitivities"] = [moves.as_json() for moves in moved(result, outputs)]
        print_json(record)
    elif explain:
        from flopbook.cli.explain import explanation

        print(explanation(result, outputs))
    else:
        print(answer(result))


def refuse_binary(flag: str) -> None:
    """Raise UsageError where bytes with binary prefixes would go into what has SI units."""
    if BINARY.get():
        raise UsageError(f"--binary writes text for people; --{flag} has SI units")
