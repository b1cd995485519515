"""Terms of a page become links, once each, and nothing else of the page changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.library import glossary
from flopbook.formulas import formulas, get_formula
from scripts.website.pages.calculators import calculator_markdown, calculator_page
from scripts.website.pages.terms import linked, term_link
from tests.support.rendering import READS_THE_HANDBOOK, pages

pytestmark = READS_THE_HANDBOOK
PAGE = "handbook/roofline.md"
LINK = re.compile(r'<a class="fb-term" title="Glossary" href="([^"#]+)#([a-z0-9-]+)">([^<]*)</a>')
ANY = re.compile(r'<a class="fb-term"[^>]*>(.*?)</a>', re.DOTALL)  # with code inside, too
IDS = {term.id for term in glossary()}
NAMES = sorted({name for term in glossary() for name in term.mark})


def without(text: str) -> str:
    """A page without the links that were put in."""
    return LINK.sub(lambda match: match[3], text)


def found(text: str) -> list[tuple[str, str]]:
    """Term and words of every link."""
    return [(match[2], match[3]) for match in LINK.finditer(linked(text, PAGE))]


def test_a_term_is_linked_where_it_first_stands() -> None:
    text = "The ridge point, and the ridge point again. Ridge points differ."
    assert found(text) == [("ridge-point", "ridge point")]
    assert linked(text, PAGE).startswith(
        'The <a class="fb-term" title="Glossary" href="../../glossary/#ridge-point">'
    )


@pytest.mark.parametrize(
    ("text", "term", "words"),
    [
        ("Ridge points differ.", "ridge-point", "Ridge points"),
        ("the ridge\npoint", "ridge-point", "ridge\npoint"),
        ("- a ridge\n  point", "ridge-point", "ridge\n  point"),
        ("*KV cache*", "kv-cache", "KV cache"),
        ("**Roofline.**", "roofline", "Roofline"),
        ("| a | all-reduce |", "all-reduce", "all-reduce"),
        ("in vocabularies", "vocabulary", "vocabularies"),
        ("two micro-batches", "micro-batch", "micro-batches"),
        ("(FSDP)", "fsdp", "FSDP"),
        ("FLOP/s", "flop-per-second", "FLOP/s"),
        ("    a sentence in an answer about a torus", "torus", "torus"),
        ("its tensor parallelism", "tensor-parallelism", "tensor parallelism"),
    ],
)
def test_spellings(text: str, term: str, words: str) -> None:
    """Capitals at the beginning, plurals, line ends between words; the longest name wins."""
    assert found(text) == [(term, words)]


@pytest.mark.parametrize(
    "text",
    [
        "## The ridge point",
        "`ridge point`",
        "``a ridge point``",
        "```\nridge point\n```",
        "~~~py\nridge point\n~~~",
        "$ridge point$",
        "$$\nridge point\n$$",
        "[ridge point](other.md)",
        "[a ridge\npoint](other.md)",
        "![ridge point](picture.svg)",
        '<a href="x">ridge point</a>',
        '<img alt="ridge point">',
        "<svg><text>torus</text></svg>",
        '<button type="button">ridge point</button>',
        "<pre>ridge point</pre>",
        "<!-- ridge point -->",
        '??? success "ridge point"',
        "!!! note ridge point",
        "| ridge point | b |\n| --- | --- |",
        '<strong class="fb-exercise" id="x">torus</strong>',
        '<span class="fb-badge">torus</span>',
        '<span role="tooltip" class="fb-source" id="a">torus</span>',
        "<summary>torus</summary>",
        '<div class="fb-calculator" data-spec="torus"><p>torus</p></div>',
        "<table><tr><td>torus</td></tr></table>",
        "---\ntitle: ridge point\n---\n",
        "https://example.org/torus",
        "{#torus .torus}",
        "[torus]: https://example.org",
        "ridge pointless",
        "bridge points",
        "micro-torus",
        "torus-like",
        "/torus",
        "torus.py",
        "FLOP/byte",
        "&torus;",
    ],
)
def test_what_is_not_text_stays(text: str) -> None:
    """Headings, code, formulas, links, tags, forms, table heads, boxes, parts of words."""
    assert linked(text, PAGE) == text


def test_after_what_is_skipped_the_text_goes_on() -> None:
    """A heading or a formula does not use a term up, and ends where it ends."""
    text = "## Torus\n\nA $torus$ is a torus.\n\n| torus | x |\n| --- | --- |\n| ring | y |\n"
    assert found(text) == [("torus", "torus"), ("ring", "ring")]


PIECES = st.sampled_from(
    [
        *NAMES,
        "and",
        "the",
        "$x_1$",
        "$$y$$",
        "`code`",
        "```\nring\n```",
        "## Ring",
        "<b>bold</b>",
        "*torus*",
        "[x](y.md)",
        "\n",
        "\n\n",
        "| a | b |",
        "| --- | --- |",
        "<svg>",
        "</svg>",
        "$",
        "`",
        "<",
        ">",
        "&amp;",
        "{#a}",
        "(",
        ")",
    ]
)


@given(st.lists(PIECES, max_size=40), st.sampled_from([" ", "", "\n"]))
def test_without_its_links_a_page_is_as_it_was(pieces: list[str], between: str) -> None:
    """Whatever stands on it, also where it is broken.

    And each term is linked at most once, to an entry that exists.
    """
    text = between.join(pieces)
    made = linked(text, PAGE)
    assert without(made) == text
    ids = [match[2] for match in LINK.finditer(made)]
    assert len(ids) == len(set(ids)) and set(ids) <= IDS


@given(st.text(max_size=200))
def test_any_text_survives(text: str) -> None:
    assert without(linked(text, PAGE)) == text


@given(st.sampled_from(NAMES))
def test_every_marked_name_finds_its_term(name: str) -> None:
    """In a sentence of its own a name leads to a term that has it."""
    ((term, words),) = found(f"This is {name} here.")
    assert words == name
    assert name in next(one.mark for one in glossary() if one.id == term)


def test_linking_twice_is_linking_once() -> None:
    """What is a link already is left alone, and its term counts as free.

    The second run may use it once more.
    """
    text = "A torus has rings."
    once = linked(text, PAGE)
    assert linked(once, PAGE) == once


def _real_pages() -> Iterator[tuple[str, str]]:
    """The pages whose terms are linked: all chapters, all calculators."""
    yield from ((path, text) for path, text in pages().items() if path.startswith("handbook/"))
    for name in formulas():
        yield calculator_page(name), calculator_markdown(name, False)


def test_real_pages_keep_every_word() -> None:
    """The text is unchanged, chapters have many terms, and links are relative."""
    for path, text in _real_pages():
        made = linked(text, path)
        assert ANY.sub(r"\1", made) == ANY.sub(r"\1", text), path
        ids = [match[2] for match in LINK.finditer(made)]
        assert len(ids) == len(set(ids)), path
        is_chapter = path.startswith("handbook/") and not path.endswith("index.md")
        assert len(ids) >= 15 or not is_chapter, path
        assert {match[1] for match in LINK.finditer(made)} <= {"../../glossary/", "../glossary/"}, (
            path
        )


def test_symbols_of_a_calculator_lead_to_their_terms() -> None:
    """An input is linked under its name; one that nobody explains is only written."""
    spec = get_formula("min-batch").inputs["d_model"]
    made = term_link("d_model", spec, "calculators/min-batch.md")
    assert made.endswith('href="../../glossary/#model-width"><code>d&#95;model</code></a>')
    assert term_link("nobody", spec, "calculators/min-batch.md") == "<code>nobody</code>"
