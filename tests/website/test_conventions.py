"""The page on conventions: it names only switches that exist, and its examples are computed."""

from __future__ import annotations

import re
from pathlib import Path

from flopbook.cli.calculators import command
from flopbook.formulas import formulas
from scripts.website.pages.prose import render

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
RENDERED = render(PAGE, "conventions.md", "docs/conventions.md")
WORDS = (
    "GB and GiB",
    "One way and both ways",
    "Dense and sparse",
    "Six ND",
    "MFU and HFU",
    "with or without the first",
)


def test_every_word_has_its_section() -> None:
    for word in WORDS:
        assert re.search(rf"^## .*{word}", PAGE, re.MULTILINE), word


def test_every_switch_that_it_names_exists() -> None:
    options = {
        option.flag for formula in formulas().values() for option in command(formula).options
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
    assert (
        named - options == set()
        and {"--binary", "--counts", "--first", "--answer-tokens", "--sparsity"} <= named
    )


def test_every_output_that_it_names_exists() -> None:
    outputs = {name for formula in formulas().values() for name in formula.outputs}
    for name in re.findall(r"`((?:flop|hfu|hardware|answer|seconds)_\w+|flop)`", PAGE):
        assert name in outputs, name


def test_anchors_of_the_table_are_headings() -> None:
    heads = {
        re.sub(r"[^a-z0-9]+", "-", head.lower()).strip("-")
        for head in re.findall(r"^## (.+)$", PAGE, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= heads


def test_the_examples_say_what_they_should() -> None:
    """Half the time with both ways for one, twice the ridge with a sparse peak, longer with HFU."""
    for words in (
        "3.889 ms",
        "1.944 ms",
        "295.3 tokens",
        "590.7 tokens",
        "25.36 days",
        "33.81 days",
        "74.51",
    ):
        assert words in RENDERED, words
