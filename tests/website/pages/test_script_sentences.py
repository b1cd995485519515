"""What the scripts of the site say is listed for an editor, and reads as English."""

from __future__ import annotations

import re

from scripts.website.pages.script_sentences import script_sentences, script_sentences_page
from scripts.website.pages.sentences import sentences_page
from tests.website.pages.test_sentences import GONE


def test_the_words_of_planners_explorer_and_forms_are_found() -> None:
    texts = {one.text for one in script_sentences()}
    assert len(script_sentences()) > 120
    assert {
        "Nothing passes the filters; clear some of them.",
        "{}Does not fit on {}.",
        "This link {}, which this {} does not have.",
        "Type a number of chips.",
        "The chip waits for {} of a step of {}: a layer takes {} to compute and {} to gather.",
    } <= texts


def test_selectors_programs_and_comments_are_no_sentences() -> None:
    for one in script_sentences():
        assert not re.search(r"fb-|=>|</|\bconst\b|svg|translate", one.text), one
        assert not one.text.startswith(("//", "*", ".", "#")), one


def test_no_sentence_has_words_that_are_gone() -> None:
    assert [one for one in script_sentences() if GONE.search(one.text)] == []


def test_a_place_is_that_of_the_sentence() -> None:
    from scripts.website.pages.script_sentences import _ROOT

    (one,) = (one for one in script_sentences() if one.text == "Type a number of chips.")
    line = (_ROOT / one.file).read_text(encoding="utf-8").splitlines()[one.line - 1]
    assert one.text in line


def test_both_pages_lead_to_each_other() -> None:
    assert "(script-sentences.md)" in sentences_page()
    page = script_sentences_page()
    assert "(sentences.md)" in page and "## docs/assets/flopbook/plan\n" in page
    assert "**train.js**" in page
