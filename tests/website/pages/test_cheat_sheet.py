"""The cheat sheet types nothing.

Equations, chips, formats and units come from the code and the data.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from flopbook.drawing.markup import escape
from flopbook.evaluation.calculator import calculate
from flopbook.faces.special_cases import special
from flopbook.formulas import CATALOGUE, get_formula
from flopbook.hardware.chip import chip
from flopbook.quantities.number_formats import FORMATS
from flopbook.quantities.units import format_quantity
from scripts.website.pages import cheatsheet
from scripts.website.pages.cheatsheet import CHIPS, sheet_page
from scripts.website.pages.equations import MEANS, SECTIONS, Shown


@cache
def sheet() -> str:
    """The sheet, made once."""
    return sheet_page()


def test_what_the_sheet_is_for_is_on_it() -> None:
    """A section for each subject.

    Every equation with its words and a link to where it is explained.
    """
    heads = re.findall(r"<h2>(.*?)</h2>", sheet())
    assert heads == [
        "Rooflines",
        "Models and training",
        "Collectives",
        "Limits of parallelism",
        "Pipelines",
        "Inference",
        "Reliability and power",
        "Memory of training",
        "Number formats",
        "Units",
        "Chips",
    ]
    for words in (
        "ridge point",
        "minimum batch",
        "rule of six",
        "bubble",
        "KV cache of a token",
        "best checkpoint",
    ):
        assert words in sheet(), words
    assert sheet().count("<section") == sheet().count("</section>") == len(heads)


@pytest.mark.parametrize(
    "shown", [one for section in SECTIONS.values() for one in section], ids=str
)
def test_every_equation_is_that_of_its_calculator(shown: Shown) -> None:
    assert shown.calculator in CATALOGUE
    for equation in special(
        get_formula(shown.calculator), shown.names, shown.given, shown.inline
    ).values():
        assert f"<p>${equation}$ " in sheet()
    assert f'href="../calculators/{shown.calculator}/"' in sheet()


def test_given_words_are_choices_and_names_exist() -> None:
    """A slip in the list would silently print the general case."""
    for shown in (one for section in SECTIONS.values() for one in section):
        formula = get_formula(shown.calculator)
        for name, value in shown.given.items():
            if name in formula.inputs and formula.inputs[name].choices:
                assert value in formula.inputs[name].choices, (shown.calculator, name)


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_shows_its_values(name: str) -> None:
    """Peak, memory, bandwidth, ridge point and power are those of the data."""
    item = chip(name)
    row = next(line for line in sheet().split("<tr>") if f'href="../accelerators/{name}/"' in line)
    ridge = calculate("ridge-point", chip=name)["flop_per_byte"]
    for text in (
        escape(format_quantity(item.peak("bf16"), "FLOP/s")),
        escape(item.pick_memory().words),
        escape(format_quantity(item.memory_bandwidth(), "byte/s")),
        f">{ridge:.0f}</td>",
        escape(format_quantity(item.power(), "W")),
    ):
        assert text in row, (name, text)


def test_about_ten_chips_of_several_makers() -> None:
    assert 8 <= len(CHIPS) <= 12 and len({name.partition("/")[0] for name in CHIPS}) >= 4
    assert len(set(CHIPS)) == len(CHIPS)


def test_stages_of_zero_divide_by_the_chips() -> None:
    """2 + 2 + 12 bytes for each parameter, and on eight chips what each stage leaves."""
    rows = re.findall(r'<tr><th scope="row">(copies|ZeRO-\d)</th>(.*?)</tr>', sheet())
    found = {
        name: [float(one) for one in re.findall(r">([\d.]+)</td>", cells)] for name, cells in rows
    }
    assert found["copies"] == [2, 2, 12, 16]
    assert found["ZeRO-1"] == [2, 2, 12 / 8, 4 + 12 / 8]
    assert found["ZeRO-2"] == [2, 2 / 8, 12 / 8, 2 + 14 / 8]
    assert found["ZeRO-3"] == [2 / 8, 2 / 8, 12 / 8, 16 / 8]


def test_formats_and_units_are_computed() -> None:
    """Every format that the package knows; a GiB in GB; the six prefixes."""
    for one in FORMATS:
        assert f'<th scope="row">{one.name}</th>' in sheet() and f">{one.bytes:g}</td>" in sheet()
    assert f"GiB = {2**30 / 1e9:.4g} GB" in sheet() and "PF-day = 86.4 EFLOP" in sheet()
    for name, power in zip("kMGTPE", range(3, 21, 3), strict=True):
        assert f"{name} $10^{{{power}}}$" in sheet()


def test_letters_are_explained_by_the_glossary() -> None:
    """Each section of equations ends with what its letters mean."""
    assert sheet().count('<p class="fb-letters">') == len(SECTIONS) + 1
    roofline = re.findall(r'<p class="fb-letters">(.*?)</p>', sheet())[0]
    assert r'$\pi$ <a href="../glossary/#peak">peak</a>' in roofline
    assert r'$\beta$ <a href="../glossary/#memory-bandwidth">memory bandwidth</a>' in roofline


def test_a_letter_says_what_it_belongs_to() -> None:
    """In one list no two letters apart from each other share a meaning, and counts are plural."""
    for listed in re.findall(r'<p class="fb-letters">(.*?)</p>', sheet()):
        meanings = [re.sub("<.*?>", "", one).split("$ ")[-1] for one in listed.split("; ")]
        assert len(set(meanings)) == len(meanings), listed
        assert not {"layer", "chip", "parameter", "draft", "stage", "power"} & set(meanings)
    assert r'$k$, $m$, $n$ <a href="../glossary/#' in sheet()


def test_every_special_meaning_is_used() -> None:
    """A name that no equation of the sheet has would explain nothing."""
    shown = [one.calculator for section in SECTIONS.values() for one in section] + ["cluster-power"]
    for name in MEANS:
        calculator, _, last = name.rpartition(".")
        assert any(
            last in get_formula(one).inputs for one in ([calculator] if calculator else shown)
        ), name


def test_sequences_that_fit_agree_with_the_calculator() -> None:
    """Memory less weights over the cache of a whole sequence.

    640 GB, 70.55 billion parameters, sequences of 8,192.
    """
    equation = next(line for line in sheet().split("<p>") if "B_\\text{fits}" in line)
    assert r"\frac{M \, s - b_w \, N}{2 \, \min" in equation
    eight, cache = 8 * chip("h100-sxm").memory(), 2 * 8192 * 80 * 8 * 128 * 2
    told = calculate("serving", model="llama-3-70b", chip="h100-sxm", tp=8, seq=8192)["batch_fits"]
    assert told == (eight - 70_553_706_496 * 2) // cache


def test_the_page_brings_its_own_style_and_takes_the_room_of_the_contents() -> None:
    """Other pages do not carry its style; contents are hidden, and the menu stays beside it."""
    assert '<link rel="stylesheet" href="../assets/flopbook/sheet.css">' in sheet()
    assert sheet().split("---")[1].endswith("hide:\n  - toc\n")
    assert cheatsheet.STYLE.endswith("sheet.css")
