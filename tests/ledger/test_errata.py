"""Errors that readers found in the scaling book and elsewhere, put back as they stood.

All of them must be found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flopbook.data.library import references
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row, read_ledger
from flopbook.ledger.verdicts import judge
from tests.support.cases import every

ROWS = {row.id: row for row in read_ledger(Path(__file__).with_name("errata") / "claims")}
ERRORS = sorted(name.removesuffix("-wrong") for name in ROWS if name.endswith("-wrong"))


def wrong(name: str) -> Row:
    return ROWS[f"{name}-wrong"]


def right(name: str) -> Row:
    return ROWS[f"{name}-right"]


def test_each_error_stands_beside_its_correction() -> None:
    """Fourteen threads of readers, and what is still wrong in the version that the ledger reads."""
    assert set(ROWS) == {f"{name}-{kind}" for name in ERRORS for kind in ("wrong", "right")}
    threads = {name.split("-")[0] for name in ERRORS}
    assert {f"e{n:02}" for n in range(1, 15)} <= threads and sum(
        name[0] == "b" for name in threads
    ) >= 8
    assert len(ERRORS) >= 28 and all(
        row.verdict == "holds" and row.source in references() for row in ROWS.values()
    )


@every("name", ERRORS)
def test_the_error_is_found_and_its_correction_passes(name: str) -> None:
    """Claiming that it holds is refused for the wrong form only, though both compute the same."""
    assert judge(wrong(name))
    assert judge(right(name)) == []
    assert wrong(name).call == right(name).call and wrong(name).statement == right(name).statement


@every("name", ERRORS)
def test_the_error_is_described_by_the_ledger(name: str) -> None:
    """The same row with the verdict that it deserves is sound."""
    corrected = right(name).stated
    row = replace(wrong(name), verdict="does-not-hold", corrected=corrected)
    if wrong(name).stated.value == corrected.value:  # nothing but the unit is wrong
        assert any("computation gives" in problem for problem in judge(row))
    else:
        assert judge(row) == []


@every("name", ERRORS)
def test_a_wider_tolerance_hides_none_of_them(name: str) -> None:
    """The smallest errors are a quarter of a percent or more.

    Whoever rounds that far has to say so.
    """
    stated, computed = wrong(name).stated.si_value, recompute(wrong(name).call)
    assert stated is not None
    if wrong(name).stated.value != right(name).stated.value:
        assert abs(stated - computed) > 0.001 * max(stated, computed)


def test_a_unit_alone_is_found() -> None:
    """197 TFLOP for 197 TFLOP/s: the number is right and a reader would not notice."""
    (problem,) = judge(wrong("e11-peak-unit"))
    assert problem == "states TFLOP, but the computation gives FLOP s^-1"
