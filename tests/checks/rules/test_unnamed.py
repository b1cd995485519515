"""Two rates without a number format are those of two formats."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import unnamed
from flopbook.data.library import load_entry
from flopbook.errors import DataError
from flopbook.hardware.choice import choose_peak
from tests.support.samples import NEEDED, World, assert_clean, claim

NINE_BITS = claim(dtype="unstated", value=1.5, unit="POP/s")
SIX_BITS = claim(dtype="unstated", value=3, unit="POP/s")


def found(world: World, *more: dict[str, Any]) -> list[str]:
    world.entry("one", *map(claim, NEEDED), *more)
    problems = [problem for problem in checker.lint() if problem.rule == unnamed.NAME]
    if problems:
        assert_clean(DataError(problems))
    return [problem.found for problem in problems]


@pytest.mark.parametrize("changes", [{}, {"conflicts_with": "1.5 POP/s of nine bits"}])
def test_two_rates_of_no_format_are_two_formats(world: World, changes: dict[str, str]) -> None:
    """So the Maia 100 was recorded: its rate in six bits was hidden by the one in nine."""
    (words,) = found(world, NINE_BITS, {**SIX_BITS, **changes})
    assert words.startswith("two rates of no format: 3 POP/s here, 1.5 POP/s in line ")


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "mx6"},
        {"known_error": True, "note": "Of the vector units."},
        {"value": 1.55},
        {"sparsity": "2:4"},
        {"engine": "vector"},
        {"value": "not published"},
    ],
)
def test_what_is_told_apart_is_fine(world: World, changes: dict[str, Any]) -> None:
    assert found(world, NINE_BITS, {**SIX_BITS, **changes}) == []


def test_both_formats_of_the_maia_100_are_shown() -> None:
    """xu2024slides, row Peak Dense Tensor POPS: 6bit 3, 9bit 1.5."""
    claims = load_entry("microsoft/maia-100").claims
    peaks = {name: choose_peak(claims, name) for name in ("mx6", "mx9")}
    assert {name: peak.si_value for name, peak in peaks.items() if peak} == {
        "mx6": 3e15,
        "mx9": 1.5e15,
    }
