"""Every letter of an equation that a calculator shows has words on its page."""

from __future__ import annotations

import html

from flopbook.faces.latex import equations, symbols
from flopbook.formulas import formulas
from scripts.website.pages.calculators import calculator_markdown, main_equations
from scripts.website.pages.inner_letters import inner_names, inner_words


def test_every_inner_letter_has_words_and_no_words_lack_a_letter() -> None:
    asked = {}
    for name, formula in formulas().items():
        if formula.printed:
            of_equations = inner_names(formula, main_equations(formula)).values()
            if found := {one for names in of_equations for one in names}:
                asked[name] = found
    assert {name: set(words) for name, words in inner_words().items()} == asked


def test_letters_stand_below_the_first_equation_that_has_them() -> None:
    for name, formula in formulas().items():
        if not formula.printed:
            continue
        text, symbol_of = calculator_markdown(name), symbols(formula)
        for equation, names in inner_names(formula, main_equations(formula)).items():
            below = text.partition(f"$$\n{equations(formula)[equation]}\n$$\n")[2].lstrip()
            for inner in names:
                line = below.partition("</p>")[0]
                assert line.startswith('<p class="fb-fine">'), (name, equation)
                assert f"${symbol_of[inner]}$: {inner_words()[name][inner]}" in html.unescape(
                    line
                ), inner
