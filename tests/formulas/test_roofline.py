"""Roofline: kernels counted as arithmetic-intensity counts them, roofs as the chip prints them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flopbook
from flopbook import calculate, roofline
from flopbook.errors import FlopbookError
from flopbook.formulas import arithmetic_intensity, get_formula
from flopbook.formulas.kernel_rooflines import KERNELS, work
from flopbook.kernels.notation import OPERATIONS, read_kernels, read_roofs
from flopbook.quantities.ops import inf
from flopbook.quantities.parsing import parse_quantity

ROOFS = "mine: bf16 100TFLOP/s, memory 1TB/s"
sides = st.integers(1, 100_000)


def one(kernel: str, roofs: str = ROOFS, **more: Any) -> dict[str, Any]:
    """The single row of a kernel."""
    out = roofline(kernels=kernel, roofs=roofs, **more)
    return {name: value[0] for name, value in out.items()}


@given(sides, sides, sides, st.sampled_from([4.0, 2.0, 1.0, 0.5]), st.integers(1, 64))
def test_products_are_those_of_arithmetic_intensity(
    m: int, n: int, k: int, width: float, batch: int
) -> None:
    given_ = {"bytes_per_param": width, "bytes_per_activation": width}
    cases = (
        ("gemm", f"{m}x{n}x{k}", {"m": m, "n": n, "k": k}),
        ("gemv", f"{n}x{k}", {"n": n, "k": k}),
        ("dot", f"{k}", {"k": k}),
    )
    for op, written, shape in cases:
        out = one(f"{op} {written} batch={batch}", bytes_per_param=width)
        wanted = arithmetic_intensity(op=op, peak=100e12, bandwidth=1e12, **shape, **given_)
        assert out["flop"] == wanted["flop"] * batch and out["bytes"] == wanted["bytes"] * batch
        assert out["intensity"] == pytest.approx(wanted["intensity"], rel=1e-12)
        assert out["attainable_flop_per_s"] == pytest.approx(
            wanted["attainable_flop_per_s"], rel=1e-12
        )
        assert out["bound"] == wanted["bound"]


@given(sides, st.integers(1, 16), st.integers(1, 8), st.integers(1, 32))
def test_attention_is_that_of_arithmetic_intensity(
    seen: int, keys: int, groups: int, batch: int
) -> None:
    heads = keys * groups
    words = f"heads={heads} kv-heads={keys} head-dim=64 batch={batch}"
    shape = {"n": seen, "k": 64, "heads": heads, "kv_heads": keys}
    for op, name, queries in (("prefill", "seq", seen), ("decode", "context", 1)):
        out = one(f"{op} {name}={seen} {words}")
        wanted = arithmetic_intensity(op=op, m=queries, **shape)
        assert (out["flop"], out["bytes"]) == (wanted["flop"] * batch, wanted["bytes"] * batch)
    assert (
        one(f"decode context={seen} heads=4")["bytes"]
        == arithmetic_intensity(op="decode", n=seen, k=128, heads=4, kv_heads=inf)["bytes"]
    )


@given(sides, sides, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_what_has_no_matrix_counts_values(
    rows: int, columns: int, flop: int, reads: int, writes: int
) -> None:
    out = one(f"elementwise {rows}x{columns} flop={flop} reads={reads} writes={writes} bytes=4")
    assert (out["flop"], out["bytes"]) == (
        rows * columns * flop,
        4 * rows * columns * (reads + writes),
    )
    soft = one(f"softmax {rows}x{columns}")
    assert (soft["flop"], soft["bytes"]) == (5 * rows * columns, 4 * rows * columns) and soft[
        "intensity"
    ] == 1.25


@given(st.floats(1e-3, 1e6), st.floats(1e9, 1e18), st.floats(1e6, 1e15))
def test_a_point_is_under_both_roofs(intensity: float, peak: float, bandwidth: float) -> None:
    out = one(f"point {intensity!r}", f"bf16 {peak!r}FLOP/s, memory {bandwidth!r}B/s")
    assert out["attainable_flop_per_s"] == min(peak, bandwidth * intensity)
    assert out["share"] == pytest.approx(min(1, bandwidth * intensity / peak), rel=1e-12)
    assert out["bound"] == ("memory" if bandwidth * intensity < peak else "arithmetic")
    assert out["flop_per_byte"] == pytest.approx(peak / bandwidth, rel=1e-12)


def test_a_kernel_by_hand() -> None:
    """4,096 cubed in bf16.

    2 x 4096^3 FLOP over 3 x 4096^2 x 2 bytes, 1,365 FLOP a byte, as the notebooks say.
    """
    out = one("gemm 4096x4096x4096 rate=50TFLOP/s")
    assert (
        out["intensity"] == pytest.approx(4096 / 3)
        and out["bound"] == "arithmetic"
        and out["reached"] == 0.5
    )


def test_narrow_weights_keep_wide_activations() -> None:
    """bytes= is the width of the second operand alone.

    4 bits of weights, 2 bytes of everything else.
    """
    assert one("gemv 1000x2000 bytes=0.5")["bytes"] == 0.5 * 2e6 + 2 * 3000


def test_every_pair_of_roofs_has_a_ridge() -> None:
    out = roofline(
        roofs="a: fp8 4TFLOP/s, bf16 2TFLOP/s, memory 1TB/s, L2 4TB/s; b: 1TFLOP/s, 1TB/s",
        kernels="dot 9",
    )
    assert dict(zip(out["ridge"], out["flop_per_byte"], strict=True)) == {
        "a: fp8 over memory": 4,
        "a: fp8 over L2": 1,
        "a: bf16 over memory": 2,
        "a: bf16 over L2": 0.5,
        "b: peak over memory": 1,
    }
    assert out["on"] == ("a", "b") and out["kernel"] == ("dot 9", "dot 9")


def test_the_standard_kernels() -> None:
    """Products wait for memory until some hundred tokens share the weights.

    Attention of single tokens always does.
    """
    out = calculate("roofline", chip="h100-sxm")
    bounds = dict(zip(out["kernel"], out["bound"], strict=True))
    assert [bounds[f"gemm {m}x28672x8192"] for m in (16, 128, 1024)] == [
        "memory",
        "memory",
        "arithmetic",
    ]
    assert {
        bounds[name]
        for name in bounds
        if name.split()[0] in ("gemv", "decode", "softmax", "elementwise")
    } == {"memory"}
    ridge = calculate("ridge-point", chip="h100-sxm")["flop_per_byte"]
    assert out["flop_per_byte"][0] == ridge and "nvidia2022hopper" in out.as_json()["sources"]
    assert {kernel.op for kernel in read_kernels(KERNELS)} == set(OPERATIONS) - {"dot", "point"}


def test_roofs_of_a_chip_are_those_that_it_prints() -> None:
    """The asked format first, then the main memory, then further formats and caches.

    Sources of all of them.
    """
    one_chip = flopbook.chip("mi300x")
    out = calculate("roofline", chip="mi300x", dtype="fp8", kernels="point 1")
    (machine,) = read_roofs(out.inputs["roofs"].value)
    assert machine.name == "amd/mi300x" and machine.peaks[0].label == "fp8 dense"
    assert (
        machine.peaks[0].rate == one_chip.peak("fp8")
        and machine.bandwidths[0].rate == one_chip.memory_bandwidth()
    )
    assert {roof.label: roof.rate for roof in machine.peaks}["bf16 dense"] == one_chip.peak("bf16")
    assert [roof.label for roof in machine.bandwidths] == ["memory", "Infinity Cache", "L2 read"]
    claims = [claim.source for claim in one_chip.claims("sram_bandwidth")]
    assert set(claims) <= set(out.as_json()["sources"]) and out.inputs["bytes_per_param"].value == 1


def test_a_sparse_peak_is_used_only_when_asked_for() -> None:
    out = calculate("roofline", chip="h100-sxm", sparsity="2:4", kernels="point 1")
    assert "bf16 2:4" in out.inputs["roofs"].value and any(
        "sparse peak" in note for note in out.notes
    )
    assert (
        "2:4" not in calculate("roofline", chip="h100-sxm", kernels="point 1").inputs["roofs"].value
    )


def test_several_chips() -> None:
    out = calculate("roofline", chip="h100-sxm , mi300x", kernels="point 1")
    assert out["on"] == ("nvidia/h100-sxm", "amd/mi300x")
    assert out.inputs["chip"].value == "nvidia/h100-sxm, amd/mi300x"
    rates = [flopbook.chip(name).memory_bandwidth() for name in out["on"]]
    assert list(out["attainable_flop_per_s"]) == rates


def test_every_chip_with_a_peak_and_a_memory_has_its_roofs() -> None:
    from flopbook.data.library import load_entries

    drawn = 0
    for name, entry in load_entries().items():
        if not entry.computes:
            continue
        try:
            flopbook.chip(name).peak("bf16")
            flopbook.chip(name).memory_bandwidth()
        except FlopbookError:
            continue
        drawn += 1
        assert calculate("roofline", chip=name, kernels="point 1")["on"] == (name,)
    assert drawn > 50


def test_a_point_has_its_intensity_and_nothing_else() -> None:
    assert work(read_kernels("point 120FLOP/byte")[0], 2.0) == (120, 1)


BAD_KERNELS = {
    "nothing": (" , ", "no kernel is given; write for example gemm"),
    "unknown": ("gem 1x1x1", "unknown kernel 'gem'; nearest: gem"),
    "too few sides": ("gemm 4096x4096", "has 2 sides, expected 3: write gemm MxNxK"),
    "no sides": ("gemv", "has 0 sides, expected 2: write gemv NxK"),
    "zero": ("dot 0", "a side of K is 0, expected a"),
    "negative": ("gemv -1x5", "is -1, expected a whole number of at least 1"),
    "half": ("dot 1.5", "expected a whole"),
    "words": ("dot many", "'dot many': a side of K: 'many' is not a quantity"),
    "huge": ("dot 1e300", "and of plausible size"),
    "not finite": ("dot nan", "'nan' is not a quantity"),
    "too large": ("dot 1e999", "too large to be a quantity"),
    "sides twice": ("dot 5 6", "unknown word in 'dot 5 6': '6'"),
    "missing": ("prefill heads=8", "needs seq=, such as prefill seq=8192"),
    "of another": ("gemm 1x1x1 seq=5", "unknown word in 'gemm 1x1x1 seq=5': 'seq'"),
    "heads": ("decode context=5 heads=2 kv-heads=4", "kv-heads does not divide heads"),
    "odd heads": ("decode context=5 heads=32 kv-heads=3", "kv-heads does not divide heads"),
    "rate without unit": ("dot 5 rate=many", "rate: 'many' is not a quantity"),
    "no rate": ("dot 5 rate=0FLOP/s", "rate"),
    "unit of a rate": ("dot 5 rate=5TB/s", "expected FLOP/s"),
    "empty value": ("dot 5 batch=", "batch: '' is not"),
    "no value": ("dot 5 batch", "unknown word"),
    "too many": (", ".join(["dot 5"] * 41), "at most 40"),
    "control": ("dot\x1b[2J 5", "unknown kernel"),
}


@pytest.mark.parametrize(("kernels", "message"), BAD_KERNELS.values(), ids=BAD_KERNELS)
def test_kernels_that_make_no_sense_are_refused(kernels: str, message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        roofline(kernels=kernels, roofs=ROOFS)
    assert message in str(caught.value) and str(caught.value).isprintable()


BAD_ROOFS = {
    "nothing": (" ; ", "no roof is given"),
    "no memory": ("a: bf16 1TFLOP/s", "'a: bf16 1TFLOP/s' has no bandwidth"),
    "no peak": ("memory 1TB/s", "has no peak; add one, such as bf16 989TFLOP/s"),
    "no unit": (
        "bf16 100, memory 1TB/s",
        "'bf16 100' is no roof; write a name and a rate with its unit",
    ),
    "a suffix": ("bf16 5T, memory 1TB/s", "is no roof"),
    "zero": ("0FLOP/s, memory 1TB/s", "no plausible rate"),
    "words": ("fast, 1TB/s", "'fast' is no roof"),
    "negative": ("-1TFLOP/s, 1TB/s", "is no plausible rate"),
    "twice": ("bf16 1TFLOP/s, bf16 2TFLOP/s, 1TB/s", "two roofs of the same name"),
    "same chip": ("a: 1TFLOP/s, 1TB/s; a: 2TFLOP/s, 1TB/s", "two chips have the same name"),
    "many": (
        "; ".join(f"c{n}: 1TFLOP/s, 1TB/s" for n in range(7)),
        "7 chips are too many for a picture, at most 6",
    ),
}


@pytest.mark.parametrize(("roofs", "message"), BAD_ROOFS.values(), ids=BAD_ROOFS)
def test_roofs_that_make_no_sense_are_refused(roofs: str, message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        roofline(kernels="dot 5", roofs=roofs)
    assert message in str(caught.value) and str(caught.value).isprintable()


BAD_CHIPS = {
    "unknown": ({"chip": "h100-sxm, h101"}, "unknown chip 'h101'"),
    "twice": ({"chip": "h100-sxm,h100-sxm5"}, "twice"),
    "none": ({"chip": ","}, "--chip names 0 chips, expected 1 to 6"),
    "nothing": ({}, "needs --roofs or --chip"),
    "a node": ({"chip": "dgx-h100"}, "is a node, not a chip; name its chip"),
    "no such format": ({"chip": "h100-sxm", "dtype": "fp4"}, "has no dense fp4 tensor peak"),
    "seven": (
        {"chip": "h100-sxm, h200-sxm, b200, mi325x, mi300x, tpu-v5p, tpu-v5e"},
        "expected 1 to 6",
    ),
    "a rate on two": (
        {"chip": "h100-sxm, mi300x", "kernels": "dot 5 rate=1TFLOP/s"},
        "belongs to one chip",
    ),
}


@pytest.mark.parametrize(("options", "message"), BAD_CHIPS.values(), ids=BAD_CHIPS)
def test_chips_that_have_no_roofs_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        calculate("roofline", **options)
    assert message in str(caught.value)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_raises_anything_else(kernels: str, roofs: str) -> None:
    for given_ in ({"kernels": kernels, "roofs": ROOFS}, {"kernels": "dot 5", "roofs": roofs}):
        try:
            roofline(**given_)
        except FlopbookError as error:
            assert str(error).isprintable()


@given(sides, sides, sides)
def test_the_words_multiply_intensity_and_rate(m: int, n: int, k: int) -> None:
    """What --explain says of the slope is the product that it shows, to the digits shown."""
    kernel = f"gemm {m}x{n}x{k}"
    ridge, line = get_formula("roofline").working(kernels=kernel, roofs=ROOFS, bytes_per_param=2.0)
    assert ridge == "mine: bf16 over memory at 100 FLOP/byte"
    shown, slope = line.partition(" FLOP/byte x memory 1 TB/s = ")[::2]
    intensity = float(shown.rpartition(": ")[2].replace(",", ""))
    rate = parse_quantity(slope.partition(",")[0], "FLOP/s")
    assert rate == pytest.approx(intensity * 1e12, rel=2e-3)
    assert line.endswith(one(kernel)["bound"])
