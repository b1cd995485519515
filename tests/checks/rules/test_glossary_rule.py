"""The rule of the glossary.

Terms told apart and in order, pointers that lead somewhere, units that fit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules.glossary import anchors
from flopbook.errors import DataError, Problem
from tests.support.samples import World, assert_clean

HANDBOOK = Path(__file__).resolve().parents[3] / "docs" / "handbook"
ENTRY = """  - id: {id}
    term: {term}
    unit: {unit}
    meaning: {meaning}
    chapter: {chapter}
"""
DEFAULTS = {
    "id": "ridge-point",
    "term": "ridge point",
    "unit": "FLOP/byte",
    "chapter": "calculators/ridge-point.md",
    "meaning": "Where arithmetic and memory take as long.",
}


def entry(more: str = "", **changes: str) -> str:
    return ENTRY.format(**{**DEFAULTS, **changes}) + (f"    {more}\n" if more else "")


def found(world: World, *entries: str) -> list[Problem]:
    """What the check finds in a world with these terms."""
    world.write("bibliography/glossary.yaml", "terms:\n" + "".join(entries))
    problems = [problem for problem in checker.lint() if problem.rule not in ("needed",)]
    if problems:
        assert_clean(DataError(problems))
    return problems


def test_a_sound_glossary_has_no_problems(world: World) -> None:
    second = entry(id="roofline", term="roofline", unit="'1'", chapter="calculators/roofline.md")
    assert (
        found(world, entry("names: [flop_per_byte]", unit="FLOP/byte\n    symbol: [R]"), second)
        == []
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry("see_also: [nobody]"), "'nobody' to see also"),
        (entry("see_also: [ridge-point]"), "'ridge-point' to see also"),
        (entry("mark: [another name]"), "'another name' to mark"),
        (entry("names: [nothing_has_this]"), "'nothing_has_this'"),
        (
            entry("names: [flop_per_byte]"),
            "'flop_per_byte'",
        ),  # without its symbol the name says nothing
        (entry("names: [flop_per_byte]", unit="byte\n    symbol: [R]"), "the unit byte"),
        (entry(unit="furlong"), "furlong"),
        (entry(chapter="calculators/no-such.md"), "'calculators/no-such.md'"),
        (
            entry(meaning="A chip with 80 GB of memory, which is a typed number."),
            "the typed number '80 GB'",
        ),
    ],
)
def test_a_slip_is_found_at_the_line_of_its_entry(world: World, text: str, words: str) -> None:
    problems = found(world, text)
    assert problems and {problem.rule for problem in problems} == {"glossary"}
    assert any(words in problem.found for problem in problems), problems
    assert all(
        (problem.file, problem.line) == ("bibliography/glossary.yaml", 2) for problem in problems
    )


def test_terms_stand_in_order_and_once(world: World) -> None:
    """The later of two is named."""
    first, second = entry(id="b", term="one"), entry(id="a", term="two")
    (problem,) = found(world, first, second)
    assert (problem.line, problem.found) == (7, "'a' after 'b'")
    assert [p.found for p in found(world, first, entry(id="b", term="two"))] == ["'b' after 'b'"]


def test_a_name_belongs_to_one_term(world: World) -> None:
    """Capitals make no difference; within an entry a name may stand twice."""
    (problem,) = found(
        world, entry(id="a", term="Ridge"), entry("also: [ridge]", id="b", term="other")
    )
    assert "'ridge', as 'a' has it" in problem.found
    assert found(world, entry("also: [FLOP]", id="a", term="flop")) == []


def test_chapters_are_looked_into_where_there_are_any(world: World) -> None:
    """An installed package has no docs/; in a checkout page and heading must be there."""
    text = entry(chapter="handbook/one.md#two-words")
    assert found(world, text) == []
    world.write("docs/handbook/other.md", "# Other\n")
    assert [p.expected for p in found(world, text)] == ["a page of docs/"]
    world.write("docs/handbook/one.md", "# One\n\n```md\n## Two words\n```\n\n## Two: others\n")
    assert [p.expected for p in found(world, text)] == ["a heading of that page"]
    world.write("docs/handbook/one.md", "# One\n\n### Two, words\n")
    assert found(world, text) == []


def test_anchors_are_those_of_the_site() -> None:
    """Marks vanish, spaces become hyphens."""
    headings = {"1f1b-the-same-bubble-less-memory", "two-halves-of-a-backward-pass"}
    assert headings <= anchors(HANDBOOK / "pipeline-parallelism.md")
    assert anchors(HANDBOOK / "no-such-chapter.md") == set()


def test_a_broken_file_is_one_problem_and_hides_no_other(world: World) -> None:
    world.write("accelerators/acme/readme.txt", "stray")
    problems = found(world, "  - 3\n")
    assert {problem.rule for problem in problems} == {"file", "type"}
