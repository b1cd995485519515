"""Every formula of the site is sound MathML, spoken in words and in the accessibility tree."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.build.handbook import chapters
from scripts.website.build.maths import anchor, convert_to_element, mathml, replace_maths
from scripts.website.build.speech import spoken
from scripts.website.pages.chapter import named_exercises

_PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
_MATH = re.compile(r"<math\b.*?</math>", re.S)
_ENTITY = re.compile(r"&(?!amp|lt|gt|quot)[a-zA-Z]+;")
_BLOCK = re.compile(r'<div class="fb-maths" id="([^"]+)"><math [^>]*display="block"')


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\frac{B D}{F}", "the fraction B D over F, end fraction"),
        (r"R = \frac{\pi}{\beta}", "R equals pi over beta"),
        (r"x^2 + y^{n-1}", "x squared plus y to the power of n minus 1, end power"),
        (r"T_\text{compute} \ge 2", "T sub compute is at least 2"),
        (r"\sqrt{2}", "the square root of 2"),
        (r"\sqrt{b/a}", "the square root of b over a, end root"),
        (r"\Omega \approx \infty", "capital omega is about infinity"),
        (r"A_i^2", "A sub i squared"),
        (r"dW = A^{\top} dH", "d W equals A transposed d H"),
        ("m'", "m prime"),
        ("m''", "m double prime"),
        ("ﬁ", "latin small ligature fi"),
        (r"\sum_{i=1}^{n} i", "the sum sub i equals 1 to n i"),
        (
            r"a = \begin{cases} 1 & \text{if } b < c \\ 2 & \text{otherwise} \end{cases}",
            "a equals either 1 if b is less than c; 2 otherwise",
        ),
        (r"a, \qquad\qquad b", "a, b"),
        (r"\lceil x \rceil", "ceiling of x end ceiling"),
    ],
)
def test_a_formula_in_words(latex: str, words: str) -> None:
    assert spoken(convert_to_element(latex, display="block")) == words


@given(
    st.recursive(
        st.sampled_from(["x", "2", r"\pi"]),
        lambda one: st.builds(r"\frac{{{}}}{{{}}}".format, one, one),
        max_leaves=6,
    )
)
def test_fractions_begin_and_end(latex: str) -> None:
    """However deep: what begins with "the fraction" ends, and every bar is an "over"."""
    words = spoken(convert_to_element(latex, display="block"))
    assert words.count("the fraction") == words.count("end fraction")
    assert words.count(" over ") == latex.count("frac")


def test_every_formula_of_the_site_is_sound_and_says_itself(site: Path) -> None:
    seen = 0
    for path in sorted(site.rglob("index.html")):
        for written in _MATH.findall(path.read_text(encoding="utf-8")):
            root = ElementTree.fromstring(_ENTITY.sub(lambda m: html.unescape(m[0]), written))
            place = f"{path.parent.relative_to(site)}: {written[:160]}"
            assert not (wrong := list(_unsound(root))), (place, wrong)
            words = re.search(r'alttext="([^"]*)"', written)
            assert words and words[1].strip(), place
            assert not re.search(r"[\\{}_^$]|[^\x00-\x7f]", html.unescape(words[1])), place
            seen += 1
    assert seen > 1000


def _unsound(root: ElementTree.Element) -> Any:
    for part in root.iter():
        kind = part.tag.rpartition("}")[2]
        if kind == "merror" or (kind in _PARTS and len(part) != _PARTS[kind]):
            yield f"{kind} of {len(part)} parts"
        if kind in ("mi", "mn", "mo", "mtext") and not (part.text or "").strip():
            yield f"an empty {kind}"
        if kind == "mrow" and len(part) == 0:
            yield "an empty row"
        inner = [(one.tag.rpartition("}")[2], one.text or "") for one in part]
        for a, b, c in zip(inner, inner[1:], inner[2:], strict=False):
            if a[0] == c[0] == "mn" and b == ("mo", ",") and len(c[1]) == 3:
                yield f"a number in pieces: {a[1]},{c[1]}"
        names = "".join(
            text if name == "mi" and re.fullmatch("[a-z]", text) else " " for name, text in inner
        )
        if found := re.search(r"[a-z]{4,}", names):
            yield f"a name as a product of letters: {found[0]}"


def test_a_page_has_no_latex_and_its_markdown_one_for_each_block(site: Path) -> None:
    """What copies a formula takes the one of the same place: nothing else there has two dollars."""
    pages = [one.page.removesuffix(".md") for one in chapters()]
    for folder in (site / page for page in (*pages, "calculators/serving", "calculators/memory")):
        page = (folder / "index.html").read_text(encoding="utf-8")
        markdown = (folder / "index.md").read_text(encoding="utf-8")
        assert "data-latex=" not in page and len(_BLOCK.findall(page)) == markdown.count("$$") / 2
        for place, latex in zip(_BLOCK.findall(page), markdown.split("$$")[1::2], strict=True):
            assert place.startswith(anchor(latex.strip())), folder


@pytest.mark.browser
def test_a_formula_is_copied_as_latex(surf: Any, base: str, site: Path) -> None:
    def copied(context: Any) -> list[str]:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        tab.goto(base + "handbook/fsdp/")
        texts = []
        for number in (0, 2):
            tab.get_by_role("button", name="LaTeX").nth(number).click()
            tab.get_by_role("button", name="Copied").wait_for()
            texts.append(tab.evaluate("navigator.clipboard.readText()"))
            tab.get_by_role("button", name="Copied").wait_for(state="detached")
        return texts

    blocks = (site / "handbook/fsdp/index.md").read_text(encoding="utf-8").split("$$")[1::2]
    assert surf(copied) == [blocks[0].strip(), blocks[2].strip()]


def test_a_formula_keeps_its_anchor_when_another_comes_before() -> None:
    one, two = r"R = \frac{\pi}{\beta}", "R = 1"
    alone = _BLOCK.findall(replace_maths(f"$${one}$$"))
    assert _BLOCK.findall(replace_maths(f"$${two}$$\n\n$${one}$$"))[1:] == alone == [anchor(one)]
    assert _BLOCK.findall(replace_maths(f"$${one}$$\n\n$${one}$$")) == [
        anchor(one),
        f"{anchor(one)}-2",
    ]
    assert re.fullmatch(r"eq-b-min-[0-9a-f]{4}", anchor(r"B_\text{min} \approx \frac{\pi}{\beta}"))
    assert mathml(one, "block").count("id=") == 0


def _exercise(number: int, text: str) -> str:
    return (
        f'<strong class="fb-exercise" id="exercise-{number}">Exercise {number}</strong> '
        f'<span class="fb-badge">easy</span> {text}\n\n'
    )


def test_an_exercise_keeps_its_anchor_when_another_comes_before_or_a_value_changes() -> None:
    find = lambda text: re.findall(r'id="([^"]+)"', named_exercises(text))  # noqa: E731
    question = 'How many bytes are the weights of <a href="x">Llama 3 8B</a> in 16 bits?'
    assert find(_exercise(1, question)) == ["exercise-how-many-bytes-are-the-weights"]
    assert (
        find(_exercise(1, "Another.") + _exercise(2, question))[1]
        == find(_exercise(1, question))[0]
    )
    assert find(_exercise(1, question.replace("8B", "9B").replace("16", "8"))) == find(
        _exercise(1, question)
    )
    twice = find(_exercise(1, question) + _exercise(2, question))
    assert twice[1] == f"{twice[0]}-2"
    assert "Exercise 2</strong>" in named_exercises(_exercise(2, question)), (
        "the number that people read stays"
    )
