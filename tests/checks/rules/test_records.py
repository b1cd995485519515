"""Measurements of our own: a file of runs that cites them, a method, and no address beside it."""

from __future__ import annotations

import dataclasses
import datetime
from types import MappingProxyType
from typing import Any

import pytest

from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.records import check
from flopbook.data.library import library, reference, references
from flopbook.data.reference import Reference
from flopbook.data.reference_rules import rules_of
from flopbook.data.runs import RunFile, RunSource

DAY = datetime.date(2026, 11, 24)
RUNS = MappingProxyType({"own": RunFile({"own": RunSource("us2026measured", DAY)}, ())})
OWN = Reference(
    key="us2026measured",
    type="misc",
    kind="source",
    title="What we measured",
    people=reference("williams2009roofline").people,
    year=2026,
    record="calculators/runs/own.yaml",
    urldate=DAY.isoformat(),
    note="One card; flopbook measure",
    annote="Rates of one card.",
    topics=("benchmarks",),
)


def observed(changes: dict[str, Any], **holdings: Any) -> list[str]:
    """What the rule says of the entry with these fields changed."""
    work = dataclasses.replace(OWN, **changes)
    held = Holdings(library=library(), references={work.key: work}, runs=RUNS, **holdings)
    return [finding.problem.found for finding in check(held)]


def test_a_record_with_its_method_is_a_place_to_look() -> None:
    assert observed({}) == []
    assert OWN.link == ""
    assert OWN.place == OWN.record
    assert not [problem for problem in rules_of(OWN) if problem.rule == "missing"]


@pytest.mark.parametrize(
    "record",
    [
        "calculators/runs/other.yaml",
        "calculators/runs/../../etc/own.yaml",
        "calculators/runs/own.yml",
        "/calculators/runs/own.yaml",
        "own.yaml",
        "https://example.org/own.yaml",
        "calculators/runs/own.yaml\n",
    ],
)
def test_only_a_file_of_runs_that_cites_the_entry_is_its_record(record: str) -> None:
    (words,) = observed({"record": record})
    assert words.startswith("record '")


def test_a_file_of_others_is_no_record_of_ours() -> None:
    assert len(observed({"key": "them2026measured"})) == 1


def test_a_file_that_cannot_be_read_is_reported_once() -> None:
    changes = {"record": "calculators/runs/broken.yaml"}
    assert observed(changes)
    assert observed(changes, unreadable=frozenset({"runs"})) == []


@pytest.mark.parametrize("field", ["doi", "eprint", "url"])
def test_what_others_published_has_an_address_and_no_record(field: str) -> None:
    (words,) = observed({field: "10.1145/1498765.1498785"})
    assert words.endswith(f"beside {field}")


@pytest.mark.parametrize("field", ["note", "urldate"])
def test_a_measurement_that_nobody_could_repeat_is_none(field: str) -> None:
    (words,) = observed({field: ""})
    assert words.endswith("without its method")


def test_our_own_measurements_are_never_fitted() -> None:
    own = {key for key, work in references().items() if work.record}
    runs = library().root / "calculators" / "runs"
    for key in own:
        text = (runs / references()[key].record.rpartition("/")[2]).read_text(encoding="utf-8")
        assert "\nuse: check\n" in text
    assert own
