"""Text of contributed files: no markup, nothing that is not seen, and names of one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.contributed_text import hidden_character
from tests.data.test_schema import one, problems_of
from tests.support.samples import SOURCE, claim, entry_text, place


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a <script>alert(1)</script>", "found '<script>alert(1)</script>' , expected plain text"),
        ("x</div>", "'</div>'"),
        ("<img src=x onerror=alert(1)>", "'<img src=x"),
        ("<!-- hidden -->", "'<!--"),
        ("{{ config }}", "'{{ config }}'"),
        ("{% raw %}", "'{% raw %}'"),
        ("{# x #}", "'{# x #}'"),
        ("&#106;avascript", "'&#106;"),
        ("[x](javascript:alert(1))", "'javascript:"),
        ("JaVaScRiPt:x", "'JaVaScRiPt:"),
        ("vbscript:x", "'vbscript:x'"),
        ("data:text/html;base64,x", "'data:text"),
    ],
)
def test_markup_in_any_text_is_refused(text: str, says: str) -> None:
    document = entry_text(claim(note=text), summary=json.dumps(text))
    first, second = problems_of(document)
    assert first.rule == second.rule == "markup" and says.replace(" ,", ",") in str(first)
    assert (first.line, first.column) == place(document, json.dumps(text))
    assert second.line == place(document, "{field")[0]


@pytest.mark.parametrize(
    "text", ["a < b", "x <= 3", "2 {a}", "R&D", "5 <-> 6", "AT&T; x", "data: text", "java script:"]
)
def test_ordinary_text_is_no_markup(text: str) -> None:
    assert problems_of(entry_text(claim(note=text))) == []


HIDDEN = (
    *(0, 7, 0x1B, 0x7F, 0x85, 0x9B, 0x200B, 0x202E, 0x2028, 0x2066),
    # a mark of Arabic that turns the direction, a soft hyphen, joiners, a tag for programs alone
    *(0x61C, 0xAD, 0x34F, 0x200C, 0x200D, 0xE0041, 0x180E, 0xFE0F, 0xE000, 0xFDD0, 0x1D173),
)
BLANK = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"


@pytest.mark.parametrize("code", [*HIDDEN, *map(ord, BLANK)])
def test_hidden_characters_are_refused(code: int) -> None:
    """Escapes in quoted YAML could drive a terminal or turn the reading direction around."""
    document = entry_text(
        f'{{field: process, note: "a\\U{code:08X}b", value: 4 nm, per: die, basis: printed, '
        f"source: {SOURCE}, as_of: 2026-11-21, locator: x}}"
    )
    problem = one(document)
    assert problem.rule == "control-character" and f"U+{code:04X}" in str(problem)
    assert (problem.line, problem.column) == place(document, '"a\\U')


LETTERS = st.characters(categories=["L", "N", "P", "S"], exclude_characters=BLANK)


@given(st.text(LETTERS, max_size=20))
def test_letters_of_all_languages_are_not_hidden(text: str) -> None:
    """But for the few that are drawn as nothing."""
    assert hidden_character(text + " \n\t") == ""


@pytest.mark.parametrize(("accents", "is_fine"), [(3, True), (4, False), (50, False)])
def test_a_letter_has_at_most_three_accents(accents: int, is_fine: bool) -> None:
    """A heap of them is drawn over the lines above and below."""
    assert (hidden_character("a" + "\u0301" * accents) == "") == is_fine


@pytest.mark.parametrize("name", ["", "   ", "one\ntwo", "one\n\n# two", "one\u0085two"])
def test_a_name_is_one_line(name: str) -> None:
    document = entry_text(claim(), name=json.dumps(name))
    assert problems_of(document)[0].rule in ("text", "minLength", "control-character")


@pytest.mark.parametrize(("words", "fine"), [(25, True), (26, False)])
def test_a_quote_has_at_most_25_words(words: int, fine: bool) -> None:
    problems = problems_of(entry_text(claim(quote=" ".join(["word"] * words))))
    assert [p.rule for p in problems] == ([] if fine else ["quote-length"])
    assert fine or "found 26 words, expected at most 25; shorten the quote or use a locator" in str(
        problems[0]
    )
