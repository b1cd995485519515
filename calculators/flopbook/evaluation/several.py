"""Several chips or models at once: an answer for each, and all of them in one table."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
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
        # Tables have columns of their own, so their answers stand one below the other.
        pairs = zip(heads, results, strict=True)
        return "\n\n".join(f"{head}\n{answer(result)}" for head, result in pairs)
    separator = ("from", *[""] * len(results), "")
    rows = [*_output_rows(results), separator, *_input_rows(results, varied)]
    lines = [*_misfits(results, heads), columns(rows, head=["", *heads, ""])]
    return "\n".join([*lines, *_notes(results, heads)])


def _misfits(results: Sequence[Result], heads: Sequence[str]) -> list[str]:
    """A line for each answer that does not fit into memory: its numbers cannot be had."""
    pairs = zip(heads, results, strict=True)
    return [f"{head}: {one.fit.text}" for head, one in pairs if one.fit and one.fit.text]


def _output_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A row for each output: its name, every answer, what it means."""
    rows = []
    for name, spec in results[0].formula.outputs.items():
        texts = [answer_text(result[name], spec) for result in results]
        rows.append((name, *texts, spec.meaning))
    return rows


def _input_rows(results: Sequence[Result], varied: Collection[str]) -> list[tuple[str, ...]]:
    """A row for each input that the head of a column does not name already."""
    names: dict[str, None] = {}
    for result in results:
        names |= dict.fromkeys(result.inputs)
    rows = []
    for name in names:
        if name not in varied:
            texts = [_input(result, name) for result in results]
            rows.append((f"  {name}", *texts, ""))
    return rows


def _varied(results: Sequence[Result]) -> list[str]:
    """Of chip and model, what differs between answers."""
    varied = []
    for name in LISTS:
        chosen = {str(result.inputs[name].value) for result in results if name in result.inputs}
        if len(chosen) > 1:
            varied.append(name)
    return varied


def _input(result: Result, name: str) -> str:
    # One chip may supply what another leaves to a default that is not shown.
    if name not in result.inputs:
        return ""
    return input_text(result.inputs[name])


def _notes(results: Sequence[Result], heads: Sequence[str]) -> list[str]:
    """Each note once, with those that it is of, unless it is of all."""
    owners: dict[str, list[str]] = {}
    for head, result in zip(heads, results, strict=True):
        for note in result.shown_notes:
            owners.setdefault(note, []).append(head)
    lines = []
    for note, owning_heads in owners.items():
        is_of_all = len(owning_heads) == len(heads)
        prefix = "" if is_of_all else f"{'; '.join(owning_heads)}: "
        lines.append(f"note: {prefix}{note}")
    return lines
