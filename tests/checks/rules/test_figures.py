"""The five figures of a chip: each is a number, or words that say exactly what nobody publishes."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import figures
from flopbook.data.library import load_entries, load_entry
from flopbook.errors import DataError
from flopbook.hardware.five_figures import five_figures, is_compared
from tests.support.samples import NEEDED, World, assert_clean, claim

LINKS = claim("scaleup_bandwidth", direction="unstated")
ONE_LINK = {"direction": "one-way", "aggregate": "chip", "value": "not published"}
UNSTATED = claim(sparsity="unstated")


def found(world: World, *changed: dict[str, Any], **head: Any) -> list[str]:
    """What the rule finds in a chip, with some of its claims replaced."""
    fields = {change["field"] for change in changed}
    kept = [claim(name) for name in NEEDED if name not in fields]
    world.entry("one", *kept, *changed, **head)
    problems = [problem for problem in checker.lint() if problem.rule == figures.NAME]
    if problems:
        assert_clean(DataError(problems))
    return [problem.found for problem in problems]


def test_a_peak_that_does_not_say_whether_it_is_dense_is_no_answer(world: World) -> None:
    """The peaks of many chips stood so, and were taken for dense."""
    assert found(world, UNSTATED) == ["nothing on a dense peak in its widest matrix format"]
    assert found(world, UNSTATED, claim(value="not published")) == []
    assert found(world, UNSTATED, claim(value="not published", sparsity="2:4")) != []
    assert found(world, UNSTATED, claim(value=50)) == []


def test_a_narrower_format_does_not_answer_for_the_widest(world: World) -> None:
    narrow = claim(dtype="fp8", value=200)
    assert found(world, UNSTATED, narrow) != []
    assert found(world, narrow) == [], "where there is no wider one"


def test_a_rate_without_direction_is_no_answer(world: World) -> None:
    assert found(world, LINKS) == ["nothing on the rate of its scale-up links one way"]
    assert found(world, LINKS, claim("scaleup_bandwidth", **ONE_LINK)) == []
    assert found(world, LINKS, claim("scaleup_bandwidth", **{**ONE_LINK, "aggregate": "link"}))
    assert found(world, claim("scaleup_bandwidth", direction="unstated", value="none")) == []


def test_nothing_printed_needs_no_more_words(world: World) -> None:
    for field in ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power"):
        assert found(world, claim(field, value="not published")) == []


@pytest.mark.parametrize(
    "head",
    [
        {"market": "edge"},
        {"market": "consumer"},
        {"kind": "node"},
        {"status": "[{state: discontinued, as_of: 2026-11-21, source: acme2026one}]"},
    ],
)
def test_other_products_are_not_asked(world: World, head: dict[str, str]) -> None:
    assert found(world, UNSTATED, **head) == []


def test_no_chip_of_the_data_centre_is_left_out() -> None:
    """Every one of them has an answer to each of the five, and most have numbers."""
    answers = [five_figures(entry) for entry in load_entries().values() if is_compared(entry)]
    assert len(answers) >= 138 and all(None not in five.values() for five in answers)
    numbers = [all(entry and entry.published for entry in five.values()) for five in answers]
    assert sum(numbers) >= 44


def test_the_claim_that_answers_is_the_one_that_is_shown() -> None:
    answers = five_figures(load_entry("nvidia/h100-sxm"))
    shown = {field: answer.value for field, answer in answers.items() if answer is not None}
    assert shown == {
        "peak": 989.4,
        "memory": 80,
        "memory_bandwidth": 3.35,
        "scaleup_bandwidth": 900,
        "power": 700,
    }
