"""A calculator's page shows the results of its examples; what they are made from opens."""

from __future__ import annotations

import re

from flopbook.drawing.pictures import shown_answer
from flopbook.formulas import formulas, get_formula
from scripts.website.pages.calculators import MOST_PRINTED, calculator_markdown
from scripts.website.pages.forms import calculated_example
from tests.support.cases import every

MOST_LINES = 24  # of a terminal, as high as it once was
_BLOCK = re.compile(r"^(`{3,})console\n(.*?)\n\1$", re.M | re.S)


@every("name", formulas())
def test_no_page_prints_a_terminal_higher_than_a_screen(name: str) -> None:
    for _, text in _BLOCK.findall(calculator_markdown(name)):
        assert text.count("\n") <= MOST_LINES, text.split("\n")[0]


def test_the_whole_answer_opens_and_is_whole() -> None:
    page = calculator_markdown("memory")
    answer = shown_answer(calculated_example(get_formula("memory"), 0))
    assert answer.count("\n") > MOST_PRINTED
    results, _, origins = answer.partition("\nfrom\n")
    assert f"\n{results}\n```" in page
    fold = page[page.index("The whole answer") :]
    assert f"{answer.count(chr(10)) + 1} lines" in fold
    assert origins.split("\n")[-1].split()[0] in fold.partition("</details>")[0]
    assert origins not in page.partition("The whole answer")[0]


def test_a_short_answer_stays_whole() -> None:
    page = calculator_markdown("min-batch")
    assert "The whole answer" not in page and "\nfrom\n" in page
