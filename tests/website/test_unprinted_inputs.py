"""An answer that starts from what no reader sees stops the build, with file and line."""

from __future__ import annotations

import pytest

from scripts.website.pages.exercise_inputs import unprinted_inputs
from scripts.website.pages.prose import render, things_of

PAGE = "handbook/batch.md"
HEAD = """{% set big = model("llama-3-70b") %}
{% set wide = big.d_ff %}
A chapter.

## Exercises

"""
QUESTION = '{{ exercise("easy") }} How wide is the block of {{ big }}?\n\n'
ANSWER = '??? success "Answer"\n    '


def problems(text: str) -> list[tuple[int, str]]:
    rendered = render(text, PAGE, PAGE)
    found = unprinted_inputs(text, rendered, f"docs/{PAGE}", things_of(PAGE))
    return [(problem.line, problem.found) for problem in found]


@pytest.mark.parametrize(
    "read",
    [
        'model("llama-3-70b").d_ff | unit("1")',
        'big.d_ff | unit("1")',
        '(2 * big.d_ff) | unit("1")',
        'wide | unit("1")',
    ],
)
def test_an_input_that_is_printed_nowhere_is_found_at_its_line(read: str) -> None:
    ((line, found),) = problems(f"{HEAD}{QUESTION}{ANSWER}Wide: {{{{ {read} }}}}.\n")
    assert line == 10
    assert "d_ff of Llama 3 70B, 28672, which is printed nowhere above" in found


@pytest.mark.parametrize(
    "shown",
    [
        '$F$ is {{ big.d_ff | unit("1") }}.\n\n',
        '$F$ is {{ 28672 | unit("1") }}.\n\n',
        'Both sides together have {{ (2 * big.d_ff) | unit("1") }}.\n\n',
    ],
)
def test_an_input_that_the_question_prints_is_given(shown: str) -> None:
    text = f'{HEAD}{QUESTION}{shown}{ANSWER}Wide: {{{{ big.d_ff | unit("1") }}}}.\n'
    assert problems(text) == []


def test_what_stands_above_the_exercises_is_given() -> None:
    above = HEAD.replace("A chapter.", 'A chapter with $F$ = {{ big.d_ff | unit("1") }}.')
    assert problems(f'{above}{QUESTION}{ANSWER}Wide: {{{{ big.d_ff | unit("1") }}}}.\n') == []


def test_what_another_answer_shows_is_not_given() -> None:
    answer = f'{ANSWER}Wide: {{{{ big.d_ff | unit("1") }}}}.\n\n'
    assert [line for line, _ in problems(f"{HEAD}{(QUESTION + answer) * 2}")] == [10, 15]


def test_a_later_question_gives_nothing() -> None:
    answer = f'{ANSWER}Wide: {{{{ big.d_ff | unit("1") }}}}.\n\n'
    later = '{{ exercise("easy") }} Why is $F$ {{ big.d_ff | unit("1") }}?\n\n'
    assert len(problems(f"{HEAD}{QUESTION}{answer}{later}{ANSWER}So it is.\n")) == 1


def test_two_digits_are_too_few_and_a_prefix_is_none_too_many() -> None:
    card = 'chip("h100-sxm").memory_bandwidth()'
    answer = f"{ANSWER}It is {{{{ {card} }}}}.\n"
    rounded = "It reads {{ 3.4 | unit('1') }} TB/s.\n\n"
    assert len(problems(f"{HEAD}{QUESTION}{rounded}{answer}")) == 1
    assert problems(f"{HEAD}{QUESTION}{rounded.replace('3.4', '3350')}{answer}") == []


def test_a_page_without_exercises_has_none() -> None:
    assert problems("No exercise here.\n") == []
