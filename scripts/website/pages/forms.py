"""The form on a calculator's page: its place in HTML, and what the script must know to build it."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from flopbook.evaluation.answers import example, said
from flopbook.evaluation.calculator import Result, calculate, takes
from flopbook.evaluation.fit import BATCH_FITS, SERVING, names_batch
from flopbook.faces.javascript import function_name, javascript_output, module
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula, Input, Output
from scripts.website.markup import Html, attribute
from scripts.website.pages.form_state import state_query

_WORDS = Path(__file__).with_name("form_words.yaml")
_NAMED = re.compile(r"{(\w+)}")
_NO_SCRIPT = Html("<p>JavaScript is off. Run the command instead; it gives the same answer.</p>")
FOLDED_FROM = 16  # a form with so many inputs folds them into their groups


def calculated_example(formula: Formula, number: int = 0) -> Result:
    """The answer of one of the calculator's examples."""
    options = {name.replace("-", "_"): text for name, text in formula.examples[number].items()}
    return calculate(formula.id, **options)


def form_markup(formula: Formula, waits: bool = False) -> Html:
    """The place of the form, with the first example's answer for readers without JavaScript.

    One that `waits` is made when a reader asks for it: a page of text is light without its data.
    """
    line = _shown_example(example(formula), _answer_words(formula))
    # The script of the form finds its place by the class and reads the record from the attribute.
    return Html(
        '<div class="fb-calculator" data-calculator="{}"{} data-spec="{}">{}<noscript>{}</noscript>'
        "</div>\n"
    ).format(
        attribute(formula.id),
        Html(" data-waits") if waits else Html(),
        # A product such as A * B -> C ends no tag, whoever reads the page by patterns.
        json.dumps(form_record(formula)).replace(">", "\\u003e"),
        line,
        _NO_SCRIPT,
    )


def script(formula: Formula) -> str:
    """The functions of a form in JavaScript; where its line names the largest batch, also that."""
    functions = module([formula])
    if not names_batch(formula):
        return functions
    name = f"{function_name(formula)}_largest"
    return f"{functions}{javascript_output(get_formula(SERVING), BATCH_FITS, name)}\n"


def without_script(command: str, answer: str) -> Html:
    """What stands for a form where no script runs: a command with its answer."""
    return Html("<noscript>{}{}</noscript>").format(_shown_example(command, answer), _NO_SCRIPT)


def _shown_example(command: str, answer: str) -> Html:
    return Html("<p>Example: <code>{}</code><br>{}</p>").format(command, answer)


def _answer_words(formula: Formula) -> Html:
    """What the first example gives, in the sentence of the form."""
    result = calculated_example(formula)
    words = form_words().get(formula.id, {})
    name = words.get("answer", next(iter(formula.outputs)))
    sentence = words.get("says") or f"{formula.outputs[name].meaning}."
    return Html("<strong>{}</strong> {}").format(
        _worded(formula, name, result[name]),
        _NAMED.sub(lambda named: _stated(formula, named[1], result), sentence),
    )


def _stated(formula: Formula, name: str, result: Result) -> str:
    """What stands for a name in a sentence: an output, an input or the number of chips."""
    if name == "devices":
        return said(_chips(result), "chip")
    if name in formula.outputs:
        return _worded(formula, name, result[name])
    used = result.inputs.get(name)
    return _worded(formula, name, used.value if used else formula.defaults[name])


def _chips(result: Result) -> float:
    """The chips of an answer: given, or what its degrees come to."""
    values = {name: used.value for name, used in result.inputs.items()}
    if "chips" in values:
        return float(values["chips"])
    return float(values.get("tp", 1.0) * values.get("dp", values.get("ep", 1.0)))


def _worded(formula: Formula, name: str, value: Any) -> str:
    """A value in a sentence: shares in percent, of a table the first row, else as everywhere."""
    spec = formula.outputs.get(name) or formula.inputs[name]
    if name in formula.outputs and formula.outputs[name].table:
        value = value[0]
    if name in form_words().get(formula.id, {}).get("percent", ()):
        return f"{said(100 * value, '1')} %"
    return said(value, spec.unit)


def form_record(formula: Formula) -> dict[str, object]:
    """What the form needs of a formula: inputs, outputs, origins of values, first example."""
    first = calculated_example(formula)
    return {
        "id": formula.id,
        "takes": list(takes(formula)),
        "inputs": [_input_record(formula, name, spec) for name, spec in formula.inputs.items()],
        "outputs": [_output_record(name, spec, first) for name, spec in formula.outputs.items()],
        "asks": list(formula.asks),
        "divides": list(formula.divides),
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
    return {
        "answer": words.get("answer", next(iter(formula.outputs))),
        "says": words.get("says", ""),
        "beside": words.get("beside", {}),
        "percent": words.get("percent", []),
        "ends": words.get("ends"),
        "bar": words.get("bar", {}),
        "rescues": words.get("rescues", []),
        "scenarios": [list(scenario) for scenario in scenarios(formula).items()],
    }


def scenarios(formula: Formula) -> dict[str, str]:
    """States to start from: the query of each by its label."""
    states = form_words().get(formula.id, {}).get("scenarios", {})
    return {label: state_query(formula, _inner(state)) for label, state in states.items()}


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
        "text": bool(spec.text),
    }


def _output_record(name: str, spec: Output, first: Result) -> Mapping[str, object]:
    return {
        "name": name,
        "unit": spec.unit,
        "meaning": spec.meaning,
        "needs": list(spec.needs),
        "absent": spec.absent,
        "lacking": spec.lacking,
        "choices": list(spec.choices),
        # In ordinary Python an output may be several, which no picture can draw.
        "several": isinstance(first[name], tuple),
        "table": spec.table,
    }


def _json_limit(limit: object) -> object:
    """A limit as JSON has it: infinity, which means none, is null."""
    if isinstance(limit, float) and math.isinf(limit):
        return None
    return limit
