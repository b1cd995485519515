"""A run whose numbers contradict each other is refused with what would mend it."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks.rules import measured
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library
from flopbook.data.runs import MeasuredRun, RunFile, RunSource

ROW = MeasuredRun(
    id="one",
    kind="training_throughput",
    publication="acme",
    where="Table 1",
    measured={"tokens_per_s_per_chip": 100, "tokens_per_s": 800},
    hardware={"chip": "h100", "n_chips": 8},
    parallelism={"tp": 2, "dp": 2, "pp": 2},
)


def messages(*rows: MeasuredRun, key: str = "acme2026one") -> list[str]:
    files = {"acme": RunFile({"acme": RunSource(key)}, rows)}
    known: Any = {"acme2026one": None}  # its keys are enough
    holdings = Holdings(library=library(), runs=files, references=known)
    return [str(finding.problem) for finding in measured.check(holdings)]


def test_a_run_that_agrees_with_itself_is_sound() -> None:
    assert messages(ROW) == []


@pytest.mark.parametrize("degree", ["tp", "pp", "dp", "cp"])
def test_degrees_multiply_to_the_chips(degree: str) -> None:
    wrong = ROW._replace(parallelism={**ROW.parallelism, degree: 3})
    (message,) = messages(wrong)
    assert "expected a product of 8 chips" in message
    assert messages(wrong._replace(flags=(measured.WRONG_DEGREES,))) == []


def test_degrees_of_a_part_of_a_chip_are_not_multiplied() -> None:
    cores = {**ROW.parallelism, "dp": 4, "parallel_unit": "NeuronCore"}
    assert messages(ROW._replace(parallelism=cores)) == []


def test_a_layout_without_its_data_parallel_degree_is_open() -> None:
    assert messages(ROW._replace(parallelism={"tp": 3})) == []


@pytest.mark.parametrize(("total", "sound"), [(800, True), (820, True), (840, False)])
def test_totals_agree_within_rounding(total: float, sound: bool) -> None:
    row = ROW._replace(measured={**ROW.measured, "tokens_per_s": total})
    assert (messages(row) == []) is sound


def test_an_id_is_used_once() -> None:
    assert "rename one" in messages(ROW, ROW)[0]


def test_a_publication_is_a_work_that_we_cite() -> None:
    assert "add the publication" in messages(ROW, key="nobody2026")[0]
