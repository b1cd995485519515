"""A calculator turned round: what it finds gives the target when the calculator is run forward."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flopbook
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.solving.root_search import CLOSE, EXACT
from flopbook.evaluation.solving.solutions import CLOSED, HALVED, TRIED, Solution
from flopbook.evaluation.solving.solver import solve
from flopbook.evaluation.solving.targets import AT_LEAST, one_sided, precise, read_target
from flopbook.formulas import formulas, get_formula
from tests.support.states import FEW, SEEDS, example, is_amount, states

RUN = {"params": "405B", "tokens": "15.6T", "peak": "989TFLOP/s", "mfu": 0.4, "chip_mtbf": 0}
GPT = {
    "layers": 32,
    "d_model": 4096,
    "heads": 32,
    "d_ff": 16384,
    "vocab": 50257,
    "params": "7B",
    "seq": 2048,
}


# Whole tiles and whole waves make saw-teeth, so finely that no search sees them all: what is found
# is an answer, but other values between two answers may miss the target.
SAW_TOOTHED = {"wave-quantisation"}
# Whole nodes are paid for: with each one more the cost of a run jumps, and falls until the next.
JUMPING = {("training-time", "chips")}
SMOOTH = [name for name in formulas() if name not in SAW_TOOTHED]


@FEW
@given(seed=SEEDS)
@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_found_gives_the_target(name: str, seed: int) -> None:
    """From a random state an output is taken and an input forgotten.

    Some answer gives that output again.

    Where the output does not move with the input, or the whole range gives it, that is said
    instead.
    """
    formula, rng = get_formula(name), random.Random(seed)
    for options, result in states(formula, rng, 1):
        numbers = [key for key in options if formula.inputs[key].is_number]
        for key in rng.sample(numbers, min(3, len(numbers))):
            if (name, key) in JUMPING and options.get("chips_per_node", 1) != 1:
                continue
            wanted = [
                one for one, value in result.items() if is_amount(value) or isinstance(value, str)
            ]
            if not wanted:
                continue  # tables only
            output = rng.choice(wanted)
            others = {one: value for one, value in options.items() if one != key}
            try:
                found = solve(name, key, {output: result[output]}, **others)
            except FlopbookError as error:
                assert any(
                    words in str(error)
                    for words in ("does not depend on", "whatever the", "nothing to solve")
                )
                continue
            assert_met(found, result[output], others)


def assert_met(found: Solution, target: Any, others: dict[str, Any]) -> None:
    """Every answer gives the target at both of its ends, or keeps its side where it says so.

    A saw falls back below the target within a stretch; one end is where it comes nearest.
    """
    for answer in found.answers:
        ends = [
            calculate(found.result.formula.id, **{**others, found.name: value})[found.target.output]
            for value in {answer.value, answer.to} - {None}
        ]
        if isinstance(target, str):
            assert set(ends) == {target}
            continue
        near = [reached == pytest.approx(target, rel=CLOSE) for reached in ends]
        has_side = any(f" {word} " in answer.bound for word in ("at most", "at least"))
        keeps_side = any(near) and all(map(one_sided(found.target).met, ends))
        assert keeps_side if has_side else all(near)
    assert found.value == found.answers[0].value == found.result.inputs[found.name].value


@FEW
@given(seed=SEEDS)
@pytest.mark.parametrize("name", SMOOTH)
def test_a_whole_number_is_the_last_that_meets_the_target(name: str, seed: int) -> None:
    """Between the values of two neighbouring numbers.

    One of them is the answer, and the other does not meet it.
    """
    formula, rng = get_formula(name), random.Random(seed)
    for options, result in states(formula, rng, 1):
        for key in [key for key in options if formula.inputs[key].whole][:4]:
            output = next(iter(result))
            others = {one: value for one, value in options.items() if one != key}
            try:
                beside = calculate(name, **others, **{key: options[key] + 1})[output]
            except FlopbookError:
                continue
            if (
                not is_amount(beside)
                or not is_amount(result[output])
                or math.isclose(beside, result[output])
            ):
                continue
            target = (beside + result[output]) / 2
            try:
                found = solve(name, key, {output: target}, **others)
            except FlopbookError:
                continue  # every other number may be on the other side
            for answer in found.answers:
                met = calculate(name, **others, **{key: answer.value})[output]
                assert one_sided(found.target).met(met)


@given(st.floats(min_value=1, max_value=1e6))
def test_a_power_law_is_solved_in_closed_form(tokens: float) -> None:
    found = solve("min-batch", "bandwidth", {"tokens": tokens}, peak=989e12)
    assert found.answers[0].method == CLOSED and found.unit == "byte/s"
    assert found.value == pytest.approx(989e12 / tokens, rel=1e-12)


def test_worked_by_hand() -> None:
    """989 TFLOP/s and 100 tokens of 2 bytes: 9.89 TB/s. 6 x 405e9 x 15.6e12 FLOP in 30 days at 0.4:
    36,972 chips.
    """
    assert solve("min-batch", "bandwidth", "tokens=100", peak="989TFLOP/s").value == 9.89e12
    chips = 6 * 405e9 * 15.6e12 / (989e12 * 0.4 * 30 * 86400)
    found = solve("training-time", "chips", "seconds=30days", **RUN)
    assert found.value == math.ceil(
        chips
    ) and "smallest whole number with seconds at most 30 days" in str(found)
    assert found.answers[0].method == HALVED
    assert solve("training-time", "chips", "seconds>=30days", **RUN).value == math.floor(chips)


def test_a_chip_or_a_model_may_supply_what_is_solved_for() -> None:
    found = solve(
        "training-time",
        "params",
        "days=10",
        model="llama-3-8b",
        chip="h100-sxm",
        chips=1024,
        mfu=0.4,
    )
    assert (
        found.result["days"] == pytest.approx(10, rel=EXACT)
        and found.result.inputs["params"].origin == "solved"
    )
    assert any("llama-3-8b" in note for note in found.notes)
    peak = solve("min-batch", "peak", "tokens=100", chip="h100-sxm")
    assert peak.value == 100 * calculate("min-batch", chip="h100-sxm").inputs["bandwidth"].value


def test_days_are_days_in_any_unit() -> None:
    for days in ("30", "30days", "720h", "2592000s"):
        assert read_target(get_formula("training-time"), f"days={days}").value == pytest.approx(30)
    assert read_target(get_formula("training-time"), "seconds=30days").value == 30 * 86400


def test_a_stretch_between_two_ends_is_given_as_one() -> None:
    """A draft pays for itself neither when it is very short nor when it is very long."""
    speed = {"acceptance": 0.7, "draft_time": 0.1}
    found = solve("speculative-decoding", "draft_tokens", "speedup>=1.9", **speed)
    (answer,) = found.answers
    assert (
        answer.to is not None
        and answer.value < answer.to
        and "every whole number between" in str(found)
    )
    for beside in (answer.value - 1, answer.to + 1):
        assert calculate("speculative-decoding", draft_tokens=beside, **speed)["speedup"] < 1.9


def test_a_step_is_answered_by_all_of_its_values() -> None:
    given_ = {"peak": 459e12, "link_bandwidth": 1e11, "axes": 3}
    found = solve("fsdp-limit", "batch_tokens", {"max_chips": 1000}, **given_)
    (answer,) = found.answers
    assert answer.to is not None and "every value between" in answer.bound
    assert [
        calculate("fsdp-limit", batch_tokens=x, **given_)["max_chips"]
        for x in (answer.value, answer.to)
    ] == [
        1000,
        1000,
    ]
    with pytest.raises(
        FlopbookError,
        match=r"at .* it goes from 1,000 chips to 1,001 chips; ask for max_chips<= or",
    ):
        solve("fsdp-limit", "batch_tokens", {"max_chips": 1000.5}, **given_)
    least = solve("fsdp-limit", "batch_tokens", {"max_chips": ">=1000.5"}, **given_)
    assert least.result["max_chips"] == 1001 and "smallest value" in least.answers[0].bound


def test_rates_are_at_least_and_everything_else_at_most() -> None:
    memory = read_target(get_formula("memory"), "total=80GB")
    assert (
        one_sided(memory).relation == "<="
        and one_sided(read_target(get_formula("memory"), "free=0")).relation == ">="
    )
    assert one_sided(read_target(get_formula("decode"), "tokens_per_s=1000")).relation == ">="
    assert one_sided(read_target(get_formula("memory"), "total>=80GB")).relation == ">="
    outputs = {name for formula in formulas().values() for name in formula.outputs}
    assert set(AT_LEAST) <= outputs


def test_a_word_is_met_on_a_stretch() -> None:
    shape = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8, "batch": 32}
    found = solve("decode", "seq", {"bound": "KV cache"}, **shape)
    assert found.result["bound"] == "KV cache" and "smallest" in found.answers[0].bound
    assert calculate("decode", **shape, seq=found.value - 1)["bound"] != "KV cache"


def test_the_choices_that_meet_a_target_are_named() -> None:
    found = solve("bubble", "schedule", "fraction<=10%", stages=8, microbatches=32)
    for word in get_formula("bubble").inputs["schedule"].choices:
        met = calculate("bubble", stages=8, microbatches=32, schedule=word)["fraction"] <= 0.1
        assert met == (word in [answer.value for answer in found.answers])
    assert {answer.method for answer in found.answers} == {TRIED} and found.unit == ""
    exact = solve("bubble", "schedule", {"fraction": 0}, stages=8, microbatches=32)
    assert [answer.value for answer in exact.answers] == ["zb-h2", "zb-v"] and not exact.answers[
        0
    ].bound
    with pytest.raises(
        FlopbookError, match=r"no schedule gives fraction at most 0\.1: gpipe gives 0\.4667"
    ):
        solve(
            "bubble",
            "schedule",
            "fraction=0.1",
            stages=8,
            microbatches=8,
            forward=1,
            backward_weight=2,
        )


def test_formats_and_sparsities_are_choices_too() -> None:
    found = solve("min-batch", "dtype", "tokens>=290", chip="h100-sxm")
    assert (
        "fp8" in [answer.value for answer in found.answers]
        and found.result.inputs["dtype"].origin == "solved"
    )
    assert solve("min-batch", "sparsity", "tokens>=500", chip="h100-sxm").value == "2:4"


BATCH = {"name": "min-batch", "key": "bandwidth", "peak": 989e12}
REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "out of reach": (
        {"name": "training-time", "key": "mfu", **RUN, "chips": 1024, "mfu": None},
        "days=1",
        "no mfu gives days exactly 1 day; with these inputs it goes from 433.2 days (at 1)",
    ),
    "no part of it": (
        {**BATCH, "key": "d_ff", "bandwidth": 1e12},
        "tokens=100",
        "tokens of min-batch does not depend on d-ff; it is 989 tokens",
    ),
    "nor through steps": (
        {"name": "memory", "key": "microbatches", **GPT},
        "weights=1TB",
        "does not depend on microbatches; it is 14 GB",
    ),
    "not here": (
        {"name": "cp-limit", "key": "heads", "chip": "tpu-v5p"},
        "tokens_per_chip=9",
        "with these inputs, whatever the heads",
    ),
    "one value": (
        {"name": "memory", "key": "virtual", **GPT},
        "total=1TB",
        "no virtual gives total exactly 1 TB; with these inputs it is",
    ),
    "all of them": (BATCH, "tokens>=1e-40", "nothing to solve for"),
    "given too": ({**BATCH, "bandwidth": 1e12}, "tokens=1", "--bandwidth is given and solved for"),
    "a chip": ({**BATCH, "key": "chip"}, "tokens=1", "--sweep chip="),
    "no such input": (
        {**BATCH, "key": "bandwith"},
        "tokens=1",
        "unknown input of min-batch 'bandwith'; nearest: bandwidth",
    ),
    "no such output": (BATCH, "tokes=1", "unknown output of min-batch 'tokes'; nearest: tokens"),
    "no value": (BATCH, "tokens", "--target is 'tokens', expected OUTPUT=VALUE"),
    "no value either": (BATCH, "tokens=", "expected OUTPUT=VALUE"),
    "no number": (BATCH, "tokens=many", "--target: tokens: 'many' is not a quantity"),
    "wrong unit": (BATCH, "tokens=80GB", "--target: tokens: '80GB' is in byte, expected token"),
    "two targets": (BATCH, {"tokens": 1, "flop_per_byte": 2}, "one output with its value, found 2"),
    "word out of order": (
        {**BATCH, "name": "decode", "key": "seq"},
        "bound<=weights",
        "bound is a word; write bound=weights",
    ),
    "no such word": (
        {**BATCH, "name": "decode", "key": "seq"},
        "bound=network",
        "unknown value of bound 'network'",
    ),
    "open output": (
        {**BATCH, "key": "d_model", "bandwidth": 1e12},
        "tokens_exact=400",
        "tokens_exact needs --d-ff",
    ),
    "missing input": ({**BATCH, "peak": None}, "tokens=1", "min-batch needs --peak or --chip"),
    "bad input": ({**BATCH, "peak": -1}, "tokens=1", "--peak is -1"),
    "nothing allowed": (
        {"name": "memory", "key": "ep", **GPT, "kv_heads": 99},
        "total=1TB",
        "--kv-heads 99 does not divide",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_solved_is_said(case: str) -> None:
    options, target, message = REFUSED[case]
    given_ = {key: value for key, value in options.items() if key not in ("name", "key")}
    with pytest.raises(FlopbookError) as caught:
        solve(options["name"], options["key"], target, **given_)
    assert message in str(caught.value) and str(caught.value).isprintable()


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="nearest: micro-batch"):
        solve("memory", "micro_bach", "total=1TB", **GPT)


def test_json_is_the_contract_with_solve_beside_it() -> None:
    found = solve("min-batch", "bandwidth", {"tokens": 100}, chip="h100-sxm")
    record = found.as_json()
    plain = calculate("min-batch", chip="h100-sxm", bandwidth=found.value).as_json()
    assert {key: record[key] for key in plain} == plain and set(record) - set(plain) == {"solve"}
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    part = record["solve"]
    assert (part["input"], part["value"], part["unit"]) == ("bandwidth", found.value, "byte/s")
    assert part["target"] == {"output": "tokens", "relation": "=", "value": 100.0, "unit": "token"}
    assert (part["method"], part["tolerance"]) == (CLOSED, EXACT)
    assert part["reached"] == pytest.approx(100)


@given(st.floats(min_value=1e-30, max_value=1e30))
def test_a_value_is_written_with_all_the_digits_it_needs(value: float) -> None:
    text = precise(value, "1")
    assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-9)
    assert precise(1175.5, "token") == "1,175.5 tokens" and precise("ring", "1") == "ring"


def test_solve_is_public_and_examples_can_be_turned_round() -> None:
    assert flopbook.solve is solve
    for name, formula in formulas().items():
        options = example(formula)
        key = next(
            (one for one in options if one in formula.inputs and formula.inputs[one].is_number),
            None,
        )
        if key is None:
            continue
        result = calculate(name, **options)
        output = next(one for one, value in result.items() if is_amount(value))
        others = {one: value for one, value in options.items() if one != key}
        try:
            found = solve(name, key, {output: result[output]}, **others)
        except FlopbookError as error:
            assert "whatever the" in str(error) or "does not depend" in str(error)
        else:
            assert found.result[output] == pytest.approx(result[output], rel=CLOSE)


@pytest.mark.parametrize("target", ["bound=memory", "attainable_flop_per_s=1PFLOP/s", "kernel=x"])
def test_a_column_of_a_table_is_no_target(target: str) -> None:
    with pytest.raises(FlopbookError, match="is a column of a table"):
        solve("roofline", "bytes_per_param", target, chip="h100-sxm")


def test_values_are_written_in_full_with_a_prefix_that_people_read() -> None:
    """Ten digits behind the four, and never a power of ten where there is a word for it."""
    assert precise(9.461569254e10, "byte") == "94.61569254 GB"
    assert precise(2593659.942, "s") == "30.01921229 days"
    assert precise(1.301229978e10, "param") == "13.01229978 billion params"
    assert precise(80e9, "byte") == "80 GB"
