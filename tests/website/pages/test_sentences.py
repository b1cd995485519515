"""Every sentence template that the site writes from is listed, and reads as English."""

from __future__ import annotations

import re

from scripts.website.pages.sentences import WORDS, sentences, sentences_page

# Words of a first edition that read as if translated, and slips that no reader should meet.
GONE = re.compile(
    r"what you type here|as many as heads if open|something unsaid|[Ww]ays of tensor"
    r"|\bsomebody\b|\bwhoever\b|lives a moment|\bmm2\b|(?<![\w.{])\d(?:\.\d+)?e[+-]?\d"
    r"|\b([A-Za-z]{2,}) \1\b"
)


def test_templates_are_found_with_their_places() -> None:
    found = sentences()
    assert len(found) > 1000
    assert any("work that waits for arithmetic" in one.text for one in found)
    page = sentences_page()
    assert WORDS in page
    for one in found:
        assert (
            one.file.rpartition("/")[2].removesuffix(".py").partition("_")[0] in page
            and one.line > 0
        )


def test_no_template_has_words_that_are_gone() -> None:
    assert [one for one in sentences() if GONE.search(one.text)] == []


def test_documentation_and_programs_are_no_sentences() -> None:
    texts = {one.text for one in sentences()}
    assert not any(text.startswith("Every sentence that the site writes") for text in texts)
    assert not any("SELECT" in text or "\\frac" in text for text in texts)
