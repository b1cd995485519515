"""Several chips or models at once: an answer for each, and all of them in one table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from flopbook.errors import DataError, FlopbookError
from flopbook.evaluation.answers import answer, answer_text, columns, input_text
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.request import flag
from flopbook.evaluation.results import Result
from flopbook.formulas.declaration import Formula

LISTS = ("chip", "model")  # the options that may name several, with commas between them


def names_several(formula: Formula, options: Mapping[str, Any]) -> bool:
    """Whether options name several chips or models, each to be answered for."""
    return any("," in str(options.get(name) or "") for name in _listed(formula))


def answer_each(formula: Formula, options: Mapping[str, Any]) -> list[Result]:
    """An answer for each chip and each model that is named, in the order of their names.

    Raises FlopbookError, which says for which of them, where one has no answer.
    """
    names = [name for name in _listed(formula) if options.get(name)]
    lists = [_names(name, str(options[name])) for name in names]
    results = []
    for chosen in itertools.product(*lists):
        try:
            results.append(
                calculate(formula.id, **{**options, **dict(zip(names, chosen, strict=True))})
            )
        except DataError:  # its problems are of files, a line for each
            raise
        except FlopbookError as error:
            raise FlopbookError(f"{', '.join(chosen)}: {error}") from None
    return results


def _listed(formula: Formula) -> list[str]:
    """The options that are a list here; a calculator that draws roofs takes all chips at once."""
    draws_roofs = any(spec.chip == "roofs" for spec in formula.inputs.values())
    return [name for name in LISTS if not (draws_roofs and name == "chip")]


def _names(option: str, text: str) -> list[str]:
    """The names in a list. Raises FlopbookError for an empty or a repeated one."""
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise FlopbookError(f"{flag(option)} '{text}' has an empty name; write A,B")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise FlopbookError(f"{flag(option)} names {repeated} twice")
    return names


def comparison(results: Sequence[Result]) -> str:
    """Answers side by side: outputs, inputs, then the notes with the names that they are of."""
    formula = results[0].formula
    varied = _varied(results)
    heads = [", ".join(str(result.inputs[name].value) for name in varied) for result in results]
    if any(spec.table for spec in formula.outputs.values()):
        pairs = zip(heads, results, strict=True)
        return "\n\n".join(f"{head}\n{answer(result)}" for head, result in pairs)
    outputs = [
        (name, *(answer_text(result[name], spec) for result in results), spec.meaning)
        for name, spec in formula.outputs.items()
    ]
    inputs = [
        (f"  {name}", *(_input(result, name) for result in results), "")
        for name in dict.fromkeys(name for result in results for name in result.inputs)
        if name not in varied
    ]
    rows = [*outputs, ("from", *("" for _ in heads), ""), *inputs]
    return "\n".join([columns(rows, head=["", *heads, ""]), *_notes(results, heads)])


def _varied(results: Sequence[Result]) -> list[str]:
    """Of chip and model, what differs between answers."""
    return [
        name
        for name in LISTS
        if len({str(result.inputs[name].value) for result in results if name in result.inputs}) > 1
    ]


def _input(result: Result, name: str) -> str:
    return input_text(result.inputs[name]) if name in result.inputs else ""


def _notes(results: Sequence[Result], heads: Sequence[str]) -> list[str]:
    """Each note once, with those that it is of, unless it is of all."""
    owners: dict[str, list[str]] = {}
    for head, result in zip(heads, results, strict=True):
        for note in result.notes:
            owners.setdefault(note, []).append(head)
    lines = []
    for note, those in owners.items():
        whose = "" if len(those) == len(heads) else f"{'; '.join(those)}: "
        lines.append(f"note: {whose}{note}")
    return lines
