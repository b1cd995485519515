"""The box that checks a number says what the command says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.data.library import entry_ids, load_entry
from flopbook.factcheck.facts import names, subject
from flopbook.factcheck.judging import judge, of_anybody
from flopbook.factcheck.reading import Unreadable, read
from scripts.website.pages.number_check import EXAMPLES
from tests.support.browsing import faults
from tests.support.quoted_numbers import QUOTED
from tests.support.stated_numbers import (
    AMBIGUOUS,
    CASES,
    SEVERAL,
    SHORT,
    UNREADABLE,
    of_every_chip,
)

pytestmark = pytest.mark.browser
TEXTS = [
    *(case.text for case in (*CASES, *SHORT)),
    *(text for text, _ in AMBIGUOUS),
    "H100 500k",
    "The MI300X doubles the H100 with 192 GB",
    *QUOTED,
    *(text for text, _ in SEVERAL),
    *(text for text, _ in UNREADABLE if text.strip()),
    *of_every_chip(),
]
CHIPS = [name for name in entry_ids() if load_entry(name).computes]
_CHECKED = """async ([base, texts]) => {
  const {checked} = await import(base + "assets/flopbook/check/main.js");
  const shown = ({holds, verdict, chip, says, evidence, value}) =>
    [holds, verdict, chip, says, evidence.map(({source}) => source), value];
  const found = [];
  for (const text of JSON.parse(texts)) {
    const {findings, problem} = await checked(text);
    found.push(problem ?? findings.map(shown));
  }
  return found;
}"""


def expected(text: str) -> Any:
    try:
        findings = [judge(statement, subject) for statement in read(text, names())]
    except Unreadable as error:
        if error.statements:
            return of_anybody(error.statements, CHIPS, subject)
        return str(error)
    return [
        [f.holds, f.verdict, f.chip, list(f.says), [fact.source for fact in f.evidence], f.value]
        for f in findings
    ]


def alike(found: Any, here: Any) -> bool:
    """Equal answers; a value may differ in its last digit, as JSON writes it."""
    if isinstance(found, str) or isinstance(here, str):
        return bool(found == here)
    same_words = [one[:5] for one in found] == [one[:5] for one in here]
    values = [one[5] or 0.0 for one in found]
    return same_words and values == pytest.approx([one[5] or 0.0 for one in here])


def test_the_page_answers_as_the_command(surf: Any, base: str) -> None:
    def ask(context: Any) -> list[Any]:
        tab = context.new_page()
        tab.goto(base + "check/")
        answers: list[Any] = tab.evaluate(_CHECKED, [base, json.dumps(TEXTS)])
        return answers

    there = surf(ask)
    assert len(TEXTS) > 100
    pairs = [(text, found, expected(text)) for text, found in zip(TEXTS, there, strict=True)]
    assert [(text, found, here) for text, found, here in pairs if not alike(found, here)] == []


def test_typing_answers_and_the_address_keeps_it(surf: Any, base: str) -> None:
    def use(context: Any) -> tuple[str, str, str]:
        tab = context.new_page()
        tab.goto(base + "check/")
        tab.fill("#fb-check-text", "H100 1,979 TFLOPS")
        tab.wait_for_selector(".fb-check-found")
        first = tab.inner_text(".fb-check-answer")
        tab.reload()
        tab.wait_for_selector(".fb-check-found")
        again = tab.inner_text(".fb-check-answer")
        tab.fill("#fb-check-text", "nothing here")
        tab.wait_for_selector(".fb-open")
        return first, again, tab.inner_text(".fb-check-answer")

    first, again, nothing = surf(use)
    assert "bf16 with 2:4 sparsity. Dense is 989.4 TFLOP/s" in " ".join(first.split())
    assert again == first
    assert nothing.startswith("No number with a unit")


def test_an_example_is_tried_by_a_click(surf: Any, base: str) -> None:
    def use(context: Any) -> tuple[int, str]:
        tab = context.new_page()
        tab.goto(base + "check/")
        tab.click("a.fb-check-try >> nth=1")
        tab.wait_for_selector(".fb-check-holds")
        return tab.locator("a.fb-check-try").count(), tab.input_value("#fb-check-text")

    assert surf(use) == (len(EXAMPLES), EXAMPLES[1])


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)> 5 GB", "%00%ff", "H100 9e99 GB"])
def test_a_hostile_link_is_only_text(text: str, surf: Any, base: str) -> None:
    def use(context: Any) -> tuple[int, bool]:
        tab = context.new_page()
        tab.goto(f"{base}check/?text={text}")
        tab.wait_for_selector(".fb-check-answer > :not(.fb-fine)")
        return tab.locator(".fb-check-answer img").count(), tab.locator("h1").is_visible()

    assert surf(use) == (0, True)


def test_the_box_can_be_used_by_everybody(surf: Any, base: str) -> None:
    def look(context: Any) -> Any:
        tab = context.new_page()
        tab.goto(base + "check/?text=H100+1,979+TFLOPS")
        tab.wait_for_selector(".fb-check-found")
        return faults(tab)

    assert surf(look) == {}
