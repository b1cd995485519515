"""Markup of pages: text is escaped wherever it is put in, once; pages have no other way in."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown import markdown

from scripts.website.markup import (
    Html,
    Markdown,
    Sortable,
    attribute,
    code_block,
    code_span,
    front_matter,
    harmless,
    inline,
    link,
    maths,
    page_text,
    plain,
    relative,
    shorten,
    table,
    tag,
    tooltip,
    trusted,
)

PAGES = Path(__file__).resolve().parents[2] / "scripts" / "website" / "pages"
# A tag, and not the name of a group in a regular expression.
TAG = re.compile(r"(?<!\?P)<[a-z]+[ >]|</[a-z]")
HOSTILE = "<script>alert('*x*')</script> & \"_y_\" [z](w)"
PRINTABLE = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")))


def text_of(markup: str) -> str:
    """What a reader sees of markup without elements."""
    assert "<" not in markup and ">" not in markup
    return html.unescape(markup)


@given(PRINTABLE)
def test_every_way_in_escapes_a_text_once(text: str) -> None:
    """format, join and + give the text back to a reader, and leave nothing that is markup."""
    for markup in (
        Html("{}").format(text),
        Html("{text}").format(text=text),
        Html(", ").join([text]),
        Html() + text,
        Html("{}").format(Html("{}").format(text)),
    ):
        assert text_of(markup) == text


@given(PRINTABLE)
def test_markdown_finds_nothing_to_act_on_in_a_text(text: str) -> None:
    words = " ".join(text.split())
    paragraph = markdown(Markdown("a {} b").format(text))
    assert html.unescape(paragraph) == f"<p>a {words} b</p>"


def test_markdown_brings_a_text_onto_one_line() -> None:
    assert Markdown("# {}\n").format("a\n- b") == "# a - b\n" == f"# {inline('a - b')}\n"


@pytest.mark.parametrize(
    "markup",
    [
        tag("td", HOSTILE),
        tooltip(HOSTILE, HOSTILE, "anchor"),
        link(HOSTILE, "a/b/"),
        table(("a", "b"), [(HOSTILE, HOSTILE)], caption=HOSTILE),
    ],
)
def test_elements_escape_what_they_hold(markup: Html) -> None:
    assert "<script" not in markup and "*x*" not in markup and "[z]" not in markup


def test_numbers_take_their_format_and_what_only_looks_like_one_is_escaped() -> None:
    class Hostile(float):
        def __str__(self) -> str:
            return HOSTILE

    assert Html("{:.5g}, {:,}").format(3.4e38, 1200) == "3.4e+38, 1,200"
    assert "<script" not in Html("{}").format(Hostile(1.0))


def test_links_lead_to_the_web_or_to_a_page() -> None:
    assert link("a", "javascript:alert(1)") == "a"
    assert link("a", 'https://b/?c="&d') == '<a href="https://b/?c=&quot;&amp;d">a</a>'
    assert attribute(attribute("a&b")) == "a&amp;b"
    assert relative("a/b.md", "c.md#d") == "../c.md#d" and relative("a/b.md", "#d") == "#d"


def test_code_cannot_be_closed_from_within() -> None:
    assert code_span("a_b") == "`a_b`" and code_span("a`b") == "``a`b``"
    assert code_block("a\n```\nb", "sh") == "````sh\na\n```\nb\n````"


def test_a_cell_is_sorted_by_its_key() -> None:
    rows = [("a", Sortable(tag("b", "1 k"), 1e3))]
    markup = table(("x", "#y"), rows, caption="z", kind="fb-sort")
    assert '<td class="fb-n" data-sort="1000.0"><b>1 k</b></td>' in markup
    assert '<th scope="col" class="fb-n">y</th>' in markup and '<th scope="row">a</th>' in markup


def test_plain_text_has_neither_tags_nor_dollars() -> None:
    assert plain(Html("<b>{}</b> is {}").format("a & b", maths("x_1"))) == "a & b is x_1"


def test_a_page_ends_as_text() -> None:
    """After this no `replace` of a caller escapes what it puts in."""
    assert type(page_text([trusted("<b>")])) is str


def templates() -> Iterator[tuple[str, ast.Call]]:
    """Every `Html(...)` and `Markdown(...)` of the pages, with its place."""
    for path in sorted(PAGES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if is_call and node.func.id in ("Html", "Markdown"):
                yield f"{path.name}:{node.lineno}", node


def is_literal(node: ast.expr) -> bool:
    """A string as it is written, or strings of our own put together: nothing of it is data."""
    if isinstance(node, ast.BinOp):
        return is_literal(node.left) and (isinstance(node.op, ast.Mult) or is_literal(node.right))
    return isinstance(node, ast.Constant)


def test_templates_are_literals() -> None:
    """An f-string in a template would put text into markup unescaped."""
    places = [place for place, call in templates() if not all(map(is_literal, call.args))]
    assert places == []


def test_pages_have_no_other_way_from_text_to_markup() -> None:
    """No tag is written in an f-string, and nothing escapes by hand."""
    for path in sorted(PAGES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert "escape" not in {alias.name for alias in node.names}, path.name
            if isinstance(node, ast.JoinedStr):
                pieces = [piece for piece in node.values if isinstance(piece, ast.Constant)]
                assert not any(TAG.search(str(piece.value)) for piece in pieces), (
                    f"{path.name}:{node.lineno}"
                )


@given(st.text())
def test_the_head_of_a_page_gives_a_title_back(text: str) -> None:
    """Backslashes and quotes too, which a filter of the data has seen as they are."""
    head = str(front_matter(text, text)).removeprefix("---\n").partition("\n---\n")[0]
    title = yaml.safe_load(head)["title"]
    assert title == "".join(mark for mark in " ".join(text.split()) if mark.isprintable())


@pytest.mark.parametrize(
    "text", [HOSTILE, "[a]: javascript:x", "*x*{: onclick=x}", "[x][y]", "<\\script>", "</p>"]
)
def test_markdown_from_data_begins_no_element_and_no_link(text: str) -> None:
    shown = markdown(str(harmless(text)), extensions=["attr_list"])
    assert not re.search(r"<(?!/?(p|em|strong)\b)|<\w+ [^>]*on|href", shown)
    assert harmless("*a* < b, $a_{i=1}<b$ [c]") == "*a* < b, $a_{i=1}&#60;b$ [c]"


def test_the_rows_of_a_stacked_table_name_their_values() -> None:
    """A narrow screen shows the head of the column above each value."""
    made = table(("Name", "#Size"), [("<a>", "1")], caption="C", stacked=True)
    assert 'class="fb-scroll fb-stacked"' in made
    assert '<td class="fb-n" data-label="Size">1</td>' in made and "&lt;a&gt;" in made
    assert "data-label" not in table(("Name", "#Size"), [("a", "1")], caption="C")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Eight dies. The rest is memory.", "Eight dies."),
        ("Eight dies, four of them", "Eight dies..."),
        ("Eight dies of the same kind", "Eight dies of..."),
        ("Eight dies.", "Eight dies."),
    ],
)
def test_a_text_is_cut_without_marks_before_its_dots(text: str, short: str) -> None:
    assert shorten(text, 17) == short
