"""Numbers of running text are set as print sets them; code and formulas are not touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.build.typesetting import typeset, typeset_page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3.142e23 FLOP", "3.142 × 10²³ FLOP"),
        ("8e+10", "8 × 10¹⁰"),
        ("1.7e&#43;10", "1.7 × 10¹⁰"),
        ("1e24 FLOP.", "10²⁴ FLOP."),
        ("a rate of 3e-4, say", "a rate of 3 × 10⁻⁴, say"),
        ("814 mm2", "814 mm²"),
        ("m2", "m²"),
        ("m3/J", "m³/J"),
        ("7,800 token/s", "7,800 tokens/s"),
        ("1.2 million token/s", "1.2 million tokens/s"),
        ("1 token/s", "1 token/s"),
        ("21 token/s", "21 tokens/s"),
        ("1.1 token/s", "1.1 tokens/s"),
        ("2 byte/param", "2 bytes/param"),
        ("327.7 kB/token", "327.7 kB/token"),
        ("IPU-M2000 and trn2", "IPU-M2000 and trn2"),
        ("version 1.2e3.4", "version 1.2e3.4"),
        ("deadbeef1e24", "deadbeef1e24"),
    ],
)
def test_a_value_reads_as_in_print(text: str, shown: str) -> None:
    assert typeset(text) == shown and typeset(shown) == shown


@pytest.mark.parametrize(
    "kept",
    [
        "---\ntitle: 1e24\n---\n",
        "`--flop 1e24`",
        "```\n1e24\n```",
        '<a title="1e24 FLOP" href="?flop=1e24">',
        "[x](../calculators/scaling-law.md?flop=1e24)",
        "<code>1e24 mm2</code>",
        "<math><mn>1e24</mn></math>",
    ],
)
def test_what_is_no_running_text_stays(kept: str) -> None:
    assert typeset_page(kept) == kept


@given(st.text("0123456789e+-. m2/stokenb`<>[]()\n", max_size=60))
def test_a_page_is_the_same_when_it_is_set_twice(text: str) -> None:
    once = typeset_page(text)
    assert typeset_page(once) == once
