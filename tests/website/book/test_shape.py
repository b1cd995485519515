"""A page of the site as a part of a book: forms, answers, captions, and XML that is well-formed."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.book.document import markup
from scripts.website.book.making import SHEET
from scripts.website.book.parts import BookError, BookPart, parsed, read, words
from scripts.website.book.shape import MOVES, shape
from tests.support.binding import CHAPTERS


def shaped(html: str, number: int = 1) -> BookPart:
    """A part with this text, shaped."""
    article = parsed(f'<article class="md-typeset"><h1 id="t">T</h1>\n{html}</article>').article
    assert article is not None
    part = BookPart("t", "handbook/t/", "T", article, number)
    shape(part)
    return part


@pytest.fixture
def one(small: Path) -> BookPart:
    part = read(small, CHAPTERS)[1]
    shape(part)
    return part


def test_a_form_becomes_its_example_and_says_where_to_change_it(one: BookPart) -> None:
    box = one.body.select_one(".calculator")
    assert box is not None
    assert words(box).startswith(
        "Example: flopbook min-batch gives 295 tokens. Other inputs: flopbook min-batch --help"
    )
    assert [link["href"] for link in box.select("a")] == ["/calculators/min-batch/"]
    assert "JavaScript" not in words(one.body)


def test_answers_are_gathered_at_the_end_with_links_both_ways(one: BookPart) -> None:
    heads = [words(head) for head in one.body.select("h2")]
    assert heads == ["Exercises", "Key points", "Answers"]
    answers = one.body.select("h2#answers ~ .answer")
    assert [answer["id"] for answer in answers] == ["answer-to-exercise-1", "answer-to-exercise-2"]
    assert [words(answer) for answer in answers] == [
        "Exercise 1 So, by a work.",
        "Exercise 2 Because.",
    ]
    for number, answer in enumerate(answers, 1):
        exercise = one.body.select_one(f"#exercise-{number}")
        assert exercise is not None
        assert exercise.parent is not None
        assert exercise.parent.select(f'a[href="#answer-to-exercise-{number}"]')
        assert answer.select(f'a[href="#exercise-{number}"]')


def test_an_answer_with_several_parts_has_one_link_from_its_exercise() -> None:
    folded = '<details class="success"><summary>Answer</summary>\n<p>{}</p></details>\n'
    question = '<p><strong class="fb-exercise" id="exercise-1">Exercise 1</strong> Q</p>'
    part = shaped(question + folded.format("x") + folded.format("y"))
    assert len(part.body.select("a.there")) == 1
    assert [words(answer) for answer in part.body.select(".answer")] == ["Exercise 1 x y"]
    assert part.body.select("details, summary") == []


def test_a_success_box_without_an_exercise_is_opened_where_it_stands() -> None:
    part = shaped(
        '<details class="success"><summary>Good</summary>\n<p>x</p></details>\n<p>after</p>'
    )
    assert words(part.body) == "1 T Good x after"
    assert part.body.select("h2") == []


def test_other_boxes_are_open_and_what_only_moves_is_left_out(one: BookPart) -> None:
    assert [words(box) for box in one.body.select(".opened")] == ["More Opened."]
    assert not one.body.select("details, summary, .fb-slide")
    assert "Watch it move" not in words(one.body)


@pytest.mark.parametrize("name", MOVES)
def test_every_way_of_moving_is_left_out_with_its_box(name: str) -> None:
    picture = (
        f'<figure><svg viewBox="0 0 9 9"><g class="{name[1:]}"><path d=""/></g></svg></figure>'
    )
    part = shaped(
        f'<details class="example"><summary>Watch</summary>{picture}</details><p>after</p>'
    )
    assert words(part.body) == "1 T after"
    assert part.body.select("figure") == []


def test_what_moves_on_the_site_is_known() -> None:
    """Every class that the style sheet sets in motion, by name."""
    sheet = SHEET.read_text(encoding="utf-8")
    moving = re.findall(r"^(\.[\w-]+) \{[^}]*animation: (?!none)", sheet, re.MULTILINE)
    assert sorted(moving) == sorted(MOVES)
    assert len(set(re.findall(r"@keyframes ([\w-]+)", sheet))) == len(MOVES)


def test_the_line_about_place_and_time_is_left_out(one: BookPart) -> None:
    assert "Chapter 1 of 2" not in words(one.body)


def test_what_speaks_of_the_site_is_left_out() -> None:
    part = shaped('<ul><li>a</li><li class="fb-screen">press the <b>button</b></li></ul>')
    assert [words(item) for item in part.body.select("li")] == ["a"]


def test_bibtex_and_hidden_words_are_left_out(one: BookPart) -> None:
    assert "BibTeX" not in words(one.body)
    assert not one.body.select(".fb-hidden, .fb-bibtex")


def test_a_figure_keeps_what_it_says_and_loses_what_only_a_screen_needs(one: BookPart) -> None:
    """Its menu and the sheet for phones are left out; title, picture and caption stay."""
    figures = one.body.select("figure")
    assert figures
    for figure in figures:
        assert words(figure).startswith("What it says") and words(figure).endswith("shows.")
        assert len(figure.select("svg")) == 1 and not figure.select("details, .opened, div div")
        assert "Code of this figure" not in words(figure)


def test_a_chapter_has_its_number_before_its_title_and_other_parts_have_none() -> None:
    assert words(shaped("", 7).body) == "7 T"
    assert words(shaped("", 0).body) == "T"


def test_blocks_stand_in_no_paragraph(one: BookPart) -> None:
    for block in ("figure", "div", "table", "ul", "pre", "p"):
        assert not one.body.select(f"p {block}")


def test_names_of_svg_have_their_capitals_again(one: BookPart) -> None:
    picture = one.body.select_one("svg")
    assert picture is not None
    assert picture["viewBox"] == "0 0 640 200"
    assert picture["xmlns"] == "http://www.w3.org/2000/svg"
    assert 'xmlns="http://www.w3.org/1998/Math/MathML"' in markup(
        shaped("<math><mi>a</mi></math>").body
    )
    text = markup(shaped('<svg><lineargradient gradientunits="x"></lineargradient></svg>').body)
    assert '<linearGradient gradientUnits="x"></linearGradient>' in text


def test_attributes_of_screens_go(one: BookPart) -> None:
    for name in ("tabindex", "aria-hidden", "style", "loading", "data-calculator", "data-spec"):
        assert not one.body.select(f"[{name}]")


def test_columns_keep_their_side() -> None:
    text = markup(
        shaped(
            '<table><tr><td style="text-align: right;">1</td>'
            '<td style="color: red">2</td></tr></table>'
        ).body
    )
    assert '<td style="text-align: right;">1</td><td>2</td>' in text


@pytest.mark.parametrize("name", ["data-latex", "onclick", "style", "tabindex"])
def test_attributes_that_only_a_screen_or_a_script_reads_go(name: str) -> None:
    part = shaped(
        f'<p id="x" {name}="1" title="t" class="date">a</p><link rel="stylesheet" href="x.css">'
    )
    assert '<p class="date" id="x" title="t">a</p>' in markup(part.body)
    assert "link" not in markup(part.body)


def test_a_value_loses_its_button_and_its_tooltip() -> None:
    part = shaped(
        '<p><button class="fb-value">80 GB</button><span role="tooltip">printed</span>'
        "<button>Go</button></p>"
    )
    assert words(part.body) == "1 T 80 GB"


@pytest.mark.parametrize(
    "html", ['<img src="x.png" alt="X">', '<iframe src="https://x.example"></iframe>']
)
def test_a_picture_in_a_file_is_refused(html: str) -> None:
    with pytest.raises(BookError, match=r"handbook/t/: found (img|iframe)"):
        shaped(f"<p>{html}</p>")


PIECES = st.recursive(
    st.text("ab<>&\"' \n]", max_size=6).map(
        lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
    ),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>" if tag != "br" else "<br>",
        st.sampled_from(
            ("p", "div", "ul", "figure", "em", "br", "details", "table", "svg", "math")
        ),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@given(PIECES)
def test_whatever_stands_in_a_page_becomes_well_formed_xml(html: str) -> None:
    part = shaped(html)
    ElementTree.fromstring(f"<section>{markup(part.body)}</section>")
    assert not part.body.select("p p, p div, p figure, p table, details")
