"""Long forms fold what nobody asked about, and never what somebody filled or has to mend."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas, get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.pages.forms import FOLDED_FROM, form_words
from tests.support.forming import put, visit

pytestmark = pytest.mark.browser

GROUPS = """() => Object.fromEntries([...document.querySelectorAll('.fb-group')].map(group => [
  group.querySelector('summary').firstChild.textContent,
  {open: group.open, said: group.querySelector('.fb-count').textContent,
   pinned: group.querySelector('summary').getAttribute('aria-disabled') === 'true'}]))"""


def _groups(
    tab: Any, base: str, state: dict[str, str] | None = None, query: str = ""
) -> dict[str, Any]:
    visit(tab, base, query)
    if state is not None:
        put(tab, state)
    return tab.evaluate(GROUPS)


MORE = """() => {
  const more = document.querySelector('.fb-typed');
  return {open: more.open, said: more.querySelector('.fb-count').textContent,
    asked: [...document.querySelectorAll('.fb-questions [name]')].map(field => field.name)};
}"""


def _more(tab: Any, base: str, state: dict[str, str] | None, query: str = "") -> dict[str, Any]:
    visit(tab, base, query)
    if state is not None:
        put(tab, state)
    found: dict[str, Any] = tab.evaluate(MORE)
    return found


@pytest.mark.parametrize("name", ["min-batch", "memory", "fine-tuning", "decode"])
def test_a_form_asks_its_questions_and_folds_the_rest(name: str, forms: Any) -> None:
    found = forms(name, _more, None)
    assert found["asked"] == list(get_formula(name).asks) and not found["open"]


def test_what_is_set_beside_the_questions_is_named_while_it_is_folded(forms: Any) -> None:
    found = forms("memory", _more, None, "?model=llama-3-8b&seq=1024&tp=8&recompute=full")
    assert not found["open"]
    assert "TP degree 8" in found["said"] and "full" in found["said"]
    assert forms("memory", _more, None)["said"] == "everything else at its default"


def test_the_number_of_chips_is_told_and_divided(forms: Any) -> None:
    def read(tab: Any, base: str, state: dict[str, str]) -> tuple[str, str, str]:
        visit(tab, base, "")
        put(tab, {"model": "llama-3-70b", "seq": "8192", **state})
        hint = tab.inner_text("[id$=-chips-hint]")
        return hint, tab.inner_text(".fb-answer"), tab.inner_text(".fb-command")

    hint, _, command = forms("memory", read, {"chips": "64", "tp": "8"})
    assert hint == "64 chips (DP 8 × TP 8)" and "--chips 64" in command and "--dp" not in command
    assert forms("memory", read, {"dp": "64", "tp": "8"})[0] == "512 chips (DP 64 × TP 8)"
    hint, answer, _ = forms("memory", read, {"chips": "100", "tp": "8"})
    assert hint.endswith("use 96 or 104") and "groups of 8 (TP 8)" in answer
    assert "not both" in forms("memory", read, {"chips": "64", "dp": "8"})[0]


def test_a_long_form_has_the_groups_of_its_inputs(forms: Any) -> None:
    found = forms("memory", _groups)
    formula = get_formula("memory")
    inputs = {name: spec for name, spec in formula.inputs.items() if name not in formula.asks}
    assert set(found) == {spec.group for spec in inputs.values() if spec.group}
    experts = [spec for spec in inputs.values() if spec.group == "Mixture of experts"]
    assert found["Mixture of experts"] == {
        "open": False,
        "said": f"{len(experts)} at their defaults",
        "pinned": False,
    }
    assert found["Details of the shape"]["said"] == "2 from Llama 3 70B"


def test_no_required_input_is_folded_away_and_short_forms_fold_nothing() -> None:
    for formula in formulas().values():
        for name, spec in formula.inputs.items():
            assert name in formula.defaults or not spec.group, (formula.id, name)
    assert any(spec.group for spec in get_formula("kv-cache").inputs.values())
    assert len(get_formula("min-batch").inputs) < FOLDED_FROM <= len(get_formula("decode").inputs)


def test_a_short_form_has_no_groups(forms: Any) -> None:
    assert forms("min-batch", _groups) == {} and len(forms("decode", _groups)) >= 4


@pytest.mark.parametrize(
    ("state", "query"), [({"experts": "8"}, ""), (None, "?model=llama-3-8b&experts=8&seq=1024")]
)
def test_what_is_filled_by_hand_or_by_a_link_is_in_view(
    forms: Any, state: dict[str, str] | None, query: str
) -> None:
    found = forms("memory", _groups, state, query)["Mixture of experts"]
    assert found == {"open": True, "said": "1 filled", "pinned": True}


def test_what_is_wrong_is_in_view(forms: Any) -> None:
    found = forms("memory", _groups, {"experts": "8 bananas"})["Mixture of experts"]
    assert found == {"open": True, "said": "1 to fill in or correct", "pinned": True}


def test_what_a_model_gives_is_counted_and_stays_folded(forms: Any) -> None:
    found = forms("memory", _groups, {"model": "deepseek-v3", "seq": "4096"})
    assert found["Mixture of experts"] == {
        "open": False,
        "said": "5 from DeepSeek-V3",
        "pinned": False,
    }


def _closing(tab: Any, base: str) -> list[bool]:
    """A group closes with a field filled or emptied again, and opens by keyboard."""
    visit(tab, base, "")
    put(tab, {"model": "llama-3-8b", "seq": "8192", "tp": "8"})
    group = tab.locator(".fb-group").filter(has=tab.locator("summary", has_text="Parallelism"))
    tried = []
    for step in ("click", "empty", "click", "keyboard"):
        if not tried:
            tab.locator(".fb-typed > summary").click()
        if step == "click":
            group.locator("summary").click()
        elif step == "empty":
            tab.locator("[name=tp]").fill("")
        else:
            group.locator("summary").focus()
            tab.keyboard.press("Enter")
        tried.append(group.evaluate("group => group.open"))
    return tried


def test_a_group_closes_only_when_nothing_in_it_is_filled(forms: Any) -> None:
    assert forms("memory", _closing) == [True, True, False, True]


def test_the_fields_of_a_group_are_in_the_order_of_the_formula(forms: Any) -> None:
    order = forms("memory", _order)
    formula = get_formula("memory")
    inputs = formula.inputs
    for group in {spec.group for spec in inputs.values()} - {""}:
        assert [name for name in order if name in inputs and inputs[name].group == group] == [
            name
            for name, spec in inputs.items()
            if spec.group == group and name not in formula.asks
        ]
    assert {*order, *formula.asks} >= set(inputs)


def _order(tab: Any, _: str) -> list[str]:
    return tab.evaluate(
        "[...document.querySelectorAll('.fb-typed [name]')].map(field => field.name)"
    )


def _label(tab: Any, base: str, name: str) -> list[str]:
    visit(tab, base, "")
    label = f"document.querySelector('[name={name}]').labels[0]"
    texts = f"[{label}.firstChild.textContent, ...[...{label}.children].map(c => c.textContent)]"
    found: list[str] = tab.evaluate(texts)
    return found


@pytest.mark.parametrize(
    ("calculator", "name", "label"),
    [
        ("memory", "zero", ["ZeRO stage", "; 3 is FSDP"]),
        ("memory", "kv_heads", ["KV heads", " (default: same as attention heads)"]),
        ("memory", "kv_lora_rank", ["MLA: rank of compressed keys and values"]),
        (
            "memory",
            "prefetch",
            ["Layers whose weights ZeRO-3 (FSDP) holds gathered at once"],
        ),
        ("memory", "seq", ["Sequence length in tokens"]),
        (
            "cluster-power",
            "pue",
            ["Power usage effectiveness", ": all of the site over its computers"],
        ),
    ],
)
def test_the_name_of_an_input_stands_out_from_what_explains_it(
    calculator: str, name: str, label: list[str], forms: Any
) -> None:
    assert forms(calculator, _label, name) == label


def _with_chips(tab: Any, base: str, count: str) -> str:
    visit(tab, base, "")
    tab.fill(".fb-questions input[id$=-chips]", count)
    return str(tab.inner_text(".fb-answer .fb-large"))


@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_any_number_of_chips_may_be_typed_over_the_example(name: str, forms: Any) -> None:
    """The example gave a TP degree of 8, and 4 chips were refused as no multiple of it."""
    formula = get_formula(name)
    given = {key.replace("-", "_"): text for key, text in formula.examples[0].items()}
    answer = form_words()[name]["answer"]
    large = calculate(name, **given | {"chips": 4})[answer]
    shown = format_quantity(large, formula.outputs[answer].unit)
    assert forms(name, _with_chips, "4").partition(" ")[0] == shown.partition(" ")[0]
