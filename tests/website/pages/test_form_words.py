"""What forms say stands in one file, and speaks of inputs and outputs that exist."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from flopbook.evaluation.calculator import calculate, takes
from flopbook.faces.latex import equations
from flopbook.formulas import CATALOGUE, formulas, get_formula, printed
from scripts.website.pages.calculators import MOST_SHOWN, calculator_markdown, main_equations
from scripts.website.pages.forms import form_markup, form_record, form_words

NAMES = sorted(form_words())
# Labels of the first edition that nobody understood.
GONE = (
    "what you type here goes before the choice above",
    "as many as heads if open",
    "this depends on something unsaid",
    "Ways of tensor parallelism",
)


def test_the_file_speaks_of_calculators_that_exist() -> None:
    assert set(NAMES) <= set(CATALOGUE)


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_names_what_its_calculator_has(name: str) -> None:
    formula, said = get_formula(name), form_words()[name]
    known = {*formula.inputs, *formula.outputs, "model", "chip", "devices"}
    assert set(re.findall(r"{(\w+)}", said["says"])) <= known
    ends = said.get("ends", ["", "."])
    assert said["says"].endswith(".") and ends[1].endswith(".")
    assert not ends[0] or ends[0] in formula.inputs
    assert set(said.get("beside", {})) <= set(formula.outputs)
    assert set(said.get("percent", ())) <= {*formula.inputs, *formula.outputs}
    assert said.get("answer", next(iter(formula.outputs))) in formula.outputs
    assert set(said.get("bar", {})) <= set(formula.outputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_gives_an_answer(name: str) -> None:
    record = form_record(get_formula(name))
    scenarios = record["scenarios"]
    assert isinstance(scenarios, list) and scenarios
    for label, query in scenarios:
        pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
        options = {key.replace("-", "_"): text for key, text in pairs if text}
        assert calculate(name, **options)[str(record["answer"])] is not None, label


@pytest.mark.parametrize("name", [name for name in NAMES if "rescues" in form_words()[name]])
def test_a_rescue_changes_inputs_of_its_calculator(name: str) -> None:
    formula = get_formula(name)
    for change, text in form_words()[name]["rescues"]:
        assert set(change) <= set(formula.inputs) and text[0].isupper()


@pytest.mark.parametrize(
    ("name", "model", "dp"),
    [
        ("memory", "llama-3-405b", 64),
        ("memory", "deepseek-v3", 8),
        ("fine-tuning", "llama-3-405b", 1),
    ],
)
def test_what_fits_on_no_such_number_of_chips_is_told_one_that_does(
    name: str, model: str, dp: int
) -> None:
    """The form said by how much they do not fit, and nothing of what would."""
    state: dict[str, Any] = {"model": model, "chip": "nvidia/h100-sxm", "seq": 2048, "dp": dp}
    assert calculate(name, **state)["free"] < 0
    kept = [change for change, _ in form_words()[name]["rescues"] if "dp" not in change]
    assert all(calculate(name, **state | change)["free"] < 0 for change in kept)
    more = [change for change, _ in form_words()[name]["rescues"] if "dp" in change]
    assert any(calculate(name, **state | change)["free"] >= 0 for change in more)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_memory_make_its_total(name: str) -> None:
    parts = form_words()[name].get("bar", {})
    if not parts:
        return
    for model in ("llama-3-8b", "llama-3-70b", "deepseek-v3"):
        result = calculate(name, model=model, seq=4096, micro_batch=1)
        assert sum(result[part] for part in parts) >= 0.98 * result["total"]


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_labels_that_nobody_understood_are_gone(name: str) -> None:
    formula = get_formula(name)
    labels = [spec.meaning for spec in (*formula.inputs.values(), *formula.outputs.values())]
    for label in labels:
        assert not any(words in label for words in GONE), label
    assert takes(formula) is not None


@pytest.mark.parametrize("name", printed())
def test_at_most_five_equations_stand_first_and_each_has_a_sentence(name: str) -> None:
    formula = get_formula(name)
    main = main_equations(formula)
    assert 1 <= len(main) <= MOST_SHOWN and set(main) <= set(equations(formula))
    assert all(text[0].isupper() and text[-1] in ".:" for text in main.values())
    page = calculator_markdown(name)
    shown, _, folded = page.partition('<details class="fb-fold"><summary>Every step')
    assert shown.count("\n$$\n") // 2 == len(main)
    assert folded.count("\n$$\n") // 2 == len(equations(formula)) - len(main)


@pytest.mark.parametrize("name", formulas())
def test_the_example_is_told_in_words_without_identifiers(name: str) -> None:
    told = form_markup(get_formula(name)).partition("<br>")[2].partition("</p>")[0]
    assert told.startswith("<strong>") and "{" not in told and "_" not in told, told


def test_the_example_says_how_many_chips() -> None:
    assert "on 64 chips" in form_markup(get_formula("memory"))
    assert "on 8 chips" in form_markup(get_formula("decode"))
