"""Ridge point and arithmetic intensity: laws, published values, what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import arithmetic_intensity, min_batch, ridge_point
from flopbook.formulas.rooflines import first_addition, unfused_scores

sides = st.integers(min_value=1, max_value=100_000).map(float)
CHIP = {"peak": 989.4e12, "bandwidth": 3.35e12}


def gemm(m: float, n: float, k: float, **rest: Any) -> dict[str, Any]:
    return arithmetic_intensity(op="gemm", m=m, n=n, k=k, **rest)


def counted(queries: int, keys: int, width: int, heads: int) -> int:
    """Operations of causal attention, pair by pair: a product for the score, one for the value."""
    pairs = sum(
        1 for q, key in itertools.product(range(queries), range(keys)) if key <= q + keys - queries
    )
    return heads * pairs * 2 * (2 * width)


@given(st.floats(1e12, 1e16), st.floats(1e11, 1e14), st.floats(0.01, 100))
def test_the_ridge_point_scales_with_peak_and_against_bandwidth(
    peak: float, bandwidth: float, factor: float
) -> None:
    base = ridge_point(peak=peak, bandwidth=bandwidth)["flop_per_byte"]
    assert ridge_point(peak=factor * peak, bandwidth=bandwidth)["flop_per_byte"] == pytest.approx(
        factor * base
    )
    assert ridge_point(peak=peak, bandwidth=factor * bandwidth)["flop_per_byte"] == pytest.approx(
        base / factor
    )
    assert base == min_batch(peak=peak, bandwidth=bandwidth)["flop_per_byte"]


def test_the_ridge_point_of_h100() -> None:
    """295.343 FLOP/byte (slides2025scaling, line 220, with the dense peak of nvidia2022hopper).

    A list that mixes sparse and dense peaks (anchors: GenZ, LLM_Sizing_Guide) would give 590.7.
    """
    assert calculate("ridge-point", chip="h100-sxm")["flop_per_byte"] == pytest.approx(
        295.343, rel=1e-5
    )
    assert calculate("ridge-point", chip="h100-sxm", sparsity="2:4")[
        "flop_per_byte"
    ] == pytest.approx(590.7, rel=1e-3)


@given(sides, sides, sides, st.sampled_from([4.0, 2.0, 1.0, 0.5]))
def test_intensity_is_below_twice_the_smallest_side(
    m: float, n: float, k: float, width: float
) -> None:
    out = gemm(m, n, k, bytes_per_param=width)
    assert out["intensity"] == pytest.approx(2 * m * n * k / (width * (m * k + k * n + m * n)))
    assert out["intensity"] < 2 * min(m, n, k) / width


@given(sides, sides, sides)
def test_turning_the_product_around_changes_nothing(m: float, n: float, k: float) -> None:
    assert gemm(m, n, k)["intensity"] == pytest.approx(gemm(n, m, k)["intensity"])


@given(sides, sides, sides)
def test_rate_time_and_bound_agree(m: float, n: float, k: float) -> None:
    out = gemm(m, n, k, **CHIP)
    limits = {"arithmetic": out["flop"] / CHIP["peak"], "memory": out["bytes"] / CHIP["bandwidth"]}
    assert out["seconds"] == pytest.approx(max(limits.values()))
    assert out["attainable_flop_per_s"] == pytest.approx(out["flop"] / out["seconds"])
    assert out["attainable_flop_per_s"] <= CHIP["peak"]
    if limits["arithmetic"] != pytest.approx(limits["memory"]):
        assert out["bound"] == max(limits, key=lambda name: limits[name])


@pytest.mark.parametrize(
    ("given_", "intensity"),
    [
        ({"op": "dot", "k": 1e9}, 0.5),  # slides2025scaling, line 215: one half in the limit
        ({"op": "gemm", "m": 1024, "n": 1024, "k": 1024}, 341.3333),  # line 241
        (
            {"op": "gemm", "m": 4096, "n": 4096, "k": 4096},
            1365.33,
        ),  # line 243: n/3 for a square in bf16
        (
            {"op": "gemm", "m": 1, "n": 100000, "k": 100000},
            0.99998,
        ),  # the same line: one row has 1, not more
        (
            {"op": "gemm", "m": 591, "n": 8192, "k": 8192},
            516.479,
        ),  # line 631, with B x F and not B x F squared
    ],
)
def test_intensities_of_the_slides(given_: dict[str, Any], intensity: float) -> None:
    """Recomputed values of slides2025scaling (lines 215 to 633)."""
    assert arithmetic_intensity(**given_)["intensity"] == pytest.approx(intensity, rel=1e-5)


def test_operations_and_bytes_of_the_slides() -> None:
    """W = 2,147,483,648 and Q = 6,291,456 at 1024 cubed (slides2025scaling, lines 237 and 239)."""
    out = gemm(1024, 1024, 1024)
    assert (out["flop"], out["bytes"]) == (2147483648, 6291456)


def test_a_dot_product_as_printed_grows_without_bound() -> None:
    """(2n - 1)/4 * n is 524,032 at n = 1024 (slides2025scaling, line 215).

    With the bracket it is one half.
    """
    n = 1024
    assert (2 * n - 1) / 4 * n == 524032
    assert arithmetic_intensity(op="dot", k=n)["intensity"] == pytest.approx(
        (2 * n - 1) / (4 * n), rel=1e-3
    )


@pytest.mark.parametrize(
    ("width", "activation"), [(2.0, 2.0), (1.0, 1.0), (0.5, 2.0), (1.0, 2.0), (0.5, 1.0)]
)
@pytest.mark.parametrize(("d", "f"), [(4096, 14336), (8192, 28672)])
def test_the_minimum_batch_is_where_the_bound_changes(
    width: float, activation: float, d: int, f: int
) -> None:
    """Weights and activations of different widths: the exact batch is the ridge of the product."""
    exact = min_batch(
        **CHIP, bytes_per_param=width, d_model=d, d_ff=f, bytes_per_activation=activation
    )["tokens_exact"]
    given_ = {"n": f, "k": d, "bytes_per_param": width, "bytes_per_activation": activation, **CHIP}
    assert gemm(math.floor(exact), **given_)["bound"] == "memory"
    assert gemm(math.ceil(exact), **given_)["bound"] == "arithmetic"


def test_narrow_weights_alone_need_a_smaller_batch() -> None:
    """Weights of 4 bits multiplied in bf16.

    A quarter of the batch, and a little more for wide activations.
    """
    wide = min_batch(**CHIP, d_model=8192, d_ff=28672)
    narrow = min_batch(
        **CHIP, d_model=8192, d_ff=28672, bytes_per_param=0.5, bytes_per_activation=2.0
    )
    as_narrow = min_batch(**CHIP, d_model=8192, d_ff=28672, bytes_per_param=0.5)
    assert narrow["tokens"] == wide["tokens"] / 4
    assert as_narrow["tokens_exact"] < narrow["tokens_exact"] < wide["tokens_exact"]
    same = min_batch(**CHIP, d_model=8192, d_ff=28672, bytes_per_activation=2.0)
    assert same == wide


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 40), (8, 8), (5, 17)])
def test_attention_counts_each_pair_once(queries: int, keys: int) -> None:
    """Seven tools count attention over a prompt without the causal half.

    anchors-calculators, end of section c.
    """
    out = arithmetic_intensity(op="prefill", m=queries, n=keys, k=16, heads=4, kv_heads=2)
    assert out["flop"] == counted(queries, keys, 16, 4)
    if queries == keys > 1:
        assert out["flop"] / (4 * 4 * queries * keys * 16) == pytest.approx((keys + 1) / (2 * keys))


def test_decoding_reads_the_heads_of_keys_and_values_not_those_of_queries() -> None:
    """LLM-Viewer with fused attention reads keys for all 64 query heads of Llama 2 70B.

    8 times the bytes.
    """
    grouped = arithmetic_intensity(op="decode", n=4096, k=128, heads=64, kv_heads=8)
    full = arithmetic_intensity(op="decode", n=4096, k=128, heads=64)
    assert full["flop"] == grouped["flop"]
    assert full["bytes"] / grouped["bytes"] == pytest.approx(8, rel=0.02)


@given(st.integers(1, 10**6).map(float), st.sampled_from([1.0, 2.0, 8.0, 64.0]))
def test_the_intensity_of_decoding_never_passes_heads_over_heads(
    context: float, kv_heads: float
) -> None:
    out = arithmetic_intensity(op="decode", n=context, k=128, heads=64, kv_heads=kv_heads)
    assert out["intensity"] < 64 / kv_heads
    assert arithmetic_intensity(op="decode", n=1e9, k=128, heads=64, kv_heads=kv_heads)[
        "intensity"
    ] == pytest.approx(64 / kv_heads, rel=1e-3)


def test_without_a_chip_the_intensity_stands_and_the_rate_is_open() -> None:
    result = calculate("arithmetic-intensity", op="gemm", m=8, n=8, k=8)
    assert result["intensity"] == pytest.approx(8 / 3) and result["bound"] is None
    assert "attainable_flop_per_s, seconds, bound need --peak and --bandwidth" in result.notes


def test_arrays_equal_floats() -> None:
    m = np.array([1.0, 64.0, 512.0, 4096.0])
    out = gemm(m, 8192, 8192, **CHIP)
    for i, rows in enumerate(m.tolist()):
        single = gemm(rows, 8192, 8192, **CHIP)
        assert {
            name: values[i] if hasattr(values, "shape") else values for name, values in out.items()
        } == single


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"op": "dot", "m": 2, "k": 4}, "a dot product has a length --k only"),
        ({"op": "gemv", "m": 2, "n": 4, "k": 4}, "has --m 1"),
        ({"op": "decode", "m": 2, "n": 4, "k": 4}, "has --m 1"),
        ({"op": "prefill", "m": 5, "n": 4, "k": 4}, "at least as many keys"),
        (
            {"op": "prefill", "m": 4, "n": 4, "k": 4, "heads": 2, "kv_heads": 4},
            r"--kv-heads \d+ does not divide --heads \d+",
        ),
        ({"op": "gemm", "m": 4, "n": 4, "k": 4, "heads": 2}, "only attention has heads"),
        ({"op": "gem", "k": 4}, "unknown op 'gem'; nearest: gemv, gemm"),
        ({"k": 0}, "k is 0, expected at least 1"),
        ({"k": -4}, "k is -4, expected at least 1"),
        ({"k": 1.5}, "expected a whole number"),
        ({"k": math.nan}, "k is not a number"),
        ({"k": 1e13}, "not a plausible size"),
        ({"k": 4, "bytes_per_result": 0}, "bytes_per_result is 0, expected at least 0.01"),
        ({"k": 4, "peak": math.inf}, None),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert arithmetic_intensity(**given_)["seconds"] >= 0
        return
    with pytest.raises(FlopbookError, match=message):
        arithmetic_intensity(**given_)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["gemm", "prefill", "decode"]))
def test_only_attention_writes_scores(m: int, n: int, op: str) -> None:
    values = {"op": op, "m": m, "n": n, "heads": 4, "bytes_per_param": 2, "bytes": 1000}
    assert unfused_scores.value(values) == (0 if op == "gemm" else 2 * m * n * 4 * 2 / 1000)


@given(st.integers(1, 10**6))
def test_the_first_product_of_a_sum_is_not_added(k: int) -> None:
    """2k - 1 operations where 2k are counted."""
    assert 2 * k * (1 + first_addition.value({"k": k})) == pytest.approx(2 * k - 1)
