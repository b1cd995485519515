"""LaTeX to MathML: formulas are found, and nothing else that has a dollar."""

from __future__ import annotations

import contextlib
import html
import re
from pathlib import Path

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.rules.elements import elements
from scripts.attack.areas.markup import silent_fault
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.build.pagehook import name_maths_heads

UNTOUCHED = [
    '---\ntitle: "$x$"\ndescription: "Take $Y$."\n---\n\nNone here.',
    "costs $3 and $5",
    "costs $30,000 a chip, or US$ 2 an hour",
    "from $2 per hour to 3 in US$",
    "`$x$` in code",
    "``a ` $x$``",
    "```sh\n$ flopbook min-batch\n$ ls $HOME\n```",
    "~~~\n$x$\n~~~",
    "<pre><code>$x$ and $$y$$</code></pre>",
    "<code>$x$</code>",
    '<a href="?a=$x$">link</a>',
    '<div data-spec="$$a$$">text</div>',
    "<script>let a = `$x$`;</script>",
    r"an escaped \$x\$ stays",
    "one $ alone",
    "a price of $ 5 $ with blanks",
    "no $line\nbreak$ inside",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_other_dollars_stay(text: str) -> None:
    assert replace_maths(text) == text


@pytest.mark.parametrize(
    ("text", "display"),
    [
        ("so $x$ is", "inline"),
        ("$x$", "inline"),
        ("($x$)", "inline"),
        ("$$x$$", "block"),
        ("$$\nx\n$$", "block"),
    ],
)
def test_formulas_become_mathml(text: str, display: str) -> None:
    made = replace_maths(text)
    assert f'display="{display}"' in made and "<mi>x</mi>" in made and "$" not in made
    assert made.count("<math ") == 1


@pytest.mark.parametrize("latex", ["2 n^2", "2 b k D", r"4 c^2 H d", r"2 k \cdot 3 D F", "2 a b"])
def test_a_number_before_a_letter_is_no_price(latex: str) -> None:
    made = replace_maths(f"it sends ${latex}$ bytes, $N$ times")
    assert made.count("<math ") == 2 and "$" not in made


def test_an_ordinal_is_a_formula_with_an_ending() -> None:
    made = replace_maths("one $N$th of it, $x$the")
    assert "</math>th of it, $x$the" in made


@pytest.mark.parametrize("page", ["handbook", "calculators"])
def test_no_page_shows_the_dollars_of_a_formula(site: Path, page: str) -> None:
    shown = {}
    for path in sorted((site / page).glob("*/index.html")):
        text = re.sub(
            r"<(pre|code|script|math|head)\b.*?</\1>",
            "",
            path.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        if found := re.findall(r"\$[^\s$][^$\n]*\$", re.sub(r"<[^>]+>", "", text)):
            shown[path.parent.name] = found
    assert shown == {}


def test_formulas_after_the_head_of_a_page() -> None:
    made = replace_maths("---\ntitle: $a$\n---\n\n$b$\n\n---\n\n$c$ and\n\n---\n")
    assert made.startswith("---\ntitle: $a$\n---\n") and made.count("<math ") == 2


def test_a_formula_may_begin_a_line() -> None:
    """It stays inside its paragraph.

    Markdown takes a math element at the beginning of a line for a block.
    """
    page = markdown.markdown(
        replace_maths("With\n$f$ bits and\n  $e$ more."), extensions=["md_in_html"]
    )
    assert page.count("<p>") == 1 and page.count("<math") == 2


def test_the_head_of_a_page_stays() -> None:
    """A description goes into an attribute, where no formula can stand.

    YAML would not read one either.
    """
    head = "---\ntitle: A\ndescription: An $n \\times n$ matrix.\n---\n"
    assert replace_maths(head + "$a$\n").startswith(head + "<span><math")


def test_two_formulas_in_a_line() -> None:
    made = replace_maths("from $a$ to $b$, for `$5` and $c$")
    assert made.count("<math ") == 3 and "`$5`" in made


def test_the_latex_stays_for_copying() -> None:
    found = re.search(r'data-latex="([^"]*)"', replace_maths(r"$\frac{a}{b} < c$"))
    assert found is not None and html.unescape(found[1]) == r"\frac{a}{b} < c"


def test_markdown_finds_no_marks_inside() -> None:
    made = replace_maths("$a_1 * b_2 * c$ and $$[x]_i^*$$")
    text = re.sub(r"<[^>]*>", "", made)
    assert not re.search(r"[*_`\[\]]", text)
    assert "*" not in made


@pytest.mark.parametrize("latex", [r"\begin{cases} a", r"\left( a", "a^"])
def test_what_does_not_convert_is_an_error_that_shows_it(latex: str) -> None:
    with pytest.raises(MathsError) as error:
        replace_maths(f"before $${latex}$$ after")
    assert latex in str(error.value)


def test_markup_in_a_formula_is_no_markup() -> None:
    made = replace_maths(r"$\text{<script>alert(1)</script>}$ $a<b$")
    assert "<script" not in made


@given(st.text(alphabet="ab $`<>\n\\{}_^", max_size=60))
def test_any_text_gives_text_or_an_error(text: str) -> None:
    with contextlib.suppress(MathsError):
        assert isinstance(replace_maths(text), str)


def test_a_formula_as_table_header_is_said_in_words() -> None:
    made = name_maths_heads(
        "<th>" + replace_maths(r"| $T_\text{memory}$")[2:] + "</th><th>Words</th>"
    )
    assert '<span class="fb-hidden">T sub memory</span><math aria-hidden="true"' in made
    assert made.endswith("<th>Words</th>")


@pytest.mark.parametrize(
    "command", ["href{javascript:alert(1)}", "class{md-nav}", "style{all:unset}"]
)
def test_a_formula_leads_nowhere_and_looks_like_all(command: str) -> None:
    """`\\href` became an address on the element, which only the check of the built site refused."""
    made = replace_maths(f"Here $\\{command}{{x}}$ is.")
    shown = made.partition("data-latex")[0] + made.rpartition("data-latex")[2].partition(">")[2]
    assert "javascript" not in shown and "style=" not in shown and "class=" not in shown
    assert "<mi>x</mi>" in shown


@pytest.mark.parametrize("text", ["$$ ` $$ a `", "$a`$ b `", "$$\n\n~~~\n$$ a", "$$ a\n\nb $$"])
def test_no_formula_reaches_over_code_or_over_paragraphs(text: str) -> None:
    """What lint reads as code, or as another paragraph, is that to the site."""
    assert replace_maths(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "$$ ` $$ <b-attacked> `",
        "$x`$ <b-attacked> `",
        "$$\n\n~~~\n$$<b-attacked>\n\n~~~\n",
        "$$ a\n\n~~~\nb $$\n\n<b-attacked>\n\n~~~\n",
    ],
)
def test_what_lint_takes_for_code_a_formula_leaves_code(text: str) -> None:
    """Lint is silent on each, and each put an element onto the page: its formula ended the code."""
    page = f"# Title\n\n{text}\n"
    assert not list(elements(page))
    assert silent_fault(page) == ""
