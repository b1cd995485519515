"""Pages that a script answers say without one what the command says."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest

from scripts.website.pages import number_check, planner, serving_planner


@pytest.mark.parametrize("page", [planner.page, serving_planner.page, number_check.page])
def test_readers_without_scripts_get_the_command_and_its_answer(page: Callable[[], str]) -> None:
    text = page()
    words = re.search(r"<noscript><p>Example: <code>(.*?)</code><br>(.+?)</p>", text)
    printed = re.search(r"^\$ (flopbook (?:.*\\\n)*.*)", text, re.M)
    assert words and printed
    assert html.unescape(words[1]) == re.sub(r" \\\n +", " ", printed[1])


def test_the_answers_are_those_of_the_planners() -> None:
    for page, answer, first in (
        (planner.page, planner.answer, planner.FIRST),
        (serving_planner.page, serving_planner.answer, serving_planner.FIRST),
    ):
        verdict, meaning = answer(**first)
        assert f"<strong>{verdict}</strong> {meaning}" in html.unescape(page())
