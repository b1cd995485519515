"""The card of a product: which figures lead, what the sentences say, and what is never mixed."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.data.library import entry_ids
from flopbook.hardware.picked import Picked
from scripts.website.pages.keyfigures import CardFigure, cards, figures, leading_peak, ridge_words
from scripts.website.pages.neighbours import MOST, distance, family_of, similar
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import peak_id, value_of
from tests.support.samples import NEEDED, World, claim


def figures_of(name: str) -> dict[str, CardFigure]:
    return {figure.label: figure for figure in figures(rows_by_id()[name])}


def test_the_card_of_an_h100() -> None:
    """989.4 of dense bf16, 80 GB, 3.35 TB/s, 450 GB/s one way, 700 W: NVIDIA's white paper."""
    found = figures_of("nvidia/h100-sxm")
    words = {label: figure.words for label, figure in found.items()}
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


@pytest.mark.parametrize("name", entry_ids()[::5])
def test_every_product_has_a_card_in_words(name: str) -> None:
    for figure in figures(rows_by_id()[name]):
        assert figure.label and figure.words
        for sentence in figure.sentences:
            assert (
                sentence[0].isupper() or sentence[0].isdigit() or sentence[:2] in ("bf", "fp", "in")
            )
            assert sentence.endswith(".") and "  " not in sentence and "{" not in sentence
            assert re.search(r"\d{5,}\.\d", sentence) is None


@pytest.mark.parametrize("name", entry_ids())
def test_a_sparse_rate_never_leads(name: str) -> None:
    peak = leading_peak(rows_by_id()[name].cells)
    assert peak is None or peak.sparsity in ("dense", "unstated")
    dense = rows_by_id()[name].cells.get(peak_id("bf16", "tensor", "dense"))
    if isinstance(dense, Picked):
        assert peak and (peak.dtype, peak.picked.value) == ("bf16", dense.value)


def test_what_is_missing_is_said_and_has_no_source() -> None:
    found = figures_of("nvidia/rubin-ultra")
    assert found["Power"].words == "not published" and not found["Power"].anchor
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


def test_the_heading_of_a_roofline_is_its_finding() -> None:
    h100 = rows_by_id()["nvidia/h100-sxm"].entry
    assert ridge_words(h100) == "It needs 295 FLOP per byte to stay busy"
    assert ridge_words(rows_by_id()["nvidia/rubin-cpx"].entry) == "Roofline"


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
