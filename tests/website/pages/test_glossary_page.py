"""The page of the glossary: symbols first, every term with an anchor, links that lead somewhere.

The texts of tips.
"""

from __future__ import annotations

import json
import re

import pytest

from flopbook.data.library import glossary
from flopbook.drawing.markup import inline
from flopbook.evaluation.terms import uses
from flopbook.export.records import terms
from flopbook.formulas import CATALOGUE
from scripts.website.pages.glossary import glossary_page, tips

PAGE = glossary_page()
TERMS = {term.id: term for term in glossary()}


def entry(name: str) -> str:
    return next(
        part
        for part in PAGE.split('<div class="fb-entry">')
        if part.startswith(f'<h3 id="{name}">')
    )


def test_no_caption_repeats_the_heading_above_it() -> None:
    heads = {head.lower() for head in re.findall(r"^## (\S+)", PAGE, re.MULTILINE)}
    captions = re.findall(r"<caption>(.*?)</caption>", PAGE)
    assert captions and heads.isdisjoint(caption.lower() for caption in captions)


def test_letters_come_in_order_and_symbols_last() -> None:
    """Each letter has a heading with an anchor, and a link above them all."""
    heads = re.findall(r"^## (\S+)", PAGE, re.MULTILINE)
    assert heads[-1] == "Symbols" and heads[:-1] == sorted(heads[:-1])
    jumps = re.findall(r'<a href="#([\w-]+)">', PAGE.split("</nav>")[0])
    assert jumps == [head.lower() for head in heads]
    assert {f"{{#{jump}}}" in PAGE for jump in jumps[:-1]} == {True}


def test_every_term_is_there_once() -> None:
    ids = re.findall(r'<h3 id="([\w-]+)">', PAGE)
    assert sorted(ids) == sorted(TERMS) and len(ids) == len(set(ids))
    titles = [TERMS[name].term.lower() for name in ids]
    letters = [title[0] if title[0].isalpha() else "0" for title in titles]
    assert letters == sorted(letters)


@pytest.mark.parametrize("name", ["ridge-point", "model-width", "kv-cache", "layer", "fsdp"])
def test_a_term_says_what_it_is_and_who_uses_it(name: str) -> None:
    """Meaning, symbols, unit, other names, chapter, calculators and what is near it."""
    term, text = TERMS[name], entry(name)
    assert inline(term.meaning) in text
    assert all(f"${symbol}$" in text for symbol in term.symbol)
    assert all(inline(other) in text for other in term.also)
    page, _, anchor = term.chapter.partition("#")
    assert f'href="../{page.removesuffix(".md")}/#{anchor}">introduced here' in text
    assert all(f'href="../calculators/{one}/"' in text for one in uses()[name])
    assert all(f'href="#{other}"' in text for other in term.see_also)


def test_links_within_the_page_lead_somewhere() -> None:
    anchors = (
        set(re.findall(r'id="([\w-]+)"', PAGE))
        | set(re.findall(r"\{#([\w-]+)\}", PAGE))
        | {"symbols"}
    )
    assert set(re.findall(r'href="#([\w-]+)"', PAGE)) <= anchors


def test_the_table_says_when_a_symbol_means_several_things() -> None:
    """N is parameters and chips; D has a note on other papers; a symbol stands in one row."""
    rows = re.findall(r'<tr><th scope="row">\$(.*?)\$</th>(.*?)</tr>', PAGE)
    assert (
        len(rows)
        == len({symbol for symbol, _ in rows})
        == len({s for term in TERMS.values() for s in term.symbol})
    )
    found = dict(rows)
    assert 'href="#parameter"' in found["N"] and 'href="#chip"' in found["N"]
    assert inline(TERMS["model-width"].elsewhere) in found["D"]
    letters = [symbol[0].lower() for symbol, _ in rows if symbol[0] != "\\"]
    assert letters == sorted(letters)


def test_a_term_without_symbol_keeps_its_note() -> None:
    assert inline(TERMS["cache"].elsewhere) in entry("cache")
    assert inline(TERMS["model-width"].elsewhere) not in entry("model-width")


def test_tips_are_plain_text_for_every_term() -> None:
    """No markup, no LaTeX; a quantity with a symbol says its unit."""
    found = json.loads(tips())
    assert set(found) == set(TERMS)
    assert found["ridge-point"][0] == "ridge point" and found["ridge-point"][1].endswith(
        "Unit: FLOP/byte."
    )
    assert "Unit" not in found["token"][1] and "Unit" not in found["layer"][1]
    assert not any(re.search(r"[<>$\\]", text) for _, text in found.values())


def test_the_export_has_terms_with_their_calculators() -> None:
    """Names as in the file, without what only the site needs."""
    records = {record["id"]: record for record in terms()}
    assert set(records) == set(TERMS)
    ridge = records["ridge-point"]
    assert ridge["symbol"] == ("R",) and "min-batch" in ridge["calculators"]
    assert not {"line", "mark"} & ridge.keys()
    assert all(set(record["calculators"]) <= set(CATALOGUE) for record in records.values())
