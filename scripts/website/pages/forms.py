"""The form on a calculator's page: its place in HTML, and what the script must know to build it."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from flopbook.evaluation.answers import example, said
from flopbook.evaluation.calculator import Result, calculate, takes
from flopbook.formulas.declaration import Formula, Input, Output
from scripts.website.markup import Html, attribute
from scripts.website.pages.form_state import state_query

_WORDS = Path(__file__).with_name("form_words.yaml")
FOLDED_FROM = 16  # a form with so many inputs folds them into their groups


def calculated_example(formula: Formula, number: int = 0) -> Result:
    """The answer of one of the calculator's examples."""
    options = {name.replace("-", "_"): text for name, text in formula.examples[number].items()}
    return calculate(formula.id, **options)


def form_markup(formula: Formula) -> Html:
    """The place of the form, with the first example's answer for readers without JavaScript.

    A calculator that is ordinary Python has no form: its page says so, and shows its examples.
    """
    line = Html("<p>Example: <code>{}</code> {}.</p>").format(
        example(formula), _answer_words(formula)
    )
    if not formula.printed:
        return line + Html(
            "\n\nThis one runs in a terminal and in Python; the examples below show what it "
            "prints.\n"
        )
    # The script of the form finds its place by the class and reads the record from the attribute.
    return Html(
        '<div class="fb-calculator" data-calculator="{}" data-spec="{}">{}'
        "<noscript><p>The form needs JavaScript. Run the command below instead; it gives the same "
        "answer.</p></noscript>"
        "</div>\n"
    ).format(attribute(formula.id), json.dumps(form_record(formula)), line)


def _answer_words(formula: Formula) -> str:
    """What the first example gives: its outputs; those that are columns of a table are left out."""
    answers = [
        f"{name}: {said(answer, formula.outputs[name].unit)}"
        for name, answer in calculated_example(formula).items()
        if answer is not None and not formula.outputs[name].table
    ]
    if not answers:
        return "prints a table"
    return f"gives {'; '.join(answers)}"


def form_record(formula: Formula) -> dict[str, object]:
    """What the form needs of a formula: inputs, outputs, origins of values, first example."""
    return {
        "id": formula.id,
        "takes": list(takes(formula)),
        "inputs": [_input_record(formula, name, spec) for name, spec in formula.inputs.items()],
        "outputs": [_output_record(name, spec) for name, spec in formula.outputs.items()],
        "omissions": {each.name: each.of for each in formula.omissions},
        "example": dict(formula.examples[0]),
        **_words_record(formula),
    }


@functools.cache
def form_words() -> dict[str, dict[str, Any]]:
    """What forms say, by calculator: the file that editors read."""
    words: dict[str, dict[str, Any]] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return words


def _words_record(formula: Formula) -> dict[str, object]:
    """The large answer, its sentence, states to start from, and what may make it fit."""
    words = form_words().get(formula.id, {})
    states = words.get("scenarios", {}).items()
    return {
        "answer": words.get("answer", next(iter(formula.outputs))),
        "says": words.get("says", ""),
        "bar": words.get("bar", {}),
        "rescues": words.get("rescues", []),
        "scenarios": [[label, state_query(formula, _inner(state))] for label, state in states],
    }


def _inner(state: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): text for name, text in state.items()}


def _input_record(formula: Formula, name: str, spec: Input) -> Mapping[str, object]:
    # Groups are the headings of a long form; a short one shows all of its inputs at once.
    group = spec.group if len(formula.inputs) >= FOLDED_FROM else ""
    return {
        "name": name,
        "unit": spec.unit,
        "meaning": spec.meaning,
        "chip": spec.chip,
        "model": spec.model,
        "dtype": spec.dtype,
        "choices": list(spec.choices),
        "least": spec.least,
        "whole": spec.whole,
        "none": spec.none,
        "group": group,
        # Infinity stands for no limit here, and JSON has no infinity.
        "most": _json_limit(spec.most),
        "default": _json_limit(formula.defaults.get(name)),
        "optional": name in formula.defaults,
    }


def _output_record(name: str, spec: Output) -> Mapping[str, object]:
    return {
        "name": name,
        "unit": spec.unit,
        "meaning": spec.meaning,
        "needs": list(spec.needs),
        "absent": spec.absent,
        "choices": list(spec.choices),
    }


def _json_limit(limit: object) -> object:
    """A limit as JSON has it: infinity, which means none, is null."""
    if isinstance(limit, float) and math.isinf(limit):
        return None
    return limit
