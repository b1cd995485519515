"""A peak whose sparsity is unsaid and that is twice a dense one is explained."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import sparsity
from flopbook.errors import DataError
from tests.support.samples import NEEDED, World, assert_clean, claim

DENSE = claim(dtype="int8", unit="TOP/s", value=389)
UNSAID = claim(dtype="int8", unit="TOP/s", value=779, sparsity="unstated")


def found(world: World, *peaks: dict[str, Any]) -> list[str]:
    world.entry("one", *(claim(name) for name in NEEDED), *peaks)
    problems = [problem for problem in checker.lint() if problem.rule == sparsity.NAME]
    if problems:
        assert_clean(DataError(problems))
    return [problem.found for problem in problems]


def test_twice_a_dense_rate_without_a_word_on_sparsity_needs_a_note(world: World) -> None:
    """A report on the RX 9070 XT has 779 TOP/s in int8 and does not say that they are sparse."""
    (words,) = found(world, DENSE, UNSAID)
    assert words.startswith("int8 779 TOP/s of unstated sparsity, dense 389 TOP/s")


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "With sparsity; the report does not say so."},
        {"conflicts_with": "389 TOP/s dense"},
        {"value": 389},
        {"value": 600},
        {"dtype": "fp8", "unit": "TFLOP/s"},
        {"engine": "vector"},
        {"known_error": True, "note": "A slip of the table."},
    ],
)
def test_what_is_explained_or_is_no_double_is_fine(world: World, changes: dict[str, Any]) -> None:
    assert found(world, DENSE, {**UNSAID, **changes}) == []


def test_the_dense_rate_may_carry_the_explanation(world: World) -> None:
    """Bekman halves AMD's 20,100 of the MI455X; his claim says with what it conflicts."""
    assert found(world, {**DENSE, "conflicts_with": "779 TOP/s of the maker"}, UNSAID) == []
