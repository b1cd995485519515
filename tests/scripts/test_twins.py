"""Pages as plain Markdown.

What becomes of each piece of HTML, of links, code, formulas and notebooks.
"""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.attack.hostile import SCRIPTS
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.build.twins import as_markdown, listing, twin_path, twins
from scripts.website.markup import harmless, link

PAGES = {"index.md", "a/index.md", "a/b.md", "a/c/d.md", "notebooks/n.ipynb", "data.md"}


def made(text: str, page: str = "a/b.md") -> str:
    return as_markdown(text, page, PAGES).strip()


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("index.md", "index.md"),
        ("a/index.md", "a/index.md"),
        ("a/b.md", "a/b/index.md"),
        ("notebooks/n.ipynb", "notebooks/n/index.md"),
    ],
)
def test_a_twin_stands_beside_the_page(page: str, path: str) -> None:
    assert twin_path(page) == path


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One <strong>two</strong><br>three</p>", "One **two**\nthree"),
        ('<a href="https://x.example/?a=1&amp;b">out</a>', "[out](https://x.example/?a=1&b)"),
        ("Tiles &amp; &#42;stars&#42;", "Tiles & *stars*"),
        (
            '<span class="fb-tip"><button class="fb-value">80 GB</button>'
            '<span role="tooltip" class="fb-source">printed: NVIDIA</span></span>',
            "80 GB (printed: NVIDIA)",
        ),
        ('<span class="fb-badge">paper</span>', "(paper)"),
        ('x<span class="fb-hidden">y</span>', "x"),
        ("<ul>\n<li>a</li>\n\n<li>b<br>c</li></ul>", "- a\n- b\n  c"),
        ("<h2>Head</h2>", "## Head"),
        ("<dl><dt>Id</dt><dd>x</dd></dl>", "- Id: x"),
        ('<pre class="fb-bibtex"><code>@misc{a,&#10;}</code></pre>', "```bibtex\n@misc{a,\n}\n```"),
        ("<form><input><button>Go</button></form><script>x < y</script><style>p{}</style>ok", "ok"),
        ('<svg role="img"><title>T</title><text>t</text></svg>after', "after"),
        ('<img src="x.svg" alt="A curve">', "[figure: A curve]"),
        ('<a class="fb-perma" href="#x">#</a> Title', "Title"),
        ("Text { .fb-wide } more", "Text  more"),
        ("`{ .kept }` and a < b", "`{ .kept }` and a < b"),
        ("```c\nif (a<b) <p> &amp;\n```", "```c\nif (a<b) <p> &amp;\n```"),
        ("<b>open", "**open**"),
        ("</p>x</div>", "x"),
    ],
)
def test_pieces_of_html_become_markdown(html: str, markdown: str) -> None:
    assert made(html) == markdown


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("https://x.example/)[x](javascript:a)", "https://x.example/%29%5Bx%5D%28javascript:a%29"),
        ("https://x.example/a|b", "https://x.example/a%7Cb"),
        ("https://x.example/ <b>", "https://x.example/%20%3Cb%3E"),
        ("https://x.example/?a=1&b=%28#é", "https://x.example/?a=1&b=%28#é"),
    ],
)
def test_an_address_ends_where_it_ends(address: str, written: str) -> None:
    assert made(str(link("a", address))) == f"[a]({written})"


def test_a_table_has_a_head_and_escapes_its_bars() -> None:
    html = (
        '<table><caption>C</caption><thead><tr><th>A</th><th class="fb-n">B</th></tr></thead>'
        "<tbody><tr><th>x|y</th><td><a href='../../data/'>1</a></td></tr>"
        "<tr><th>z</th></tr></tbody></table>"
    )
    assert (
        made(html)
        == "C\n\n| A | B |\n| --- | --- |\n| x\\|y | [1](../../data/index.md) |\n| z |  |"
    )


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[x](c/d.md)", "../c/d/index.md"),
        ("[x](c/d.md#part)", "../c/d/index.md#part"),
        ("[x](#here)", "#here"),
        ("[x](b.md#here)", "#here"),
        ("[x](../notebooks/n.ipynb)", "../../notebooks/n/index.md"),
        ("[x](../api/v1/x.json)", "../../api/v1/x.json"),
        ("[x](https://x.example/)", "https://x.example/"),
        ('<a href="../c/d/#part">x</a>', "../c/d/index.md#part"),
        ('<a href="./#here">x</a>', "#here"),
        ('<a href="../../">x</a>', "../../index.md"),
        ('<a href="../">x</a>', "../index.md"),
        ('<a href="../c/d/?topic=1">x</a>', "../c/d/index.md"),
        ('<a href="../c/d/?topic=1#part">x</a>', "../c/d/index.md#part"),
    ],
)
def test_links_lead_to_twins(text: str, link: str) -> None:
    """Links of Markdown start from the source file, those of HTML from the built folder."""
    assert made(text) == f"[x]({link})"


@pytest.mark.parametrize("latex", [r"\frac{a}{b}", r"x_\text{min} < 10^{12}", r"a \& b"])
def test_formulas_are_latex_again(latex: str) -> None:
    assert made(replace_maths(f"Here ${latex}$ is.")) == f"Here ${latex}$ is."
    assert made(replace_maths(f"$${latex}$$")) == f"$${latex}$$"


@pytest.mark.parametrize("around", ["Here ${}$ is.", "$${}$$", "- ${}$"])
@pytest.mark.parametrize(
    "payload", [*SCRIPTS, "a<b", "x<", "`", "```", "[a][b]", "a ](javascript:b)", r"\text{<!--}"]
)
def test_a_formula_holds_no_markup_for_readers_who_know_none(around: str, payload: str) -> None:
    """To a reader of plain Markdown the dollars are dollars, and what is between them is text."""
    source = str(harmless(around.format(payload.replace("$", ""))))
    if "`" in payload:
        assert replace_maths(source) == source  # code, or its begin: no formula reaches over it
        return
    try:
        text = made(replace_maths(source))
    except MathsError:
        return  # such a page is not built
    assert not re.search(r"<[A-Za-z/!?\\]|\]\(|`", text.replace("&lt;", "")), text


@pytest.mark.parametrize(
    "text",
    [
        "&#60;{ .a }script>alert(1)&#60;/script>",
        "&#60;<span>script>alert(1)</span>",
        "<b>&#60;</b>script>",
        "&#60;&#1;img src=x>",
        "&#60;<!-- -->script>",
    ],
)
def test_pieces_that_come_together_make_no_tag(text: str) -> None:
    """Text that is harmless piece by piece is harmless as a whole."""
    assert not re.search(r"<[A-Za-z/!?\\]", made(text))


PIECES = (
    "<p>",
    "</p>",
    "<table>",
    "<tr>",
    "<td>",
    "</td>",
    "</table>",
    "<a href='x'>",
    "</a>",
    "<ul>",
    "<li>",
    "<pre>",
    "```",
    "<b",
    "</pre>",
    "<svg>",
    "</svg>",
    "<math>",
    "<br>",
    "text ",
    "&lt;",
    "&",
    "<",
    ">",
    "`",
    "\n",
    "](",
    "|",
    "<!-- x",
)


@given(st.lists(st.sampled_from(PIECES)))
def test_no_html_breaks_it(parts: list[str]) -> None:
    """Whatever stands in a page, there is a twin, and gaps in it are one line at most."""
    text = made("".join(parts))
    assert "\n\n\n" not in re.sub(r"```.*?```", "", text, flags=re.DOTALL) or "`" in text


@given(st.text(alphabet="abc 123.,;:-\n", max_size=60))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert made(text).split() == text.split()


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title here\n", "\n", "What it\n", "shows."]},
        {"cell_type": "code", "source": ["print(1 < 2)"], "outputs": [{"text": ["True\n"]}]},
        {
            "cell_type": "code",
            "source": "x",
            "outputs": [
                {"data": {"image/svg+xml": ["<svg/>"], "text/plain": ["<Figure>"]}},
                {"data": {"text/plain": ["5"]}},
            ],
        },
    ]
}


def test_a_notebook_shows_code_and_what_it_printed() -> None:
    tree = {"notebooks/n.ipynb": json.dumps(NOTEBOOK).encode()}
    pages = twins(tree)
    assert pages["notebooks/n/index.md"] == (
        "# Title here\n\nWhat it\nshows.\n\n```python\nprint(1 < 2)\n```\n\n```text\nTrue\n```\n\n"
        "```python\nx\n```\n\n```text\n5\n```\n"
    )
    assert "- [Title here](notebooks/n/index.md): What it shows." in listing(tree)


def page(title: str, description: str) -> bytes:
    return f'---\ntitle: "{title}"\ndescription: "{description}"\n---\n\n# T\n\nText.\n'.encode()


def test_the_list_has_a_line_for_each_page_by_section() -> None:
    tree = {
        "index.md": page("Home", "All."),
        "references/x.md": page("X", "word " * 60),
        "accelerators/a/b.md": b"# B\n",
    }
    text = listing(tree)
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(tree) and max(map(len, lines)) < 180
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == ["Start", "Accelerators", "References"] and text.startswith("# flopbook\n\n> ")


def test_front_matter_is_left_out() -> None:
    assert twins({"x.md": page("T", "D"), "api/x.json": b"{}"}) == {"x/index.md": "# T\n\nText.\n"}
