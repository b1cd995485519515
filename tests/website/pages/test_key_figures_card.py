"""The card of a product: which figures lead, what the sentences say, and what is never mixed."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.data.library import entry_ids
from flopbook.hardware.picked import Picked
from scripts.website.pages.keyfigures import CardFigure, cards, figures, leading_peak
from scripts.website.pages.neighbours import MOST, distance, family_of, similar
from scripts.website.pages.priced import newest_prices, price_section
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import peak_id, value_of
from tests.support.cases import every
from tests.support.samples import NEEDED, World, claim


def figures_of(name: str) -> dict[str, CardFigure]:
    return {figure.label: figure for figure in figures(rows_by_id()[name])}


def test_the_card_of_an_h100() -> None:
    """989.4 of dense bf16, 80 GB, 3.35 TB/s, 450 GB/s one way, 700 W: NVIDIA's white paper."""
    found = figures_of("nvidia/h100-sxm")
    words = {label: figure.words for label, figure in found.items() if label != "Rent"}
    assert words == {
        "Peak": "989.4 TFLOP/s",
        "Memory": "80 GB",
        "Memory bandwidth": "3.35 TB/s",
        "Link to other chips": "450 GB/s",
        "Power": "700 W",
        "Year": "2022",
        "Measured": "80 %",
    }
    peak = " ".join(found["Peak"].sentences)
    assert "bf16, dense" in peak and "With 2:4 sparsity: 1,978.9" in peak and "fp8 1,978.9" in peak
    assert "40 billion" in found["Memory"].sentences[0]
    assert "24 ms" in found["Memory bandwidth"].sentences[0]
    assert "295 FLOP per byte" in found["Memory bandwidth"].sentences[1]
    link = " ".join(found["Link to other chips"].sentences)
    assert "one way" in link and "8 chips" in link and "900 GB/s, both ways" in link
    assert found["Power"].sentences == ("1.4 TFLOP/s per watt at the bf16 peak.",)


@every("name", sorted({price.chip for price in newest_prices()}))
def test_the_rent_is_the_middle_of_what_clouds_ask(name: str) -> None:
    asked = sorted(
        one.per_chip for one in newest_prices() if one.chip == name and one.terms == "on-demand"
    )
    found = figures_of(name).get("Rent")
    assert (found is None) == (not asked)
    if found:
        assert found.words == f"{asked[(len(asked) - 1) // 2]:,.2f} USD/h"
        assert asked[0] == asked[-1] or f"{asked[-1]:,.2f}" in found.sentences[0]


@every("name", entry_ids()[::5])
def test_every_product_has_a_card_in_words(name: str) -> None:
    for figure in figures(rows_by_id()[name]):
        assert figure.label and figure.words
        for sentence in figure.sentences:
            assert (
                sentence[0].isupper() or sentence[0].isdigit() or sentence[:2] in ("bf", "fp", "in")
            )
            assert sentence.endswith(".") and "  " not in sentence and "{" not in sentence
            assert re.search(r"\d{5,}\.\d", sentence) is None


@every("name", entry_ids())
def test_a_sparse_rate_never_leads(name: str) -> None:
    peak = leading_peak(rows_by_id()[name].cells)
    assert peak is None or peak.sparsity in ("dense", "unstated")
    dense = rows_by_id()[name].cells.get(peak_id("bf16", "tensor", "dense"))
    if isinstance(dense, Picked):
        assert peak and (peak.dtype, peak.picked.value) == ("bf16", dense.value)


def test_a_rate_of_block_formats_leads_where_it_is_all_that_is_printed() -> None:
    """The card said "not published" of a chip whose vendor prints 13.4 PFLOP/s of mxfp4."""
    peak = figures_of("openai/jalapeno")["Peak"]
    assert peak.words == "3.4 PFLOP/s" and "mxfp8, sparsity unstated" in peak.sentences[0]
    assert "Narrower formats: mxfp4 13.4 PFLOP/s." in peak.sentences


@every("name", entry_ids()[::3])
def test_formats_that_are_called_narrower_are(name: str) -> None:
    sentences = " ".join(figures_of(name)["Peak"].sentences)
    narrower = re.search(r"Narrower formats: (.*?)\.( |$)", sentences)
    if narrower is None:
        return
    own = re.search(r"\d+", sentences.split(",")[0].removeprefix("bf").removeprefix("fp"))
    assert own
    bits = [int(one) for one in re.findall(r"(?:^|, )[a-z]+(\d+) ", narrower[1])]
    assert bits and max(bits) < int(own[0])


def test_a_rate_that_another_source_calls_sparse_does_not_lead() -> None:
    """The RTX 5080 has 1,801 TOPS of fp4 on record twice: once with 2:4 sparsity, once without."""
    assert figures_of("nvidia/rtx-5080")["Peak"].words == "not published"


def test_an_estimate_says_who_made_it() -> None:
    """Google prints no power of TPU7x; 960 W is what others reckon."""
    sentences = " ".join(figures_of("google/tpu-v7x")["Power"].sentences)
    assert re.search(r"Estimated by .+ \d{4}, not printed by the vendor\.", sentences)
    assert "Estimated" not in " ".join(figures_of("nvidia/h100-sxm")["Power"].sentences)
    assert "Reported by" in " ".join(figures_of("openai/jalapeno")["Power"].sentences)


def test_a_peak_that_is_only_printed_sparse_is_named() -> None:
    """The RTX 5080 and the GB10 are sold by their fp4 rate with 2:4 sparsity."""
    for name in ("nvidia/rtx-5080", "nvidia/gb10"):
        found = figures_of(name)["Peak"]
        assert re.match(r"Only with 2:4 sparsity: 1[,.\d]* [TP]FLOP/s in fp4\.", found.sentences[0])


def test_a_memory_of_unstated_kind_begins_with_what_it_holds() -> None:
    assert figures_of("hygon/dcu-k100-ai")["Memory"].sentences[0].startswith("Holds 32 billion")


def test_two_prices_have_no_middle() -> None:
    asked = {
        name: [
            one.per_chip for one in newest_prices() if one.chip == name and one.terms == "on-demand"
        ]
        for name in {price.chip for price in newest_prices()}
    }
    pairs = [name for name, prices in asked.items() if len(set(prices)) == len(prices) == 2]
    assert pairs
    for name in pairs:
        (sentence,) = figures_of(name)["Rent"].sentences
        assert sentence.startswith("On demand: the lower of two list prices; the other is ")
        assert figures_of(name)["Rent"].words == f"{min(asked[name]):,.2f} USD/h"


def test_a_link_of_unstated_direction_is_named_and_does_not_count() -> None:
    """1.2 Tbit/s go to and from a WSE-3; whether each way or both together is not printed."""
    link = figures_of("cerebras/wse-3")["Link to other chips"]
    assert link.words == "not published"
    assert link.sentences[0] == "No one-way rate; 1.2 Tbit/s is printed without a direction."


def test_a_sweep_is_no_shape() -> None:
    (sentence,) = figures_of("nvidia/rtx-pro-6000-blackwell")["Measured"].sentences
    assert sentence.endswith("TFLOP/s, best of a sweep over large shapes.")


def test_each_narrower_width_is_named_once() -> None:
    """A B200 has fp8 and int8 at one rate; the card named both and left its fp4 out."""
    (narrower,) = (
        one for one in figures_of("nvidia/b200")["Peak"].sentences if one.startswith("Narrower")
    )
    assert re.fullmatch(r"Narrower formats: fp8 4\.5 PFLOP/s, (nv)?fp4 9 PFLOP/s\.", narrower)


def test_a_long_sum_is_shortened() -> None:
    """Nobody reads 42,522,624 TFLOP/s."""
    assert "fp8 42.52 EFLOP/s" in " ".join(figures_of("google/tpu-v7x-pod")["Peak"].sentences)


def test_more_than_the_printed_peak_is_explained() -> None:
    measured = figures_of("nvidia/rtx-4090")["Measured"]
    assert int(measured.words.removesuffix(" %")) > 100
    assert any("boost clock" in sentence for sentence in measured.sentences)


def test_what_is_missing_is_said_with_what_was_looked_at() -> None:
    found = figures_of("nvidia/rubin-ultra")
    assert found["Power"].words == "not published" and found["Power"].anchor
    (sentence,) = found["Power"].sentences
    assert re.fullmatch(r"Looked at: .+ \d{4}\.", sentence)
    assert 'class="fb-unit">not published<' in cards(rows_by_id()["nvidia/rubin-ultra"].entry)


def test_a_system_says_that_its_figures_are_sums() -> None:
    found = figures_of("nvidia/gb200-nvl72")
    assert "Of all its chips together." in found["Memory"].sentences
    assert "Of all its chips together." not in figures_of("nvidia/b200")["Memory"].sentences


def test_text_of_the_data_stays_text(world: World) -> None:
    evil = "[x](http://127.0.0.2) **b** `c` & $m$"
    claims = [claim(name) for name in NEEDED if name != "scaleup_bandwidth"]
    world.entry("one", *claims, claim("scaleup_bandwidth", name=f"'{evil}'"))
    text = cards(rows_by_id()["acme/one"].entry)
    assert "127.0.0.2" in text
    assert not any(mark in text for mark in ("[x](", "**b**", "`c`", " & ", "$m$"))


def test_distance_is_that_of_the_worst_figure() -> None:
    one, other = rows_by_id()["nvidia/h100-sxm"], rows_by_id()["nvidia/h200-sxm"]
    memory = [value_of(row.cells, "memory") for row in (other, one)]
    assert memory[0] and memory[1]
    assert distance(one, other) == pytest.approx(math.log(memory[0] / memory[1]))
    assert distance(other, one) == pytest.approx(distance(one, other)) and distance(one, one) == 0
    assert distance(one, rows_by_id()["nvidia/rubin-ultra"]) == math.inf


@pytest.mark.parametrize("name", ["nvidia/h100-sxm", "amd/mi300x", "google/tpu-v5p"])
def test_relatives_are_of_the_family_or_alike(name: str) -> None:
    row = rows_by_id()[name]
    family, alike = family_of(row), similar(row)
    assert 0 < len(alike) <= MOST and len(family) <= MOST
    assert all(other.entry.family == row.entry.family for other in family)
    assert not {other.entry.id for other in family} & {other.entry.id for other in alike}
    assert row.entry.id not in {other.entry.id for other in (*family, *alike)}
    distances = [distance(row, other) for other in alike]
    assert distances == sorted(distances) and distances[-1] < math.log(3)


CHIPS = [name for name, row in rows_by_id().items() if row.entry.kind == "package"]
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
RATES = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15}
_FACTOR = {"TOP/s": 1e12, "POP/s": 1e15, "GOP/s": 1e9}


@every("name", CHIPS)
def test_the_time_to_read_the_memory_is_size_over_bandwidth(name: str) -> None:
    cells = rows_by_id()[name].cells
    memory, bandwidth = value_of(cells, "memory"), value_of(cells, "memory_bandwidth")
    sentences = figures_of(name)["Memory bandwidth"].sentences
    told = re.search(r"whole memory in ([\d.,]+) (\S+)\.$", sentences[0]) if sentences else None
    assert bool(told) == (memory is not None and bandwidth is not None)
    if told and memory and bandwidth:
        seconds = float(told[1].replace(",", "")) * SECONDS[told[2]]
        assert seconds == pytest.approx(memory / bandwidth, rel=0.05)


@every("name", CHIPS)
def test_the_parameters_that_a_memory_holds_are_half_its_bytes(name: str) -> None:
    memory = value_of(rows_by_id()[name].cells, "memory")
    figure = figures_of(name)["Memory"]
    told = re.search(
        r"olds ([\d.,]+) ?(million|billion|trillion)? parameters", str(figure.sentences)
    )
    assert bool(told) == (memory is not None)
    if told and memory:
        scale = {"million": 1e6, "billion": 1e9, "trillion": 1e12, None: 1.0}[told[2]]
        assert float(told[1].replace(",", "")) * scale == pytest.approx(memory / 2, rel=0.05)
        assert figure.kind == "fb-byte" and figure.anchor


@every("name", CHIPS)
def test_what_it_needs_to_stay_busy_is_peak_over_bandwidth(name: str) -> None:
    row = rows_by_id()[name]
    peak, bandwidth = leading_peak(row.cells), value_of(row.cells, "memory_bandwidth")
    told = re.search(
        r"Needs ([\d.,]+) FLOP", " ".join(figures_of(name)["Memory bandwidth"].sentences)
    )
    assert bool(told) == (peak is not None and bandwidth is not None)
    if told and peak and bandwidth:
        needed = float(told[1].replace(",", ""))
        assert needed == pytest.approx(peak.picked.value / bandwidth, rel=0.05)


@every("name", CHIPS)
def test_work_per_watt_is_peak_over_power(name: str) -> None:
    row = rows_by_id()[name]
    peak, power = leading_peak(row.cells), value_of(row.cells, "power")
    sentences = figures_of(name)["Power"].sentences
    told = re.search(r"([\d.]+) (\wFLOP/s|\wOP/s) per watt", " ".join(sentences))
    assert bool(told) == (peak is not None and power is not None)
    if told and peak and power:
        rate = float(told[1]) * {**RATES, **_FACTOR}[told[2]]
        assert rate == pytest.approx(peak.picked.value / power, rel=0.06)


@every("name", CHIPS)
def test_a_link_is_one_way_and_says_where_it_was_halved(name: str) -> None:
    cell = rows_by_id()[name].cells.get("scaleup_bandwidth")
    figure = figures_of(name)["Link to other chips"]
    if not isinstance(cell, Picked):
        assert figure.words in ("none", "not published", "not recorded")
        opening = {"none": "According to ", "not published": "Looked at: "}.get(figure.words, "")
        undirected = "No one-way rate; "
        told = [one for one in figure.sentences if not one.startswith(undirected)]
        assert all(opening and one.startswith(opening) for one in told)
        return
    assert "ne way" in figure.sentences[0]
    is_halved = cell.claim.direction == "both"
    assert ("both ways added" in " ".join(figure.sentences)) == is_halved
    if is_halved:
        assert cell.value == pytest.approx((cell.claim.si_value or 0) / 2)


@every("name", CHIPS)
def test_a_measured_share_is_of_the_peak_that_leads(name: str) -> None:
    row = rows_by_id()[name]
    figure = figures_of(name).get("Measured")
    peak = leading_peak(row.cells)
    claims = [one for one in row.entry.claims if one.field == "measured_matmul"]
    if figure is None:
        assert peak is None or not [
            one for one in claims if one.dtype == peak.dtype and one.si_value
        ]
        return
    assert peak and figure.words.endswith(" %") and peak.dtype in figure.sentences[0]
    share = float(figure.words.removesuffix(" %")) / 100
    values = [one.si_value or 0 for one in claims if one.dtype == peak.dtype]
    assert any(share == pytest.approx(value / peak.picked.value, abs=0.006) for value in values)


def test_the_measured_share_owns_to_what_others_measured() -> None:
    """One product of matrices is no best one: the page lists 706.8 to 838.3 TFLOP/s in 16 bits."""
    *_, others = figures_of("nvidia/h100-sxm")["Measured"].sentences
    assert others == "All measurements: 78 to 85 %."


@every("name", entry_ids()[::3])
def test_every_figure_with_a_source_leads_to_a_place_that_is_shown(name: str) -> None:
    row = rows_by_id()[name]
    numbers = set(row.places.values())
    for figure in figures(row):
        if figure.label == "Rent":
            assert "## Price by the hour" in "".join(map(str, price_section(row.entry, "x.md")))
        elif figure.anchor:
            assert int(figure.anchor.rpartition("-")[2]) in numbers
            assert f'href="#{figure.anchor}"' in cards(row.entry)
