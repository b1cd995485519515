"""A sweep is the calculator at every point: the same numbers, the same refusals, in one call."""

from __future__ import annotations

import builtins
import itertools
import json
import math
import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flopbook
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.axes import make_axis
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.sweeping import MOST_POINTS, Axis, read_axis, sweep
from flopbook.formulas import formulas, get_formula
from tests.support.states import FEW, SEEDS, states

BATCH = {"peak": 1e15, "bandwidth": [1e12, 2e12, 4e12]}
SIZES = st.floats(min_value=1e-3, max_value=1e12)


def assert_same(name: str, found: Any, options: dict[str, Any]) -> None:
    """Every point of a sweep is what `calculate` says there, and refused for the same reason."""
    for point in range(found.size):
        here = {one.name: found.column(one.name)[point] for one in found.axes}
        try:
            result = calculate(name, **{**options, **here})
        except FlopbookError as error:
            assert found.problems[point] == str(error)
            continue
        assert point not in found.problems
        for output, value in result.items():
            swept = found.column(output)[point]
            if value is None:
                assert swept is None or math.isnan(swept)
            elif isinstance(value, (int, float)):
                assert swept == pytest.approx(value, rel=1e-12)
            else:
                assert swept == value


@FEW
@given(seed=SEEDS)
@pytest.mark.parametrize("name", formulas())
def test_a_sweep_is_the_calculator_point_by_point(name: str, seed: int) -> None:
    """Over two inputs of any kind at once, values that rules or bounds refuse among them."""
    formula, rng = get_formula(name), random.Random(seed)
    for options, _ in states(formula, rng, 1):
        swept = rng.sample(list(options), min(2, len(options)))
        lists = {key: _values(formula.inputs[key], options[key], rng) for key in swept}
        others = {key: value for key, value in options.items() if key not in lists}
        try:
            found = sweep(name, **others, **lists)
        except FlopbookError as error:
            assert "no point of the sweep has an answer" in str(error)
            continue
        assert (
            found.size == math.prod(map(len, lists.values())) and list(found)[: len(lists)] == swept
        )
        assert_same(name, found, others)


def _values(spec: Any, value: Any, rng: random.Random) -> list[Any]:
    if not spec.is_number and not spec.choices:
        return [value]
    if spec.choices:
        return rng.sample(spec.choices, min(3, len(spec.choices)))
    more = [value * factor for factor in (2, 3, 0.5)] if math.isfinite(value) else [1.0, 2.0, 3.0]
    return [value, *(float(round(one)) if spec.whole else one for one in more), -1.0]


def test_the_last_axis_moves_fastest() -> None:
    found = sweep("min-batch", peak=[1e15, 2e15], bandwidth=[1e12, 2e12, 4e12])
    assert found["peak"].tolist() == [1e15] * 3 + [2e15] * 3
    assert found["bandwidth"].tolist() == [1e12, 2e12, 4e12] * 2
    assert found["tokens"].tolist() == [1000, 500, 250, 2000, 1000, 500]
    assert len(found) == 5 and found.unit("peak") == "FLOP/s" and found.unit("tokens") == "token"


def test_words_chips_and_numbers_mix_in_any_order() -> None:
    options = {
        "chip": ["h100-sxm", "tpu-v5p"],
        "d_model": range(4096, 8193, 4096),
        "dtype": ["bf16", "fp4"],
    }
    found = sweep("min-batch", d_ff=28672, **options)
    assert found.size == 8 and list(found["chip"][:4]) == ["h100-sxm"] * 4
    assert_same("min-batch", found, {"d_ff": 28672})
    assert any("has no dense fp4" in reason for reason in found.problems.values())
    assert "peak" not in found.inputs and found.inputs["d_ff"].value == 28672, (
        "what differs between chips is not fixed"
    )


def test_quantities_are_read_as_everywhere() -> None:
    found = sweep("min-batch", peak="1PFLOP/s", bandwidth=["1TB/s", "400Gbit/s", 2e12])
    assert found["bandwidth"].tolist() == [1e12, 5e10, 2e12]
    with pytest.raises(FlopbookError, match="'1' has no unit; write for example 1TB/s"):
        sweep("min-batch", peak="1PFLOP/s", bandwidth=["1", "2"])
    assert sweep("min-batch", peak=np.array([10**15]), bandwidth=1e12)["tokens"].tolist() == [1000]


def test_a_refused_point_keeps_its_place_with_its_reason() -> None:
    found = sweep("training-time", params=1e9, tokens=1e12, peak=1e15, chips=8, mfu=[0.4, 1.5, 0.5])
    assert found.problems == {1: "--mfu is 1.5, which is not a plausible size; expected at most 1"}
    assert np.isnan(found["seconds"][1]) and np.isfinite(found["seconds"][[0, 2]]).all()
    with pytest.raises(
        FlopbookError,
        match=r"no point of the sweep has an answer: --mfu is 2, .* \(1 more reasons\)",
    ):
        sweep("training-time", params=1e9, tokens=1e12, peak=1e15, chips=8, mfu=[2, 3])


def test_many_refused_points_among_many() -> None:
    """A rule that refuses seven numbers of eight, and a bound that refuses half."""
    found = sweep("bubble", stages=8, microbatches=range(1, 801), schedule="interleaved", virtual=2)
    assert len(found.problems) == 700 and found.problems[8] == (
        "the interleaved schedule needs a number of micro-batches that is a multiple of the "
        "stages, not 9 for --stages 8; use 8 or 16"
    )
    half = sweep("min-batch", peak=1e15, bandwidth=np.linspace(-1e12, 1e12, 2000))
    assert len(half.problems) == 1000 and max(half.problems) == 999


@given(values=st.lists(SIZES, min_size=1, max_size=50))
def test_arrays_and_lists_give_the_same(values: list[float]) -> None:
    lists, arrays = (
        sweep("min-batch", peak=1e15, bandwidth=kind(values)) for kind in (list, np.array)
    )
    assert (
        lists["tokens"].tolist() == arrays["tokens"].tolist() == [1e15 / value for value in values]
    )


def test_without_numpy_the_columns_are_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy is optional; each point is then computed for itself."""
    options = {
        "stages": 4,
        "microbatches": [4, 8, 9],
        "schedule": ["1f1b", "interleaved"],
        "virtual": 1,
    }
    expected = sweep("bubble", **options)
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name == "numpy":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    plain = sweep("bubble", **options)
    assert isinstance(plain["fraction"], list) and plain.problems == expected.problems
    for name in plain:
        assert repr(plain.column(name)) == repr(expected.column(name))


def test_json_is_the_contract_with_lists() -> None:
    found = sweep("min-batch", chip="h100-sxm", d_model=[64, 8192, 1e12], d_ff=28672)
    record = found.as_json()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert list(record) == ["calculator", "inputs", "outputs", "notes", "sources", "sweep"]
    assert record["inputs"]["d_model"] == {"value": [64, 8192, 1e12], "unit": "1"}
    assert (
        record["inputs"]["chip"]["value"] == "nvidia/h100-sxm"
        and record["inputs"]["peak"]["source"]
    )
    assert record["outputs"]["tokens_exact"]["value"][0] is None, "no batch is large enough"
    part = record["sweep"]
    assert part["points"] == 3 and part["axes"] == [
        {"input": "d_model", "unit": "1", "values": [64, 8192, 1e12]}
    ]
    assert part["problems"][0]["point"] == 2 and "at most 1e+09" in part["problems"][0]["why"]


RANGES: dict[str, tuple[str, list[Any], bool]] = {
    "doublings": ("d-model=64:1024:log", [64, 128, 256, 512, 1024], True),
    "counted": ("bandwidth=1e10:1e14:log:5", [1e10, 1e11, 1e12, 1e13, 1e14], True),
    "count first": ("bandwidth=1e10:1e14:5:log", [1e10, 1e11, 1e12, 1e13, 1e14], True),
    "units": ("bandwidth=1TB/s:4000GB/s:log", [1e12, 2e12, 4e12], True),
    "linear": ("bandwidth=1TB/s:2TB/s:lin:3", [1e12, 1.5e12, 2e12], False),
    "plain": ("peak=1PFLOP/s:2PFLOP/s", [1e15 + 1e14 * n for n in range(11)], False),
    "few whole": ("d_ff=1:4", [1, 2, 3, 4], False),
    "whole and rounded": ("d_ff=1:100:log:5", [1, 3, 10, 32, 100], True),
    "rounded to the same": ("d_ff=1:2:lin:9", [1, 2], False),
    "downwards": ("d_ff=8:1:log", [8, 4, 2, 1], True),
    "one point": ("d_ff=8:8:log", [8], True),
    "list": ("d_ff=1, 2,4k", [1, 2, 4000], False),
    "words": ("chip=h100-sxm, b200", ["h100-sxm", "b200"], False),
    "words with colons": ("sparsity=dense,2:4", ["dense", "2:4"], False),
    "semicolons": ("chip=NVIDIA H100 80GB HBM3;b200", ["NVIDIA H100 80GB HBM3", "b200"], False),
}


@pytest.mark.parametrize("case", RANGES)
def test_ranges_and_lists_as_people_write_them(case: str) -> None:
    text, values, log = RANGES[case]
    found = read_axis(get_formula("min-batch"), text)
    assert list(found.values) == values and found.log == log


@given(
    low=SIZES,
    factor=st.floats(min_value=1, max_value=1e9),
    count=st.integers(min_value=2, max_value=40),
)
def test_a_range_ends_where_it_says_and_is_even(low: float, factor: float, count: int) -> None:
    formula = get_formula("min-batch")
    for kind in ("log", "lin"):
        found = read_axis(
            formula, f"peak={low!r}FLOP/s:{low * factor!r}FLOP/s:{kind}:{count}"
        ).values
        assert len(found) == count and (found[0], found[-1]) == (low, low * factor)
        moved = [math.log(one) for one in found] if kind == "log" else found
        least_step = 1e-9 * max(map(abs, moved))  # numbers this large are told apart by no less
        steps = [b - a for a, b in itertools.pairwise(moved)]
        assert steps == pytest.approx(
            [(moved[-1] - moved[0]) / (count - 1)] * (count - 1), rel=1e-6, abs=least_step
        )


REFUSED: dict[str, tuple[str, str]] = {
    "no value": ("peak=", "--sweep is 'peak=', expected NAME=LOW:HIGH"),
    "no name": ("1:2", "--sweep is '1:2', expected NAME=LOW:HIGH"),
    "empty": ("", "--sweep is '', expected NAME=LOW:HIGH"),
    "unknown": ("peek=1,2", "unknown option of min-batch 'peek'; nearest: peak"),
    "half a range": ("d_ff=1:", "--d-ff: '' is not a quantity"),
    "no kind": ("d_ff=1:2:cubic", "then :log or :lin and a count"),
    "two kinds": ("d_ff=1:2:log:lin", "then :log or :lin and a count"),
    "two counts": ("d_ff=1:2:3:4", "then :log or :lin and a count"),
    "one point asked for": ("d_ff=1:2:1", "--sweep d_ff: 1 points, expected 2 to 1,000,000"),
    "too many": (f"d_ff=1:2:{MOST_POINTS + 1}", "1000001 points, expected 2 to 1,000,000"),
    "log of nothing": ("d_ff=0:8:log", "--sweep d_ff: a logarithmic range has to lie above 0"),
    "log of less": ("d_ff=-8:8:log", "a logarithmic range has to lie above 0"),
    "wrong unit": ("bandwidth=1GB:2GB", "'1GB' is in byte, expected byte/s"),
    "rate without a unit": ("bandwidth=1:8:log", "'1' has no unit; write for example 1TB/s"),
    "no number": ("d_ff=1,many", "'many' is not a quantity"),
    "a hole": ("d_ff=1,,2", "'' is not a quantity"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_range_is_said(case: str) -> None:
    text, message = REFUSED[case]
    with pytest.raises(FlopbookError) as caught:
        read_axis(get_formula("min-batch"), text)
    assert message in str(caught.value)


def test_what_cannot_be_swept_is_said() -> None:
    with pytest.raises(
        FlopbookError, match="nothing to sweep: give a list of values for at least one input"
    ):
        sweep("min-batch", peak=1e15, bandwidth=1e12)
    with pytest.raises(FlopbookError, match="1,002,001 points are too many, at most 1,000,000"):
        sweep("min-batch", peak=np.arange(1, 1002) * 1e15, bandwidth=np.arange(1, 1002) * 1e12)
    with pytest.raises(UnknownName, match="unknown calculator 'min-bach'; nearest: min-batch"):
        sweep("min-bach", peak=[1])
    with pytest.raises(FlopbookError, match="--sweep peak has no values"):
        sweep("min-batch", peak=[], bandwidth=1e12)
    with pytest.raises(FlopbookError, match="peak is 'None', expected a number"):
        sweep("min-batch", peak=[None], bandwidth=1e12)
    with pytest.raises(
        FlopbookError, match="no point of the sweep has an answer: min-batch needs --peak or --chip"
    ):
        sweep("min-batch", bandwidth=np.geomspace(1e9, 1e12, 100_000))
    with pytest.raises(FlopbookError, match="is not a number"):
        sweep("min-batch", peak=1e15, bandwidth=[math.nan])


def test_an_axis_may_be_given_ready_made() -> None:
    made = make_axis(get_formula("min-batch"), "bandwidth", ["1TB/s"], log=True)
    assert made == Axis("bandwidth", [1e12], "byte/s", True)
    assert sweep("min-batch", peak=1e15, bandwidth=made).axes == (made,)
    assert flopbook.sweep is sweep


def test_a_sweep_says_what_it_is() -> None:
    found = sweep("min-batch", bandwidth=[1e12, 2e12], peak=1e15)
    assert repr(found) == "<sweep of min-batch over bandwidth (2): tokens, flop_per_byte>"


def test_a_large_sweep_of_ordinary_python_is_refused_before_it_starts() -> None:
    """A hundred thousand products of sharded arrays took half a minute."""
    words = {"product": "A[I, J_X] * B[J_X, K] -> C[I, K]", "dims": "I=4,J=8,K=2", "mesh": "X=4"}
    begun = time.process_time()
    with pytest.raises(FlopbookError, match="which computes one at a time, at most 5,000"):
        sweep("sharded-matmul", **words, latency=[n * 1e-9 for n in range(100_000)])
    assert time.process_time() - begun < 2
