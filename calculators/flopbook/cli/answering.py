"""Prints the answer of a calculator: as text, as JSON, or worked through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.cli.parser import UsageError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import Result
from flopbook.evaluation.several import comparison
from flopbook.quantities.units import BINARY


def show(result: Result, as_json: bool, explain: bool, outputs: Sequence[str] = ()) -> None:
    """Print an answer as it was asked for.

    `outputs` are those of which an explanation says what moves them.
    """
    if as_json:
        from flopbook.cli.layout import print_json

        print_json(_record(result, explain, outputs))
    elif explain:
        from flopbook.cli.explain import explanation

        print(explanation(result, outputs))
    else:
        print(answer(result))


def show_each(results: Sequence[Result], as_json: bool, explain: bool) -> None:
    """Print several answers: a table, `{"answers": [...]}`, or one explanation after another."""
    if as_json:
        from flopbook.cli.layout import print_json

        print_json({"answers": [_record(result, explain) for result in results]})
    elif explain:
        from flopbook.cli.explain import explanation

        print("\n\n".join(explanation(result) for result in results))
    else:
        print(comparison(results))


def _record(result: Result, explain: bool, outputs: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON of an answer, on demand with what moves it."""
    record = result.as_json()
    if explain:
        from flopbook.cli.explain import moved

        record["sensitivities"] = [moves.as_json() for moves in moved(result, outputs)]
    return record


def refuse_binary(flag: str) -> None:
    """Raise UsageError where bytes with binary prefixes would go into what has SI units."""
    if BINARY.get():
        raise UsageError(f"--binary writes text for people; --{flag} has SI units")
