"""How a check reads a text: numbers, units, chips, conditions."""

from __future__ import annotations

import re

import pytest

from flopbook.data.library import entry_ids, load_entry
from flopbook.factcheck import words
from flopbook.factcheck.facts import names, subject
from flopbook.factcheck.reading import Unreadable, compact, read

# A number as people write it -> what it is in SI units, of which kind, and how answers write it.
AMOUNTS = (
    ("989 TFLOPS", 989e12, "rate", "TFLOP/s"),
    ("989TFLOPS", 989e12, "rate", "TFLOP/s"),
    ("989 TFLOP/s", 989e12, "rate", "TFLOP/s"),
    ("989 TFLOPs/s", 989e12, "rate", "TFLOP/s"),
    ("989 tflops", 989e12, "rate", "TFLOP/s"),
    ("989 teraFLOPS", 989e12, "rate", "TFLOP/s"),
    ("989 teraflop/s", 989e12, "rate", "TFLOP/s"),
    ("1.5 petaFLOPS", 1.5e15, "rate", "PFLOP/s"),
    ("1.5 PFLOPS", 1.5e15, "rate", "PFLOP/s"),
    ("1.44 exaFLOPS", 1.44e18, "rate", "EFLOP/s"),
    ("1.44 EFLOPS", 1.44e18, "rate", "EFLOP/s"),
    ("900 GFLOPS", 900e9, "rate", "GFLOP/s"),
    ("1979 TOPS", 1979e12, "rate", "TOP/s"),
    ("1979 TOP/s", 1979e12, "rate", "TOP/s"),
    ("4 POPS", 4e15, "rate", "POP/s"),
    ("3.35 TB/s", 3.35e12, "flow", "TB/s"),
    ("3.35TBps", 3.35e12, "flow", "TB/s"),
    ("3.35 TB/sec", 3.35e12, "flow", "TB/s"),
    ("900 GB/s", 900e9, "flow", "GB/s"),
    ("900 GB per second", 900e9, "flow", "GB/s"),
    ("400 Gb/s", 50e9, "flow", "Gbit/s"),
    ("400 Gbps", 50e9, "flow", "Gbit/s"),
    ("400Gbit/s", 50e9, "flow", "Gbit/s"),
    ("1.6 Tbps", 200e9, "flow", "Tbit/s"),
    ("80 GB", 80e9, "bytes", "GB"),
    ("80GB", 80e9, "bytes", "GB"),
    ("80-GB", 80e9, "bytes", "GB"),
    ("80 gigabytes", 80e9, "bytes", "GB"),
    ("80 GiB", 80 * 2**30, "bytes", "GiB"),
    ("50 MB", 50e6, "bytes", "MB"),
    ("48 MiB", 48 * 2**20, "bytes", "MiB"),
    ("256 KiB", 256 * 2**10, "bytes", "kiB"),
    ("1.5 TB", 1.5e12, "bytes", "TB"),
    ("700 W", 700, "watts", "W"),
    ("700W", 700, "watts", "W"),
    ("700 watts", 700, "watts", "W"),
    ("10.2 kW", 10200, "watts", "kW"),
    ("1830 MHz", 1830e6, "hertz", "MHz"),
    ("1.83 GHz", 1.83e9, "hertz", "GHz"),
    ("814 mm2", 814e-6, "area", "mm²"),
    ("814 mm²", 814e-6, "area", "mm²"),
    ("814 mm^2", 814e-6, "area", "mm²"),
    ("80 billion transistors", 80e9, "count", "billion transistors"),
    ("80B transistors", 80e9, "count", "billion transistors"),
    ("1.2 trillion transistors", 1.2e12, "count", "trillion transistors"),
    ("1,979 TFLOPS", 1979e12, "rate", "TFLOP/s"),
    ("9.89e14 FLOPS", 9.89e14, "rate", "FLOP/s"),
    ("$30,000", 30e3, "price", "USD"),
    ("US$ 30k", 30e3, "price", "USD"),
    ("25k dollars", 25e3, "price", "USD"),
    ("$2.50 per hour", 2.5 / 3600, "rent", "USD/h"),
    ("2 USD/h", 2 / 3600, "rent", "USD/h"),
    ("$2 per GPU-hour", 2 / 3600, "rent", "USD/h"),
    ("132 SMs", 132, "cores", "SMs"),
    ("16,896 CUDA cores", 16896, "cores", "CUDA cores"),
)
CONDITIONS = (
    ("H100 bf16 5 TFLOPS", "formats", ("bf16",)),
    ("H100 BFloat16 5 TFLOPS", "formats", ("bf16",)),
    ("H100 5 TFLOPS in FP16/BF16", "formats", ("bf16", "fp16")),
    ("H100 5 TFLOPS", "formats", ()),
    ("H100 nvfp4 5 TFLOPS", "formats", ("nvfp4",)),
    ("H100 5 TFLOPS with sparsity", "sparsity", "sparse"),
    ("H100 5 sparse TFLOPS, or 5 TFLOPS sparse", "sparsity", "sparse"),
    ("H100 5 TFLOPS without sparsity", "sparsity", "dense"),
    ("H100 5 TFLOPS w/ sparsity", "sparsity", "sparse"),
    ("H100 5 TFLOPS w/o sparsity", "sparsity", "dense"),
    ("H100 5 W w/ 2 TB/s", "kind", "flow"),
    ("H100 5 W/chip", "kind", "watts"),
    ("H100 5 TFLOPS dense", "sparsity", "dense"),
    ("H100 5 GB/s both ways", "direction", "both"),
    ("H100 5 GB/s bi-directional", "direction", "both"),
    ("H100 5 GB/s in each direction", "direction", "one-way"),
    ("H100 5 GB/s unidirectional", "direction", "one-way"),
    ("H100 5 GB/s per link", "scope", "link"),
    ("H100 5 GB per GPU", "scope", "chip"),
    ("H100 5 GB per node", "scope", "node"),
    ("H100 5 GB/s of memory bandwidth", "field", "memory_bandwidth"),
    ("H100 HBM 5 GB/s", "field", "memory_bandwidth"),
    ("H100 HBM 5 GB", "field", "memory"),
    ("H100 NVLink 5 GB/s", "field", "scaleup_bandwidth"),
    ("H100 InfiniBand 5 GB/s", "field", "scaleout_bandwidth"),
    ("H100 SXM PCIe 5 GB/s", "field", "host_bandwidth"),
    ("H100 L2 5 MB", "field", "cache"),
    ("H100 SRAM 5 MB", "field", "sram"),
    ("H100 NVLink 5 GB", "field", ""),
    ("H100 5 TFLOPS on CUDA cores", "vector", True),
    ("H100 5 TFLOPS on tensor cores", "vector", False),
)
ROUNDED = (
    ("989.4", 0.4947),  # finer than anybody states
    ("989", 0.5),
    ("990", 5.0),
    ("1,000", 20.0),  # coarser than anybody means
    ("1.0", 0.02),
    ("3.35", 0.005),
    ("3", 0.06),
)


@pytest.mark.parametrize(("text", "value", "kind", "symbol"), AMOUNTS)
def test_amounts_are_read(text: str, value: float, kind: str, symbol: str) -> None:
    (stated,) = read(f"H100 {text}", names())
    assert stated.value == pytest.approx(value)
    assert (stated.kind, stated.symbol) == (kind, symbol)


@pytest.mark.parametrize(("text", "name", "expected"), CONDITIONS)
def test_conditions_are_read(text: str, name: str, expected: object) -> None:
    assert getattr(read(text, names())[-1], name) == expected


CUT = (
    ("5.22", 0.01),  # of 5.229
    ("5.2", 0.1),
    ("1,979", 1.0),
    ("1,000", 20.0),
    ("3", 0.06),
)


@pytest.mark.parametrize(("number", "cut"), CUT)
def test_a_value_may_be_cut_off_after_its_last_digit(number: str, cut: float) -> None:
    """People write 5.22 for 5.229; never more than the last place, and never above the value."""
    (stated,) = read(f"H100 {number} FLOPS", names())
    assert stated.cut == pytest.approx(cut) and stated.cut >= stated.slack


def test_a_maker_of_few_chips_names_them_only_where_no_chip_is_named() -> None:
    (groq,) = read("Groq 230 MB", names())
    assert groq.chips and all(chip.startswith("groq/") for chip in groq.chips)
    (owned,) = read("Groq says that an H100 has 80 GB", names())
    assert all(chip.startswith("nvidia/") for chip in owned.chips)
    with pytest.raises(Unreadable):
        read("NVIDIA 80 GB", names())


@pytest.mark.parametrize("slip", ["H10O", "M1300X", "Blackwel", "Blackwlel", "TPU v5pp"])
def test_a_slip_of_the_finger_is_told_the_name(slip: str) -> None:
    with pytest.raises(Unreadable, match="did you mean") as caught:
        read(f"{slip} 80 GB", names())
    assert caught.value.reason == "near" and not caught.value.statements


@pytest.mark.parametrize(("number", "slack"), ROUNDED)
def test_a_number_is_as_exact_as_it_is_written(number: str, slack: float) -> None:
    (stated,) = read(f"H100 {number} FLOPS", names())
    assert stated.slack == pytest.approx(slack)


@pytest.mark.parametrize("times", ["8x", "8 x", "8×", "8 ×", "8"])
def test_how_many_chips_a_number_is_for(times: str) -> None:
    (stated,) = read(f"{times} H100 640 GB", names())
    assert stated.times == 8


def test_every_name_of_a_chip_is_found() -> None:
    for entry_id in entry_ids():
        entry = load_entry(entry_id)
        for name in (entry.name, *entry.aliases):
            short = compact(name)
            if len(short) > 1 and not short.isdigit():
                assert entry_id in names()[short]


def test_an_alias_in_a_sentence_leads_to_its_chip() -> None:
    for entry_id in entry_ids():
        for alias in load_entry(entry_id).aliases:
            if compact(alias).isdigit() or len(compact(alias)) < 2:
                continue
            text = f"What of the {alias} with 5 bananas and 123.4 MHz?"
            try:
                (stated,) = read(text, names())
            except Unreadable:
                pytest.fail(text)
            assert entry_id in stated.chips


def test_a_subject_has_its_systems_and_its_family() -> None:
    chip = subject("nvidia/h100-sxm")
    assert "nvidia/dgx-h100" in chip.within and "nvidia/h100-pcie" in chip.family
    assert subject("nvidia/dgx-h100").parts == ("nvidia/h100-sxm",)


def test_patterns_keep_to_what_a_browser_has() -> None:
    """No named groups, flags inside of a pattern, or possessive and atomic groups."""
    patterns = [words.NUMBER, words.TIMES, words.WORD, words.OUTSIDE, words.CLAUSE]
    patterns += [pattern for pattern, *_ in (*words.UNITS, *words.QUANTITIES, *words.FORMATS)]
    for pattern in patterns:
        assert re.search(r"\(\?(?![:=!<])|\(\?P|\\[AZ]|[*+?}]\+", pattern) is None
        re.compile(pattern)


def test_each_departure_has_a_cost_and_each_field_a_name() -> None:
    fields = {field for group in words.FIELDS.values() for field in group}
    assert fields == set(words.QUANTITY_NAMES)
    assert {field for _, field in words.QUANTITIES} <= fields
    assert all(cost > 0 for cost in words.COSTS.values())
    assert set(words.record()) >= {"NUMBER", "UNITS", "COSTS", "SENTENCES", "PROBLEMS"}


@pytest.mark.parametrize("count", [1, 5, 50])
def test_at_most_so_many_numbers_are_checked(count: int) -> None:
    text = "H100 " + ", ".join(["1 GB"] * count)
    assert len(read(text, names())) == min(count, words.MOST_STATEMENTS)
