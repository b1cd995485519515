"""What formulas leave out: a share without unit, the same in Python, on arrays and in JavaScript.

Every item of "Leaves out" says its size or why it has none.
"""

from __future__ import annotations

import functools
import math
import random
from string import Formatter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.faces.dimensions import DimensionError, omission_dimensions
from flopbook.faces.javascript import javascript_omissions, module, omissions_name
from flopbook.formulas import formulas, get_formula, printed
from flopbook.formulas.declaration import Formula
from flopbook.formulas.left_out import LeftOut, left_out
from flopbook.formulas.omissions import TENTH, omission, omitted, size_of
from tests.support import byexample
from tests.support.cases import every
from tests.support.generated_inputs import Inputs, fits, random_inputs

CASES = 400
# Inputs that make an omission large, where random ones hardly ever do.
LARGE: dict[str, list[Inputs]] = {
    "training-time": [{"chips": 1e6, "chip_mtbf": 0.0}],
    "kv-cache": [
        {"state_layers": 40.0, "state_values": 4e6},
        {"sparse_layers": 80.0, "kv_lora_rank": 512.0, "qk_rope_head_dim": 64.0}
        | {"bytes_per_kv": 1.0, "selected_tokens": 2048.0},
    ],
    "decode": [
        {"state_layers": 40.0, "state_values": 4e6, "batch": 64.0},
        {"memory": 24e9},
        {"bytes_per_param": 0.5, "params": 8e9, "compute_params": 7e9, "seq": 1.0},
    ],
    "prefill": [
        {"memory": 18.1e9},
        {"bytes_per_param": 0.5, "seq": 64.0},
        {"experts": 64.0, "experts_per_token": 1.0, "ep": 8.0, "batch": 8.0, "seq": 1.0}
        | {"compute_params": 8e9},
        {"kv_lora_rank": 512.0, "seq": 64.0},
        {"batch": 32.0, "memory": 20e9},
    ],
    "roofline": [{"kernels": "gemm 64x64x64"}],
    "serving": [
        {"state_layers": 40.0, "state_values": 4e6},
        {"bytes_per_param": 0.5, "batch": 1.0, "params": 8e9, "compute_params": 7e9},
        {"experts": 64.0, "experts_per_token": 2.0, "ep": 8.0, "batch": 8.0, "memory": 1e12}
        | {"compute_params": 8e9},
    ],
}
WITH_OMISSIONS = [name for name, formula in formulas().items() if formula.omissions]
ON_PAGES = [name for name in WITH_OMISSIONS if get_formula(name).printed]
every_formula = every("name", formulas())
# All tests of a calculator in turn, which share its cases.
with_omissions = pytest.mark.parametrize("name", WITH_OMISSIONS, scope="module")


@functools.lru_cache(maxsize=1)
def cases(formula: Formula) -> list[Inputs]:
    """Every example, and random inputs near them that keep the rules."""
    rng = random.Random(f"omissions of {formula.id}")
    examples = [byexample.inputs(formula.id, number) for number in range(len(formula.examples))]
    large = [{**examples[0], **inputs} for inputs in LARGE.get(formula.id, ())]
    if not formula.printed:
        return [{**formula.defaults, **inputs} for inputs in (*examples, *large)]
    drawn = [random_inputs(formula, rng, rng.choice(examples)) for _ in range(CASES)]
    # Zero stands for "there are none" in some inputs, and nothing random is zero.
    nothing = [name for name, spec in formula.inputs.items() if spec.none]
    without = [{**one, rng.choice(nothing): 0.0} for one in drawn[::2] if nothing]
    drawn += [inputs for inputs in without if fits(formula, inputs)]
    return [{**formula.defaults, **inputs} for inputs in (*examples, *drawn, *large)]


def with_outputs(formula: Formula, inputs: Inputs) -> Inputs:
    return {**formula(**inputs), **inputs}


@functools.lru_cache(maxsize=1)
def answered(formula: Formula) -> list[Inputs]:
    """The cases with what the formula makes of them."""
    return [with_outputs(formula, inputs) for inputs in cases(formula)]


def is_sized(item: LeftOut) -> bool:
    """Whether an item names its omission, or says in some words why it has no size."""
    return bool(item.omissions) or len(item.reason.split()) >= 3


@every_formula
def test_each_item_has_its_size_or_a_reason_why_there_is_none(name: str) -> None:
    """The rule of a tenth: nothing is left out in silence."""
    formula = get_formula(name)
    items = left_out(formula)
    assert items, "say what the formula leaves out"
    has_all = all(map(is_sized, items))
    assert has_all, [item for item in items if not is_sized(item)]


@every_formula
def test_each_omission_belongs_to_an_item_and_to_an_output(name: str) -> None:
    formula = get_formula(name)
    named = [omission for item in left_out(formula) for omission in item.omissions]
    assert sorted(set(named)) == sorted(each.name for each in formula.omissions)
    known = {*formula.inputs, *formula.outputs}
    for each in formula.omissions:
        assert each.of in formula.outputs, each
        assert set(each.inputs.values()) <= known, each
        assert each.message.count("({size})") == 1, each


@with_omissions
def test_messages_show_whole_numbers_words_and_the_size(name: str) -> None:
    formula = get_formula(name)
    for each in formula.omissions:
        for _, shown, suggestion, _ in Formatter().parse(each.message):
            numbers = [shown, (suggestion or "").partition(" of ")[2]]
            for parameter in filter(None, numbers):
                if parameter == "size":
                    continue
                spec = formula.inputs[each.inputs[parameter]]
                assert spec.whole or spec.choices, (each, parameter)


@with_omissions
def test_shares_are_numbers_for_whatever_goes_in(name: str) -> None:
    """Of a finite answer a share is a number; no answer is more than all too large."""
    formula = get_formula(name)
    for values in answered(formula):
        for each in formula.omissions:
            share = each.value(values)
            if np.all(values[each.of]) and np.all(np.isfinite(values[each.of])):
                assert math.isfinite(share) and share >= -1, (each, values, share)


@with_omissions
def test_each_omission_is_noted_for_some_inputs_only(name: str) -> None:
    """One that is never large is a reason and not an omission; one that always is, is wrong."""
    formula = get_formula(name)
    found = [omitted(formula.omissions, values) for values in answered(formula)]
    for each in formula.omissions:
        assert any(each.name in notes for notes in found), each


@with_omissions
def test_arrays_tell_the_largest_of_their_elements(name: str) -> None:
    formula = get_formula(name)
    if not formula.printed:
        pytest.skip("ordinary Python computes one case at a time")
    drawn = cases(formula)
    words = [key for key, spec in formula.inputs.items() if spec.choices]
    alike = [case for case in drawn if all(case[key] == drawn[0][key] for key in words)][:30]
    stacked = {
        key: alike[0][key] if key in words else np.array([case[key] for case in alike])
        for key in formula.inputs
    }
    with np.errstate(all="ignore"):
        # A default may be infinite, which nobody may type.
        together = omitted(formula.omissions, {**formula.compute(stacked), **stacked})
    alone = [omitted(formula.omissions, with_outputs(formula, case)) for case in alike]
    for each in formula.omissions:
        notes = [notes[each.name] for notes in alone if each.name in notes]
        assert bool(notes) == (each.name in together)
        if notes:
            largest = max(notes, key=lambda noted: abs(noted.share))
            assert together[each.name].share == pytest.approx(largest.share, rel=1e-12)
            assert "(up to " in together[each.name].text


@every("name", ON_PAGES)
def test_a_share_has_no_unit(name: str) -> None:
    formula = get_formula(name)
    for each in formula.omissions:
        assert str(omission_dimensions(formula, each)) == "1", each


@pytest.mark.browser
@pytest.mark.parametrize("name", ON_PAGES, scope="module")
def test_a_form_notes_what_the_command_notes_in_the_same_words(name: str, engine: Any) -> None:
    formula = get_formula(name)
    values = answered(formula)
    # JSON has no word for an output that is no number, where an input is open.
    known = [{key: value for key, value in one.items() if value == value} for one in values]
    made = engine.run(module([formula]), [(omissions_name(formula), one) for one in known])
    for one, answer in zip(values, made, strict=True):
        expected = {key: noted.text for key, noted in omitted(formula.omissions, one).items()}
        assert answer == expected, one


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.125, "+13 %"),
        (0.184, "+18 %"),
        (-0.35, "-35 %"),
        (0.999, "+100 %"),
        (-1.0, "-100 %"),
        (1.0, "2.0 times"),
        (2.45, "3.5 times"),
        (8.96, "10.0 times"),
        (9.2, "10 times"),
        (58.7, "60 times"),
    ],
)
def test_sizes_as_people_say_them(share: float, text: str) -> None:
    assert size_of(share) == text


@omission("counts {heads} heads ({size})", of="result")
def per_head(heads: float, tp: float) -> float:
    """A share that grows with the heads."""
    return heads / tp / 100


def test_a_tenth_is_not_yet_told_and_a_little_more_is() -> None:
    assert TENTH == 0.1
    assert per_head.noted({"heads": 10.0, "tp": 1.0}) is None
    noted = per_head.noted({"heads": 11.0, "tp": 1.0})
    assert noted is not None and noted.text == "counts 11 heads (+11 %)" and noted.of == "result"


def test_what_is_no_number_is_not_told() -> None:
    assert per_head.noted({"heads": math.inf, "tp": 1.0}) is None
    assert per_head.noted({"heads": math.nan, "tp": 1.0}) is None
    shares = {"heads": np.array([math.nan, 30.0, math.inf]), "tp": 1.0}
    noted = per_head.noted(shares)
    assert noted is not None and noted.text == "counts 30 heads (up to +30 %)"


def test_a_renamed_omission_reads_the_other_input_and_keeps_its_output() -> None:
    renamed = per_head.renamed(tp="degree").of_output("seconds")
    noted = renamed.noted({"heads": 30.0, "degree": 2.0})
    assert noted is not None and (noted.of, noted.text) == ("seconds", "counts 30 heads (+15 %)")


def test_javascript_keeps_the_names_of_steps_to_themselves() -> None:
    code = javascript_omissions(get_formula("reliability"))
    assert code.startswith(
        "export function reliability_omitted({saving, repeating, restarting, lost, chip"
    )
    assert "$notes.failures_in_lost_time = `" in code and "${sizeOf($share)}" in code


def test_a_module_without_sizes_has_no_code_for_them() -> None:
    without = next(name for name in printed() if not get_formula(name).omissions)
    assert "sizeOf" not in module([get_formula(without)])
    assert "sizeOf" in module([get_formula("reliability")])


@omission("is a time ({size})", of="mtbf")
def a_time(save: float) -> float:
    """What has a unit is no share."""
    return save


@omission("adds a time to a number ({size})", of="mtbf")
def mixed(save: float) -> float:
    """What no unit fits."""
    return save + 1


def test_units_of_a_share_are_proved() -> None:
    formula = get_formula("reliability")
    assert str(omission_dimensions(formula, a_time)) == "s"
    with pytest.raises(DimensionError, match=r"reliability\.mixed: s is not 1"):
        omission_dimensions(formula, mixed)


def two_items() -> dict[str, Any]:
    """One line.

    Leaves out:
        - First, over two
          lines. [failures_in_lost_time]
        - Second: [sic] in between. [no size: each site has its own]
        - Third says nothing
    """
    return {}


def test_items_are_read_with_their_brackets() -> None:
    formula = get_formula("reliability")._replace(function=two_items)
    first, second, third = left_out(formula)
    assert first == LeftOut("First, over two lines.", ("failures_in_lost_time",))
    assert second == LeftOut("Second: [sic] in between.", (), "no size: each site has its own")
    assert third == LeftOut("Third says nothing")
    assert str(first) == "First, over two lines (noted with its size above 10 %)."
    assert str(second) == "Second: [sic] in between (no size: each site has its own)."
    assert str(third) == "Third says nothing"
    assert [is_sized(item) for item in (first, second, third)] == [True, True, False]


@given(st.floats(-1, 1e6), st.floats(-1, 1e6))
def test_a_larger_share_is_never_said_to_be_smaller(one: float, other: float) -> None:
    """Texts order as their shares do, across the change from percent to times."""

    def said(share: float) -> float:
        number, _, unit = size_of(share).partition(" ")
        return float(number) / 100 if unit == "%" else float(number) - 1

    low, high = sorted((one, other))
    assert said(low) <= said(high) or math.isclose(said(low), said(high), abs_tol=0.006)
    assert math.isclose(said(high), high, rel_tol=0.05, abs_tol=0.06)


@omission("each {heads:divisor of tp} of {tp} ({size})", of="result")
def share_of(heads: float, tp: float) -> float:
    """A share that is given, for the two languages to write."""
    return heads / tp


@pytest.mark.browser
def test_sizes_are_written_alike_in_both_languages(throwaway: Any, engine: Any) -> None:
    """Halves of a percent and the borders between percent, one decimal and none among them."""
    formula = throwaway(lambda: {}, result="1")._replace(omissions=(share_of,))
    shares = [0.0, 0.1, 0.125, 0.105, 0.995, 0.9951, 1.0, 1.05, 8.94, 8.95, 8.96, 9.0, 58.5, 1e9]
    shares += [-share for share in shares[:5]] + [n / 200 for n in range(20, 400, 7)]
    values = [{"heads": share * 1000, "tp": 1000.0} for share in shares]
    helpers = module([get_formula("reliability")]).replace("export ", "")
    divisor = 'function divisor() { return "one"; }'
    calls = [(omissions_name(formula), one) for one in values]
    made = engine.run("\n".join([helpers, divisor, javascript_omissions(formula)]), calls)
    for one, answer in zip(values, made, strict=True):
        noted = share_of.noted(one)
        written = answer["share_of"].partition("(")[2] if answer else ""
        assert written == (noted.text.partition("(")[2] if noted else "")
