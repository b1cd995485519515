"""An annotation that speaks of its title or of another work is told, and none other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import generic
from flopbook.data.library import references
from tests.support.samples import World, bib

GOOD = "Shows that one thing costs half of another. Read it before you buy."


def found(world: World, annote: str, title: str = "The work of two") -> list[str]:
    world.write("bibliography/all.bib", bib(annote=annote, title=title))
    return [str(problem) for problem in checker.lint() if problem.rule == generic.NAME]


@pytest.mark.parametrize(
    "annote",
    [
        "A chip for small models, to judge by the title.",
        "Judging by its title, a survey of chips.",
        "Faster than the one before, as its title says.",
        "Restates its title; look elsewhere.",
        "A large batch; the title gives the result.",
        "A library whose title claims models beyond the memory of a card.",
        "The conference entry for a library of kernels.",
        "The same for the chip after it.",
    ],
)
def test_words_about_a_title_or_a_neighbour_are_told(world: World, annote: str) -> None:
    (message,) = found(world, annote)
    assert "in the annotation" in message and "read the abstract" in message
    assert message.startswith("bibliography/all.bib:1:1: generic: ")


@pytest.mark.parametrize(
    "annote",
    [
        GOOD,
        "Runs the same model on two chips and finds one slower.",
        "Needs no title to be found again by its first figure.",
    ],
)
def test_words_about_the_work_are_let_be(world: World, annote: str) -> None:
    assert found(world, annote) == []


def test_a_title_in_other_words_is_told(world: World) -> None:
    title = "Scheduling pipelines of experts for cheap inference"
    (message,) = found(world, "Schedules expert pipelines for cheap inference.", title)
    assert "repeats the title" in message
    assert found(world, GOOD, title) == []


def test_a_share_is_counted_by_the_roots_of_words(world: World) -> None:
    world.write("bibliography/all.bib", bib(title="Training large models"))
    (work,) = references().values()
    halves = "Trains a larger network on cheaper hardware"
    assert generic.title_share(replace(work, annote=halves)) == pytest.approx(2 / 5)
    assert generic.title_share(replace(work, annote="Training models")) == 0
    assert generic.title_share(replace(work, annote="Train large models training")) == 1


def test_advice_does_not_hide_a_title_in_other_words(world: World) -> None:
    title = "Scheduling pipelines of experts for cheap inference"
    advice = "Read it when your network is slow and nobody can tell you where the time has gone."
    (message,) = found(world, f"Schedules expert pipelines for cheap inference. {advice}", title)
    assert "repeats the title before it gives advice" in message
    measured = "Schedules expert pipelines for inference 1.4 times as cheap."
    assert found(world, f"{measured} {advice}", title) == []
