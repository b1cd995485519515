"""A verdict against a source quotes it; what a tool computes is described instead."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from flopbook.checks.rules.verdict import check
from flopbook.data.library import library
from flopbook.ledger.rows import Defect, Row, Stated

ROW = Row(
    id="one",
    source="hoffmann2022training",
    document="",
    line=None,
    place="abstract",
    topic="compute",
    statement="It has 42.",
    stated=Stated(40, "FLOP"),
    verdict="does-not-hold",
    why="Six times seven.",
    call="6 * 7",
    corrected=Stated(42, "FLOP"),
    file="bibliography/claims/one.yaml",
    file_line=7,
)
DEFECT = Defect(1, "a tool", "unit", "run with its defaults")


def problems(row: Row) -> list[str]:
    holdings = cast(Any, SimpleNamespace(ledger=(row,), library=library()))
    return [str(finding.problem) for finding in check(holdings)]


@pytest.mark.parametrize("verdict", ["does-not-hold", "depends", "typo"])
def test_a_verdict_without_a_quote_is_found_with_file_and_line(verdict: str) -> None:
    row = replace(ROW, verdict=verdict, call="", corrected=None)
    assert any(
        problem.startswith("bibliography/claims/one.yaml:7:")
        and f"one: verdict {verdict} without a quote" in problem
        for problem in problems(row)
    )


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, stated=Stated(40, "FLOP", "forty operations")),
        replace(ROW, defect=DEFECT),
        replace(ROW, verdict="holds", stated=Stated(42, "FLOP"), corrected=None),
    ],
)
def test_a_quote_a_defect_or_an_agreement_needs_no_more(row: Row) -> None:
    assert problems(row) == []
