"""The answer of a form: one large number with a sentence, the memory as a bar, what would fit."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas, get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.build.typesetting import typeset
from scripts.website.pages.form_state import state_query
from scripts.website.pages.forms import form_record
from tests.support.forming import open_form, put, unfold, visit

pytestmark = pytest.mark.browser
_ANSWER = """() => ({
  large: document.querySelector('.fb-large')?.textContent ?? '',
  says: document.querySelector('.fb-says')?.textContent ?? '',
  labels: [...document.querySelectorAll('.fb-results dt')].map((e) => e.textContent),
  marked: document.querySelectorAll('.fb-results dt code').length,
  wrong: document.querySelector('.fb-large')?.classList.contains('fb-wrong') ?? false,
  would: [...document.querySelectorAll('.fb-rescues li')].map((e) => e.textContent),
  parts: document.querySelectorAll('.fb-filled .fb-part').length,
  capacity: document.querySelector('.fb-capacity')?.textContent ?? '',
  rows: document.querySelectorAll('.fb-results > div:not([hidden])').length,
})"""


def _visited(tab: Any, base: str, query: str) -> dict[str, Any]:
    visit(tab, base, query)
    found: dict[str, Any] = tab.evaluate(_ANSWER)
    return found


@pytest.mark.parametrize("name", formulas())
def test_the_answer_stands_in_large_type_and_means_something(name: str, forms: Any) -> None:
    formula = get_formula(name)
    found = forms(name, _visited, "")
    options = {key.replace("-", "_"): text for key, text in formula.examples[0].items()}
    output = str(form_record(formula)["answer"])
    value = calculate(name, **options)[output]
    record = form_record(formula)
    if isinstance(value, float) and output not in record["percent"]:
        assert found["large"] == typeset(format_quantity(value, formula.outputs[output].unit))
    elif isinstance(value, float):
        assert found["large"] == f"{format_quantity(100 * value, '1')} %"
    assert found["says"] and "{" not in found["says"] and "undefined" not in found["says"]
    assert found["marked"] == 0 and found["rows"] <= len(formula.outputs)


def test_what_does_not_fit_is_said_in_red_with_what_would(forms: Any) -> None:
    state = {"model": "llama-3-8b", "chip": "nvidia/h100-sxm", "zero": "0", "dp": "8"}
    state |= {"seq": "8192", "micro_batch": "2"}
    query = state_query(get_formula("memory"), state)
    found = forms("memory", _visited, query)
    assert found["wrong"] and found["would"]
    assert any("ZeRO-3" in text for text in found["would"])


def test_what_fits_is_not_red(forms: Any) -> None:
    scenario = form_record(get_formula("memory"))["scenarios"]
    assert isinstance(scenario, list)
    found = forms("memory", _visited, scenario[0][1])
    assert not found["wrong"] and found["would"] == []
    assert "64 chips" in found["says"]


def test_a_memory_is_a_bar_against_its_capacity(forms: Any) -> None:
    found = forms("memory", _visited, "?model=llama-3-8b&chip=nvidia/h100-sxm&zero=3&dp=8")
    assert found["parts"] >= 4 and found["capacity"] == "80 GB of memory"


def test_a_form_counts_other_layers_where_all_are_alike(forms: Any) -> None:
    """As the command does: 16 layers of Llama 3 8B have 4.54 billion parameters."""
    run = {"model": "llama-3-8b", "seq": "4096"}

    def read(tab: Any, *_: Any) -> list[str]:
        found = []
        for layers in ("16", "32", "40"):
            put(tab, run | {"layers": layers})
            found.append(tab.inner_text(".fb-calculator"))
        return found

    for shown, layers in zip(forms("memory", read), (16, 32, 40), strict=True):
        total = calculate("memory", **run, layers=layers)["total"]
        assert typeset(format_quantity(total, "byte")) in shown


def test_a_form_does_not_answer_for_sizes_that_it_cannot_count(forms: Any) -> None:
    """Windows of Gemma 3 come in a pattern, and other widths are counted by the command alone."""

    def read(tab: Any, *_: Any) -> list[bool]:
        found = []
        for model, changes in (
            ("gemma-3-27b", {"layers": "16"}),
            ("llama-3-8b", {"layers": "16", "d_model": "2048"}),
            ("llama-3-8b", {"d_model": "2048"}),
            ("llama-3-8b", {"layers": "32"}),
            ("llama-3-8b", {"d_model": "2048", "params": "4.54B"}),
        ):
            put(tab, {"model": model, "seq": "4096", **changes})
            found.append("you changed" in tab.inner_text(".fb-calculator"))
        return found

    assert forms("memory", read) == [True, True, True, False, False]


def test_rows_that_say_the_same_are_one(forms: Any) -> None:
    """Among all values, and among the few beside the answer."""

    def read(tab: Any, *_: Any) -> tuple[list[str], list[str]]:
        put(tab, {"chip": "google/tpu-v5p", "batch-tokens": "16M"})
        return tab.evaluate(_ANSWER)["labels"], tab.locator(".fb-beside > div").all_inner_texts()

    labels, beside = forms("fsdp-limit", read)
    assert any("; also: " in label for label in labels)
    assert len(beside) == 2 and "per chip within a scale-up domain; per chip across" in beside[0]


def test_the_only_value_is_not_said_twice(forms: Any) -> None:
    def read(tab: Any, *_: Any) -> list[bool]:
        return [tab.locator(name).is_visible() for name in (".fb-large", ".fb-results")]

    assert forms("ridge-point", read) == [True, False]


def test_no_identifier_is_left_in_an_answer(forms: Any) -> None:
    """Servers, chips and models by their names; and how many chips serve, where none is typed."""

    def read(tab: Any, base: str, query: str = "") -> str:
        visit(tab, base, query)
        unfold(tab)
        return str(tab.inner_text(".fb-desk"))

    for name in ("training-time", "cp-limit", "serving", "params"):
        shown = forms(name, read)
        assert re.findall(r"\b(?:nvidia|amd|google)/[\w-]+|\bsource \w+\d{4}\w+", shown) == [], name
    degrees = "?model=llama-3-70b&chip=nvidia/h100-sxm&seq=8192&tp=8"
    assert "8 chips, by the degrees under More" in forms("serving", read, degrees)


def test_the_answer_stays_in_view_while_one_types(surf: Any, base: str) -> None:
    def look(context: Any) -> list[bool]:
        tab = open_form(context, base, "memory")
        tab.set_viewport_size({"width": 1440, "height": 900})
        seen = []
        tab.locator(".fb-typed > summary").click()
        tab.evaluate(
            "document.querySelectorAll('.fb-group').forEach((group) => { group.open = true; })"
        )
        for name in ("seq", "micro_batch", "layers", "vocab"):
            control = tab.locator(f".fb-form [name={name}]")
            control.scroll_into_view_if_needed()
            control.focus()
            tab.wait_for_timeout(100)
            box = tab.locator(".fb-large").bounding_box()
            seen.append(box["y"] >= 0 and box["y"] + box["height"] <= 900)
        return seen

    assert all(surf(look))


def test_a_scenario_is_a_link_to_its_state(surf: Any, base: str) -> None:
    def follow(context: Any) -> tuple[str, str]:
        tab = open_form(context, base, "memory")
        tab.click(".fb-scenarios a >> nth=0")
        tab.wait_for_function("document.querySelector('.fb-large')")
        return tab.input_value("[name=model]"), tab.input_value("[name=chips]")

    assert surf(follow) == ("llama-3-70b", "64")


@pytest.mark.parametrize(
    ("query", "words", "kept"),
    [
        ("?chip=nvidia/h100-sxm&stage=3", "sets 'stage', which this form does not have", True),
        ("?chip=nvidia/h100-sxm&d", "sets 'd', which", True),
        ("?chip=nvidia/h100-sxm&%3Cimg%20src=x%3E=1", "sets '<img src', which", True),
        ("?chip=nvidia/h100-sxm&h=batch", "", True),
        ("?chip=nvidia/h100-sxm", "", True),
    ],
)
def test_a_link_says_what_of_it_could_not_be_read(
    query: str, words: str, kept: bool, forms: Any
) -> None:
    def read(tab: Any, base: str) -> tuple[str, str]:
        visit(tab, base, query)
        return tab.inner_text(".fb-unknown"), tab.input_value("[name=chip]")

    told, chip = forms("min-batch", read)
    assert words in told and bool(told) == bool(words)
    assert (chip == "nvidia/h100-sxm") is kept
