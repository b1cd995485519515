"""Texts and lists as long as a file may be: lint tells what is wrong with them within seconds."""

from __future__ import annotations

import time

import pytest

from flopbook.checks.lint import lint
from flopbook.data.contributed_text import disguised_word
from flopbook.data.references import decode
from tests.support.samples import World, bib, entry_text

_LONGEST_S = 5.0  # of processor time


_WORDS = {
    "letters of another script": ("\u0430" * 400_000, "a"),
    "letters and hyphens": ("A-" * 200_000, "\u0430"),
    "digits between letters": ("\u04301" * 200_000, "a"),
    "digits between Latin letters": ("a1" * 200_000, "\u0430"),
}


@pytest.mark.parametrize("case", _WORDS)
def test_a_long_word_is_read_once(case: str) -> None:
    word, other = _WORDS[case]
    begun = time.process_time()
    assert not disguised_word(f"\u00e9 {word}") and disguised_word(f"{word}{other}")
    assert time.process_time() - begun < _LONGEST_S


def test_a_problem_in_each_line_is_found_at_its_place(world: World) -> None:
    """The file was read and searched from the top for each of them."""
    rows = "".join(f"- {{id: t{n}, title: T{n}, intro: What it is.}}\n" for n in range(1500))
    world.write("bibliography/topics.yaml", f"topics:\n{rows}")
    begun = time.process_time()
    lines = {problem.line for problem in lint() if problem.file.endswith("topics.yaml")}
    assert len(lines) >= 1500 and time.process_time() - begun < 3 * _LONGEST_S


def test_a_file_has_no_more_problems_than_anybody_reads(world: World) -> None:
    """A hundred files with two thousand empty claims each took gigabytes."""
    world.write("accelerators/acme/one.yaml", entry_text() + "  - {}\n" * 1_900)
    problems = [str(problem) for problem in lint() if problem.file.endswith("one.yaml")]
    assert 1_000 < len(problems) < 1_010
    assert [line for line in problems if "more problems" in line]


def test_a_text_that_is_refused_is_not_decoded() -> None:
    text = r"\'e " * 6_000
    begun = time.process_time()
    assert decode(text) == text and time.process_time() - begun < _LONGEST_S / 10


def test_a_name_is_no_page(world: World) -> None:
    author = f"{'van ' * 1000} Smith, Ann"
    world.write("bibliography/works.bib", bib("smith2020long", author=author))
    [problem] = [each for each in lint() if each.rule == "length"]
    assert "a name of" in str(problem) and "at most 120" in str(problem)
