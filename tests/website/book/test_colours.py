"""Colours of pictures: what the style sheet of the site says, written into the pictures."""

from __future__ import annotations

import re

import pytest

from scripts.website.book.colours import PAINT, THEME, _last_mark, paint, rules
from scripts.website.book.making import SHEET
from scripts.website.book.parts import BookError, parsed

SITE_RULES = rules(SHEET.read_text(encoding="utf-8"))
SMALL = """
/* comment */
:root { --a: #111111; --b: var(--a); }
:root, [data-md-color-scheme="default"] { --c: 2px; }
[data-md-color-scheme="slate"] { --a: #eeeeee; }
.dark [data-md-color-scheme="slate"] rect { fill: red; }
.x { fill: var(--b); margin: 1px; }
rect { fill: green; stroke-width: var(--c); }
text.x { fill: blue; }
.x:hover { fill: red; }
.margin { margin: 3px; }
@media (hover: none) { .x { fill: red; } }
@keyframes k { from { opacity: 0; } }
"""


def painted(html: str, sheet: str = SMALL) -> str:
    body = parsed(f"<div>{html}</div>")
    paint(body, rules(sheet))
    return str(body)


def test_only_what_paints_is_kept_without_states_and_the_dark_scheme() -> None:
    assert sorted(rule.selector for rule in rules(SMALL)) == [".x", "rect", "text.x"]


def test_variables_are_those_of_the_light_scheme() -> None:
    assert painted('<svg><rect class="x"/></svg>') == (
        '<div><svg><rect fill="#111111" stroke-width="2px"></rect></svg></div>'
    )


def test_the_more_specific_rule_wins_wherever_it_stands() -> None:
    assert '<text fill="blue">' in painted('<svg><text class="x">a</text></svg>')
    assert '<rect fill="#111111"' in painted('<svg><rect class="x"/></svg>')
    assert '<rect fill="green"' in painted("<svg><rect/></svg>")


def test_only_what_holds_words_gets_a_font() -> None:
    made = painted(
        '<svg><g class="b"><rect class="b"/><text class="b">a</text></g></svg>',
        ".b { font-size: 9px; }",
    )
    assert '<g font-size="9px"><rect></rect><text font-size="9px">' in made


def test_words_with_a_rim_below_them_are_two_elements() -> None:
    sheet = (
        "text.h { paint-order: stroke; stroke: white; stroke-width: 3px; } text { fill: black; }"
    )
    made = painted('<svg><text class="h" id="a">x</text><path class="h"/></svg>', sheet)
    assert made == (
        '<div><svg><text aria-hidden="true" fill="black" stroke="white" stroke-width="3px">x</text>'
        '<text fill="black" id="a">x</text><path></path></svg></div>'
    )


def test_the_usual_order_of_paint_needs_no_second_element() -> None:
    made = painted("<svg><text>x</text></svg>", "text { paint-order: normal; stroke: white; }")
    assert made == '<div><svg><text stroke="white">x</text></svg></div>'


def test_a_rule_beats_the_attribute_of_the_picture_as_in_a_browser() -> None:
    assert '<rect fill="green"' in painted('<svg><rect fill="none"/></svg>')


def test_nothing_outside_a_picture_is_painted_and_its_classes_stay() -> None:
    assert painted('<p class="x">a</p><svg></svg>') == '<div><p class="x">a</p><svg></svg></div>'


@pytest.mark.parametrize(
    "sheet", ["rect { fill: var(--none); }", ":root { --a: var(--a); } rect { fill: var(--a); }"]
)
def test_a_variable_without_a_value_is_refused(sheet: str) -> None:
    with pytest.raises(BookError, match="the style sheet"):
        rules(sheet)


@pytest.mark.parametrize(
    ("selector", "weight"),
    [
        ("rect", (0, 1)),
        (".a", (1, 0)),
        (".a rect", (1, 1)),
        (".a:is(.b, .c)", (2, 0)),
        (".a > .b text.c", (3, 1)),
    ],
)
def test_weights_of_selectors(selector: str, weight: tuple[int, int]) -> None:
    (rule,) = rules(f"{selector} {{ fill: red; }}")
    assert rule.weight == weight


def test_each_selector_of_a_list_has_a_weight_of_its_own() -> None:
    sheet = ".a rect.b { fill: red; } .a rect, .a :is(.c, .d) { fill: blue; }"
    assert [rule.selector for rule in rules(sheet)] == [".a rect", ".a :is(.c, .d)", ".a rect.b"]
    assert '<rect fill="red"' in painted('<div class="a"><svg><rect class="b"/></svg></div>', sheet)


def test_every_colour_of_the_real_style_sheet_is_a_colour() -> None:
    """No variable is left; paint is a colour, a length, a number, or a word of SVG."""
    words = "none|inherit|currentcolor|bold|hidden|visible|stroke|start|middle|end"
    good = re.compile(rf"#[0-9a-f]{{3,6}}|{words}|\d*\.?\d+(px|rem|em|%)?( \d+)*|[0-9 .]+")
    found = rules(SHEET.read_text(encoding="utf-8"))
    assert len(found) > 20
    for rule in found:
        assert set(rule.paint) <= PAINT
        assert all("var(" not in value for value in rule.paint.values())
        if "svg" in rule.selector or "fb-c" in rule.selector or "drawn" in rule.selector:
            assert all(good.fullmatch(value) for value in rule.paint.values()), rule


@pytest.mark.parametrize("number", range(6))
def test_classes_of_figures_have_the_light_colours(number: int) -> None:
    sheet = SHEET.read_text(encoding="utf-8")
    colour = re.search(rf":root {{ .*--fb-c{number}: (#\w+)", sheet)
    assert colour is not None
    picture = f'<svg class="fb-svg fb-drawn"><rect class="fb-c{number}"/></svg>'
    html = f'<div class="md-typeset">{picture}</div>'
    assert f'fill="{colour[1]}"' in painted(html, sheet)
    assert f'stroke="{THEME["--md-default-bg-color"]}"' in painted(html, sheet)


def test_hollow_shapes_stay_hollow_and_ink_on_dark_is_light() -> None:
    sheet = SHEET.read_text(encoding="utf-8")
    labels = '<text class="fb-on0">a</text><text class="fb-on1">b</text><text>c</text>'
    inside = f'<rect class="fb-hollow"/>{labels}'
    made = painted(f'<svg class="fb-svg fb-drawn">{inside}</svg>', sheet)
    line = re.search(r"--fb-line: (#\w+)", sheet)
    assert line is not None
    assert f'<rect fill="none" stroke="{line[1]}"' in made
    assert re.findall(r'<text fill="(#\w+)"', made) == [
        "#ffffff",
        "#1c2128",
        THEME["--md-default-fg-color"],
    ]


@pytest.mark.parametrize(
    ("selector", "mark"),
    [
        (".x", ".x"),
        ("text.x", ".x"),
        ("rect", "rect"),
        (".box .x > rect", "rect"),
        (".box > *", ""),
        (".box :is(.a, .b)", ""),
        ("text:is(.a, .b)", "text"),
        (".x:not(.y)", ".x"),
        ('svg[data-a=".b"] .x + .y', ".y"),
    ],
)
def test_a_rule_is_asked_of_the_elements_that_it_may_mean(selector: str, mark: str) -> None:
    """A class or a tag that all of them have: one of those in brackets may be another's."""
    assert _last_mark(selector) == mark


def test_every_rule_of_the_sheet_paints_what_its_selector_finds() -> None:
    """Looked up by class and tag, the elements are those that the whole selector selects."""
    drawn = "<rect/><text>b</text><g><line/><path/></g>"
    names = sorted(
        {name for rule in SITE_RULES for name in re.findall(r"\.([\w-]+)", rule.selector)}
    )
    groups = "".join(f'<g class="{name}">{drawn}</g>' for name in names)
    marked = "".join(f'<text class="{name}">a</text><rect class="{name}"/>' for name in names)
    body = parsed(f'<div class="fb-drawn"><svg class="fb-svg">{groups}{marked}</svg></div>')
    for rule in SITE_RULES:
        mark = _last_mark(rule.selector)
        for element in body.select(rule.selector):
            classes = [f".{name}" for name in element.get_attribute_list("class")]
            assert mark in ("", element.name, *classes), rule.selector
