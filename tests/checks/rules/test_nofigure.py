"""The day on which a paper was read and printed no figure: each way of getting it wrong."""

from __future__ import annotations

import pytest

from flopbook.checks.lint import lint
from flopbook.errors import DataError
from tests.support.samples import World, assert_clean, bib

PAPER = {"type": "paper", "nofigure": "2026-11-22"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"nofigure": "29 November"},
            "nofigure '29 November' in doe2026b, expected YYYY-MM-DD",
        ),
        (
            {"nofigure": "2199-01-01"},
            "nofigure '2199-01-01' in doe2026b, expected a day that has been",
        ),
        ({"annote": "Halves the time."}, "it prints one: drop nofigure"),
        ({"type": "blog"}, "nofigure in doe2026b, a blog, expected a paper"),
    ],
)
def test_a_day_of_reading_is_a_day_and_stands_where_it_is_needed(
    world: World, changes: dict[str, str], says: str
) -> None:
    world.write("bibliography/more.bib", bib("doe2026b", **{**PAPER, **changes}))
    problems = lint()
    assert [problem.rule for problem in problems] == ["nofigure"]
    assert says in str(problems[0])
    assert_clean(DataError(problems))


def test_a_paper_without_a_figure_keeps_the_rule_with_and_without_the_day(world: World) -> None:
    world.write("bibliography/more.bib", bib("doe2026b", **PAPER) + bib("doe2026c", type="paper"))
    assert lint() == []
