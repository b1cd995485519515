"""What a check says of numbers that people quote."""

from __future__ import annotations

import pytest

from flopbook.data.library import entry_ids, load_entry
from flopbook.factcheck.facts import names, subject
from flopbook.factcheck.judging import Judgement, judge, of_anybody
from flopbook.factcheck.reading import Unreadable, read
from flopbook.hardware.choice import choose_peak
from tests.support.cases import every
from tests.support.quoted_numbers import QUOTED
from tests.support.stated_numbers import (
    AMBIGUOUS,
    CASES,
    SEVERAL,
    SHORT,
    UNREADABLE,
    Case,
    of_every_chip,
)


def findings(text: str) -> list[Judgement]:
    return [judge(statement, subject) for statement in read(text, names())]


@every("case", [*CASES, *SHORT])
def test_a_number_gets_its_verdict(case: Case) -> None:
    (finding,) = findings(case.text)
    assert finding.verdict == case.verdict, finding.says
    assert finding.holds == (case.verdict == "holds")
    if case.value is not None:
        assert finding.value == pytest.approx(case.value, rel=1e-3)


@pytest.mark.parametrize(("text", "said"), AMBIGUOUS)
def test_a_number_that_may_be_several_names_them(text: str, said: str) -> None:
    with pytest.raises(Unreadable) as caught:
        findings(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_thousands_are_money_only_where_the_text_says_so() -> None:
    with pytest.raises(Unreadable, match="no number with a unit"):
        findings("H100 500k")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("H100 989.5 TFLOPS", "holds within 0.01 % of 989.4 TFLOP/s, which is on file"),
        ("H100 1978.5 TFLOPS", "is within 0.02 % of 1,979 TFLOP/s"),
        ("H100 989 TFLOPS", "holds, rounded from 989.4 TFLOP/s"),
        ("H100 1,000 TFLOPS", "holds, rounded from 989.4 TFLOP/s"),
    ],
)
def test_only_a_rounding_is_called_one(text: str, said: str) -> None:
    (finding,) = findings(text)
    assert said in finding.says[0]


def test_the_type_of_a_memory_is_named_with_a_chip_that_has_the_stated_one() -> None:
    (finding,) = findings("H100 80GB HBM2e")
    assert finding.says == (
        "NVIDIA H100 SXM5 80GB: 80 GB is memory",
        "its memory is HBM3, not HBM2e",
        "NVIDIA H100 PCIe 80GB has that",
    )


def test_a_known_error_is_no_evidence_for_what_holds() -> None:
    """A source that prints HBM3 stood behind the HBM2e of an H100 PCIe."""
    for text in ("H100 PCIe 80GB HBM3", "H100 PCIe 80GB HBM2e"):
        (finding,) = findings(text)
        assert finding.evidence and not any(fact.error for fact in finding.evidence)


def test_a_chip_beside_a_pod_is_written_in_a_unit_of_its_own() -> None:
    """0.000459 EFLOP/s could not be read."""
    (finding,) = findings("TPU v5p 4.1 exaFLOPS")
    assert finding.verdict == "per-node" and finding.says[-1].endswith("has 459 TFLOP/s")


@every("text, verdicts", SEVERAL)
def test_each_number_of_a_text_is_checked(text: str, verdicts: tuple[str, ...]) -> None:
    assert tuple(finding.verdict for finding in findings(text)) == verdicts


@every("text", QUOTED)
def test_a_quoted_number_gets_its_verdict(text: str) -> None:
    assert tuple(finding.verdict for finding in findings(text)) == QUOTED[text]


@every("text, reason", UNREADABLE)
def test_what_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(text, names())
    assert caught.value.reason == reason


def test_what_is_on_file_of_a_chip_is_found_again() -> None:
    """A claim is never "not a value of this chip", whatever else is said of it."""
    read_all = of_every_chip()
    assert len(read_all) > 700
    lost = [
        text
        for text in read_all
        for finding in findings(text)
        if finding.verdict in ("none", "other-chip")
    ]
    assert lost == []


@every("name", [name for name in entry_ids() if load_entry(name).computes])
def test_a_chosen_dense_rate_holds(name: str) -> None:
    """The rate that every page and calculator shows is the one that needs no further word."""
    claim = choose_peak(load_entry(name).claims, "bf16")
    if claim is None:
        return
    text = f"{name.partition('/')[2]} bf16 {claim.value:.6g} {claim.unit}"
    finding = findings(text)[0]
    assert finding.holds, finding.says
    assert finding.value == pytest.approx(claim.si_value, rel=0.02)


@every("name", [name for name in entry_ids() if load_entry(name).computes])
def test_a_sparse_rate_never_holds_unsaid(name: str) -> None:
    entry = load_entry(name)
    for claim in entry.claims:
        is_sparse = claim.field == "peak" and claim.sparsity == "2:4" and claim.dtype == "bf16"
        if not is_sparse or claim.known_error:
            continue
        text = f"{name.partition('/')[2]} bf16 {claim.value:.6g} {claim.unit}"
        (finding,) = findings(text)
        assert not finding.holds, finding.says
        (said,) = findings(f"{text} with sparsity")
        assert said.holds, said.says


def test_the_answer_does_not_depend_on_case_and_blanks() -> None:
    plain = findings("H100 bf16 989 TFLOP/s")
    for text in ("h100  BF16   989TFLOP/s", "the H-100: bf16, 989 TFLOP/s".replace(",", "")):
        assert [f.verdict for f in findings(text)] == [f.verdict for f in plain]


@pytest.mark.parametrize("factor", [1.03, 1.1, 3.0, 0.97, 0.31])
def test_a_number_that_is_off_does_not_hold(factor: float) -> None:
    for text in ("H100 {:.4f} GB", "MI300X bf16 {:.4f} TFLOPS"):
        value = {"H": 80, "M": 1307.4}[text[0]] * factor
        assert not findings(text.format(value))[0].holds


def test_what_halves_a_rate_is_said_where_no_dense_one_is_on_file() -> None:
    (finding,) = findings("DGX H100 32 petaFLOPS FP8")
    assert finding.says[1:] == ("dense is half of that, 16 PFLOP/s",)


def test_a_family_is_the_chip_that_fits_best() -> None:
    """Of equals the one of which most is on file; the answer names it."""
    names_said = {
        "Hopper 700 W": "H100 SXM5",
        "Hopper 141 GB": "H200 SXM",
        "Ampere 312 TFLOPS": "A100 SXM4 80GB",
    }
    for text, name in names_said.items():
        (finding,) = findings(text)
        assert finding.holds and name in finding.says[0], finding.says


def test_the_same_link_is_not_said_twice() -> None:
    (finding,) = findings("H100 NVLink 900 GB/s")
    assert finding.says[1:] == ("one way is 450 GB/s",)


def test_a_small_b_is_a_bit() -> None:
    bits, octets = read("H100 400 Gb/s; H100 50 GB/s", names())
    assert bits.value == octets.value == 50e9


def test_thousands_and_powers_are_read() -> None:
    texts = ("H100 1,979 TFLOPS", "H100 1979 TFLOPS", "H100 1.979e15 FLOPS", "H100 1.979 PFLOPS")
    values = [read(text, names())[0].value for text in texts]
    assert values == pytest.approx([1979e12] * 4)


RATES = (
    "1307 TFLOPS FP16, 2614 FP8",
    "1307 TFLOPS fp16 and 2614 fp8",
    "1,307 TFLOPS bf16/2,614 fp8",
)


@every("rates", RATES)
def test_a_rate_without_a_unit_has_that_of_the_one_before_it(rates: str) -> None:
    """The second number of the two was passed over in silence."""
    statements = read(f"MI300X {rates}", names())
    assert [one.value for one in statements] == pytest.approx([1307e12, 2614e12])
    assert [one.formats[-1] for one in statements][1] == "fp8"


def test_a_chip_before_a_number_owns_it() -> None:
    statements = read("H100 80 GB, MI300X 192 GB and 750 W", names())
    assert [statement.chips[0] for statement in statements] == [
        "nvidia/h100-sxm",
        "amd/mi300x",
        "amd/mi300x",
    ]


def test_a_number_without_a_chip_is_told_whose_it_is() -> None:
    """The chips of which it is a value, the likeliest quantity first; else what to write."""
    chips = [name for name in entry_ids() if load_entry(name).computes]
    with pytest.raises(Unreadable) as caught:
        read("5.22 PFLOPS", names())
    assert "AMD Instinct MI300X" in of_anybody(caught.value.statements, chips, subject)
    with pytest.raises(Unreadable) as caught:
        read("123.456 PFLOPS", names())
    assert of_anybody(caught.value.statements, chips, subject) == str(caught.value)


def test_a_cache_in_decimal_units_holds_and_says_what_it_means() -> None:
    """Makers print 50 MB for 50 MiB of cache; of main memory the two are told apart."""
    (cache,) = findings("H100 L2 cache 50 MB")
    assert cache.holds and "52.43 MB" in cache.says[-1]
    (memory,) = findings("H100 80 GiB")
    assert memory.verdict == "binary"


def test_two_written_digits_are_rounded_to_the_last_of_them() -> None:
    (finding,) = findings("GB200 NVL72 1.4 exaflops FP4 with sparsity")
    assert finding.holds and finding.value == pytest.approx(1.44e18)
    assert not findings("GB200 NVL72 1 exaflops FP4 with sparsity")[0].holds


def test_a_rate_of_open_sparsity_is_read_as_the_source_that_says_it() -> None:
    (finding,) = findings("RTX 5090 3352 TOPS fp4")
    assert finding.verdict == "sparse" and "dense is 1,676 TOP/s" in finding.says


def test_what_is_printed_of_a_sibling_comes_before_what_was_measured() -> None:
    """Somebody measured 1.58 TB/s on the A100 of 80 GB; a text of 1.6 TB/s means that of 40 GB."""
    (finding,) = findings("A100 delivers 1.6 TB/s")
    assert finding.verdict == "other-chip" and "A100 SXM4 40GB" in finding.says[0]


def test_what_holds_by_a_lesser_source_names_the_preferred_value() -> None:
    preferred = "the source that we prefer has 4.8 TB/s"
    assert preferred in findings("H200 4.89 TB/s")[0].says
    assert preferred not in findings("H200 4.8 TB/s")[0].says


@pytest.mark.parametrize(
    ("text", "printed"),
    [("TPU v5p 95 GB", "95 GiB"), ("Trillium 32GB HBM", "32 GiB"), ("Trainium2 96 GB", "96 GiB")],
)
def test_a_preferred_capacity_is_named_in_the_unit_of_its_source(text: str, printed: str) -> None:
    """Google prints 32 GiB of a v6e; the answer said that it has 34.36 GB."""
    assert f"the source that we prefer has {printed}" in findings(text)[0].says


def test_another_chip_of_the_text_that_has_the_number_is_named() -> None:
    """The number goes with the nearest name, which is not always the one that is meant."""
    (finding,) = findings("The MI300X doubles the H100 with 192 GB")
    assert not finding.holds and finding.chip == "nvidia/h100-sxm"
    assert finding.says[-1] == "AMD Instinct MI300X, which the text names too, has it: memory"
    (finding,) = findings("The MI300X doubles the H100 with 150 GB")
    assert "names too" not in finding.says[-1]


def test_what_several_chips_should_have_is_said_of_several() -> None:
    (finding,) = findings("8 x H100 15.8 PFLOPS")
    assert "dense is 7.915 PFLOP/s" in finding.says
